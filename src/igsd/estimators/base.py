"""What all estimators share: graphs as input, settings as parameters, ``random_state``."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state, validation

from igsd.errors import ParameterError
from igsd.files.arrays import Header
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from igsd.graphs.readers.standard import LEVELS
from igsd.progress import abridged, html_facts
from igsd.settings.fields import Settings, Values, type_name

C = TypeVar("C", bound=Settings)
T = TypeVar("T", bound=type)
_SEED_SOURCE = np.random.RandomState | np.random.Generator | None


class ConfiguredEstimator(TransformerMixin, BaseEstimator, Generic[C]):
    """Base of estimators of graphs whose parameters are the settings of ``config_class``.

    Learned: ``config_``, the settings of ``fit``, ``standardised_``, how its molecules were
    standardised (empty if they were not), and ``n_features_out_``, the width of a vector.
    """

    config_class: type[C]
    config_: C
    standardised_: str = ""

    def __sklearn_tags__(self) -> Any:
        """Return the tags: the input is graphs or strings, which igsd validates itself."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.no_validation = True
        return tags

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        raise NotImplementedError

    def _html_repr(self) -> str:
        """Return scikit-learn's picture, and for a fitted model what it learned above it.

        Notebooks show it.
        """
        if not hasattr(self, "config_"):
            return str(super()._html_repr())
        history = getattr(self, "history_", None) or []
        facts = {"vector": f"{self.n_features_out_:,} numbers"}
        facts["classes"] = abridged(list(getattr(self, "classes_", ())))
        if history:
            facts["epochs"] = f"{len(history):,}"
            facts["last loss"] = f"{history[-1]['total']:.4g}" if "total" in history[-1] else ""
        chosen = type(self).config_class()
        changed = {
            key: value
            for key, value in self.config_.to_json().items()
            if value != getattr(chosen, key)
        }
        facts["settings"] = abridged([f"{key}={value}" for key, value in changed.items()], 20)
        return html_facts(f"{type(self).__name__}, fitted", facts)

    @classmethod
    def from_config(cls, config: C, **parameters: Any) -> Self:
        """Return an unfitted estimator with these settings, and other ``parameters``."""
        settings = config.to_json()
        if "recipe" in config.besides:
            parameters = {"recipe": None} | parameters
        return cls(random_state=settings.pop("seed"), **settings, **parameters)

    def config(self) -> C:
        """Return the settings; raises ``ConfigError`` for a value outside its rule.

        If ``random_state`` is not a number, the seed is the one that ``fit`` drew, 0 before it.
        """
        seed = self.get_params(deep=False)["random_state"]
        if isinstance(seed, _SEED_SOURCE):
            seed = self.config_.seed if hasattr(self, "config_") else self.config_class.seed
        return self._config_with(seed)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: igsd0, igsd1, ..."""
        validation.check_is_fitted(self, "config_")
        method = type(self).__name__.lower()
        for suffix in ("classifier", "regressor", "kernel"):
            method = method.removesuffix(suffix)
        return np.array([f"{method}{i}" for i in range(self.n_features_out_)], dtype=object)

    def _read(self, X: Any) -> GraphSet:
        """Return graphs for a fitted model; SMILES are standardised as the molecules of ``fit``."""
        return as_graphset(X, standardise=self.standardised_)

    def _reading_to_json(self) -> Values:
        """Return the entry of a model file that says how molecules are read, if specially."""
        return {"standardised": self.standardised_} if self.standardised_ else {}

    def _reading_from_json(self, header: Header) -> None:
        """Restore what ``_reading_to_json`` returned; raises ``ValueError`` for other levels."""
        level = header.get("standardised", "")
        if level not in ("", *LEVELS):
            raise ValueError(f"standardised must be one of {', '.join(LEVELS)}, not {level!r}")
        self.standardised_ = level

    def _config_of_fit(self) -> C:
        """Return the settings, with a new seed unless ``random_state`` is a number."""
        seed = self.get_params(deep=False)["random_state"]
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**32))
        elif isinstance(seed, _SEED_SOURCE):
            seed = int(check_random_state(seed).randint(2**32, dtype=np.uint32))
        return self._config_with(seed)

    def _config_with(self, seed: Any) -> C:
        try:
            return self.config_class(**self._named_settings() | {"seed": seed})
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error

    def _named_settings(self) -> Values:
        """Return the parameters that are settings."""
        return self.config_class.known(self.get_params(deep=False))


_OTHER_PARAMETERS = {
    "recipe": (
        "str or None",
        "the shipped settings that fill in what is left at None, as on the command line. 'auto' "
        "chooses them for the graphs: 'molecules' if nodes have labels, 'networks' if nodes or "
        "edges carry more, else 'social'. None: the general defaults, which are given with each "
        "parameter.",
    ),
    "random_state": (
        "int, RandomState, Generator or None",
        "seed of everything random. None, a RandomState and a Generator give each fit its own "
        "seed, which is kept in ``config_.seed`` and in the saved file.",
    ),
    "checkpoint": ("path or None", "file for saving training; fit resumes from it if it exists."),
    "log_dir": ("path or None", "folder for TensorBoard curves (extra ``igsd[tensorboard]``)."),
    "verbose": ("bool", "show progress bars."),
}


_OWN = {
    "encoder": ", or an ``nn.Module`` of your own.",
    "view": ", or a function of your own of (adjacency, seed).",
    "loss": ", or a function of your own of (p, p_view, z, z_view).",
}


def parameter_defaults(config_class: type[Settings]) -> Values:
    """Return the parameters of an estimator and their defaults; ``seed`` is ``random_state``.

    Where a recipe applies, the default of a setting is None: the recipe decides. A setting for
    which None has a meaning of its own, such as ``edge_weight``, keeps its default.
    """
    seed, by_recipe = config_class.seed, "recipe" in config_class.besides
    entries = [entry for entry in config_class.settings() if entry.name != "seed"]
    by_recipe_alone = {e.name for e in entries if by_recipe and e.metadata["may_be"] == ""}
    defaults = {e.name: None if e.name in by_recipe_alone else e.default for e in entries}
    return defaults | {"random_state": seed} | dict(config_class.besides)


def parameter_docs(config_class: type[Settings]) -> str:
    """Return the section of a docstring that explains every parameter of an estimator."""
    lines = ["Parameters", "----------"]
    entries = {entry.name: entry for entry in config_class.settings()}
    for name, default in parameter_defaults(config_class).items():
        if name not in entries:
            kind, text = _OTHER_PARAMETERS[name]
        else:
            kind, rule = type_name(entries[name]), entries[name].metadata
            text = f"{rule['help']}."
            if "recipe" in config_class.besides:
                text += f" {entries[name].default!r} without a recipe."
            if rule["choices"]:
                text += f" One of {', '.join(map(repr, rule['choices']))}"
                text += _OWN.get(name, ".") if rule.get("own") else "."
        lines.append(f"{name} : {kind}, default={default!r}")
        lines += [f"    {line}" for line in textwrap.wrap(text, 88, break_on_hyphens=False)]
    return "\n".join(lines)


def settings_as_parameters(config_class: type[Settings]) -> Callable[[T], T]:
    """Return a class decorator that makes the settings of ``config_class`` the parameters.

    Signature and docstring are written out for scikit-learn, ``help`` and editors. As in
    scikit-learn, the constructor stores its arguments and ``fit`` validates them.
    """
    defaults = parameter_defaults(config_class)

    def decorate(cls: T) -> T:
        def store(self: Any, **arguments: Any) -> None:
            if unknown := sorted(arguments.keys() - defaults.keys()):
                method = f"{type(self).__name__}.__init__()"
                raise TypeError(f"{method} got an unexpected keyword argument {unknown[0]!r}")
            vars(self).update(defaults | arguments)

        make = inspect.Parameter
        parameters = [make("self", make.POSITIONAL_OR_KEYWORD)]
        parameters += [make(k, make.KEYWORD_ONLY, default=v) for k, v in defaults.items()]
        store.__name__, store.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
        store.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        cls.__init__ = store  # type: ignore[misc]
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{parameter_docs(config_class)}\n"
        cls.config_class = config_class  # type: ignore[attr-defined]
        return cls

    return decorate
