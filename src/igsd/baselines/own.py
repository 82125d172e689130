"""``OwnMethod``: any class with ``fit`` and ``transform`` as a method of igsd, named by its place.

The class is made without arguments, or with the settings that are changed: a parameter of its
constructor whose default is a number, a text, true or false is a setting. ``random_state`` (or
``seed``) gets the seed of a run; a class that has neither is taken to be deterministic. ``fit`` and
``transform`` get a ``GraphSet`` without labels, or with ``takes = "networkx"`` in the class a list
of NetworkX graphs. ``transform`` returns one row of numbers per graph. A class that also has
``kernel(X, Y=None)`` is a kernel: protocols score its matrix instead.
"""

import dataclasses
import inspect
import json
import math
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from igsd.errors import ConfigError, DataError, IGSDError, StorageError, TrainingError, warn_user
from igsd.estimators.base import ConfiguredEstimator, settings_as_parameters
from igsd.evaluation.inputs import check_features, check_kernel
from igsd.files import models
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from igsd.graphs.readers.networkx import to_networkx
from igsd.settings import own
from igsd.settings.fields import Settings, Values, setting

_SEEDS = ("random_state", "seed")
_INPUTS = ("graphset", "networkx")
_RULES = {
    "__init__": "A method is made with its defaults, or with settings changed by name.",
    "fit": "fit(graphs) gets a GraphSet, or a list of NetworkX graphs with takes = 'networkx'.",
    "transform": "transform(graphs) must return one row of numbers per graph, also of new graphs.",
    "kernel": "kernel(X, Y=None) must return a number for each graph of X and each of Y.",
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class OwnSettings(Settings):
    """The settings of a method of the user's own; a class of its own for each, made by ``adapted``.

    What is fixed by its name tells records of a changed method apart.
    """

    method_name: ClassVar[str] = ""

    own_class: str = setting("", "method", "where the class is defined, module:name")
    own_source: str = setting("", "method", "SHA-256 of the file that defines it")
    own_parameters: str = setting("", "method", "its parameters that are not settings, as JSON")

    def __reduce__(self) -> Any:
        return _settings, (self.method_name, self.to_json())


class OwnMethod(ConfiguredEstimator[Any]):
    """A method of the user's own. Takes the same graphs as ``igsd.IGSD``.

    Learned: ``model_``, the fitted object of the user's class, ``config_``, and ``n_features_out_``
    after the first ``transform``.
    """

    own_class: Any
    defining_class: ClassVar[type]
    method_name: ClassVar[str] = ""
    model_: Any
    _width: int | None = None

    def __reduce__(self) -> Any:
        return _revived, (self.method_name, vars(self))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit an object of the class on graphs and return self; labels are never handed over."""
        config, graphs = self._config_of_fit(), as_graphset(X).without_labels()
        self._say_what_is_left_out(graphs)
        model = self._made(config)
        needs_labels = _needs_labels(model.fit)
        self._call(model, "fit", graphs, *([None] if needs_labels else []))
        self.config_, self.model_, self._width = config, model, None
        self.standardised_ = graphs.standardised
        return self

    def _say_what_is_left_out(self, graphs: GraphSet) -> None:
        """Warn of attributes that were not read; those that some nodes lack are handed over."""
        notes = [note for note in graphs.notes if " attribute " in note and " not used: " in note]
        from igsd.graphs.columns import lacks  # which few methods need

        notes = [note for note in notes if not note.endswith((lacks(1), lacks(2)))]
        if notes:
            what = f"{self.method_name} does not get everything of {graphs.name!r}"
            warn_user(f"{what}: {'; '.join(notes)}.")

    def transform(self, X: Any) -> np.ndarray:
        """Return one row of numbers per graph, [G, d] float32."""
        check_is_fitted(self, "model_")
        graphs = self._read(X).without_labels()
        rows = self._call(self.model_, "transform", graphs)
        checked = self._checked(rows, "transform", len(graphs))
        with np.errstate(over="ignore"):
            table = checked.astype(np.float32)
        self._checked(table, "transform", len(graphs))  # 1e300 is infinite as a 32-bit float
        self._width = table.shape[1]
        return table

    @property
    def n_features_out_(self) -> int:
        """Width of a vector, known after the first ``transform``."""
        if self._width is None:
            raise AttributeError(f"The width of {self.method_name} is known after transform.")
        return self._width

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted method to one file at exactly ``path``, whole or not at all.

        A file holds numbers and text, never code: of the attributes of the object, NumPy arrays and
        plain values are written. If there are others, a warning names them, and the file says that
        it cannot be used for new graphs.
        """
        check_is_fitted(self, "model_")
        arrays, plain, left_out = _sorted_state(vars(self.model_))
        if left_out:
            warn_user(
                f"{self.method_name} cannot be used for new graphs from {path}: a file holds "
                f"arrays and plain values, and {', '.join(left_out)} is neither. Fit it again, or "
                "keep what it learns in NumPy arrays, numbers, texts and lists."
            )
        header = {
            "estimator": self.method_name,
            "settings": self.config_.to_json(),
            "state": plain,
            "left_out": left_out,
            "width": self._width,
            **self._reading_to_json(),
        }
        tensors = {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in arrays.items()}
        models.write_model(path, {} if left_out else tensors, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the method that ``save`` wrote.

        Raises ``StorageError`` for another file, and for one whose method could not be saved whole.
        """
        tensors, header = models.read_model(path, cls.method_name)
        if header.get("left_out"):
            raise StorageError(
                f"{path} does not hold all of {cls.method_name}: {', '.join(header['left_out'])} "
                "could not be saved. Its vectors are in embeddings.npy of its run folder; fit it "
                "again for new graphs."
            )
        with models.whole_model(path):
            config = cls.config_class.from_json(header["settings"])
            if config.own_source != cls.config_class.own_source:
                warn_user(
                    f"{cls.method_name} has changed since {path} was written. Fit it again if the "
                    "change affects its vectors."
                )
            estimator = cls.from_config(config)
            estimator.config_, estimator.model_ = config, estimator._made(config)
            vars(estimator.model_).update(header["state"])
            vars(estimator.model_).update({k: v.numpy() for k, v in tensors.items()})
            estimator._width = header["width"]
            estimator._reading_from_json(header)
        return estimator

    def _made(self, config: Any) -> Any:
        """Return an unfitted object of the user's class with these settings."""
        known = inspect.signature(self.defining_class).parameters
        values = {k: v for k, v in config.to_json().items() if k in known and k != "seed"}
        values |= {name: config.seed for name in _SEEDS if name in known}
        return self._guarded("__init__", self.defining_class, **values)

    def _call(self, model: Any, name: str, *graphs: Any) -> Any:
        kind = getattr(self.defining_class, "takes", _INPUTS[0])
        shown = [to_networkx(g) if isinstance(g, GraphSet) else g for g in graphs]
        return self._guarded(name, getattr(model, name), *(shown if kind == "networkx" else graphs))

    def _guarded(self, name: str, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the user's class; raises ``TrainingError`` for whatever it raises."""
        try:
            return function(*args, **kwargs)
        except (IGSDError, MemoryError):
            raise
        except Exception as error:
            what = own.what_was_raised(error, function)
            raise TrainingError(
                f"{self.method_name} failed in {name}: {what}. {_RULES[name]}"
            ) from error

    def _checked(self, values: Any, name: str, num_rows: int) -> np.ndarray:
        """Return what the class returned as a float64 table with one finite row per graph."""
        if hasattr(values, "toarray"):  # a sparse matrix
            values = values.toarray()
        try:
            table = check_features(values, f"result of {self.method_name}.{name}")
        except DataError as error:
            raise TrainingError(str(error)) from error
        if len(table) != num_rows:
            raise TrainingError(
                f"{self.method_name}.{name} must return one row per graph, in their order. Got "
                f"shape {table.shape} for {num_rows} graphs."
            )
        return table


class OwnKernel(OwnMethod):
    """A kernel of the user's own: protocols score its matrix, everything else its vectors."""

    columns: ClassVar[str] = "own"

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel of the graphs X with the graphs Y (with X), [n, m] float64."""
        check_is_fitted(self, "model_")
        sets = [self._read(graphs).without_labels() for graphs in (X, Y) if graphs is not None]
        K = self._checked(self._call(self.model_, "kernel", *sets), "kernel", len(sets[0]))
        if K.shape[1] != len(sets[-1]):
            raise TrainingError(
                f"{self.method_name}.kernel must return one column per graph. Got shape {K.shape} "
                f"for {len(sets[0])} and {len(sets[-1])} graphs."
            )
        try:
            return check_kernel(K) if Y is None else K
        except DataError as error:
            raise TrainingError(f"{self.method_name}.kernel: {error}") from error


@cache
def adapted(name: str) -> type[OwnMethod]:
    """Return the estimator of the class that a name stands for, ``module:Class`` or offered.

    Raises ``ConfigError`` for a class that is not a method: without ``fit`` or ``transform``, or
    with parameters that have no default.
    """
    found = own.find("methods", name)
    if not inspect.isclass(found):
        raise ConfigError(
            f"The method {name!r} must be a class with fit and transform. It is "
            f"{'a function' if inspect.isfunction(found) else 'of type ' + type(found).__name__}."
        )
    missing = [part for part in ("fit", "transform") if not callable(getattr(found, part, None))]
    if missing:
        raise ConfigError(
            f"The class {name!r} is not a method: it has no {' and no '.join(missing)}."
        )
    takes = getattr(found, "takes", _INPUTS[0])
    if takes not in _INPUTS:
        raise ConfigError(
            f"The attribute takes of {name!r} must be 'graphset' or 'networkx'. Got {takes!r}."
        )
    config_class = _config_class(name, found)
    base = OwnKernel if callable(getattr(found, "kernel", None)) else OwnMethod
    more = {"defining_class": found, "method_name": name, "__doc__": found.__doc__ or base.__doc__}
    return settings_as_parameters(config_class)(type(found.__name__, (base,), more))


def is_stochastic(name: str) -> bool:
    """Return whether a method takes a seed."""
    return any(key in inspect.signature(adapted(name).defining_class).parameters for key in _SEEDS)


def _config_class(name: str, found: type) -> type[OwnSettings]:
    """Return the settings of a class: its parameters whose default is a plain value."""
    fields: Values = {}
    others: dict[str, str] = {}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for parameter in inspect.signature(found).parameters.values():
        if parameter.kind in variadic or parameter.name in _SEEDS:
            continue
        default = parameter.default
        if default is parameter.empty:
            raise ConfigError(
                f"The class {name!r} needs a value for {parameter.name!r}. A method is made "
                "without arguments: give every parameter of its constructor a default."
            )
        is_taken = hasattr(OwnMethod, parameter.name) or hasattr(OwnSettings, parameter.name)
        is_finite = not isinstance(default, float) or math.isfinite(default)
        if type(default) in (int, float, bool, str) and is_finite and not is_taken:
            is_float = parameter.annotation in (float, "float")
            fields[parameter.name] = float(default) if is_float else default
        else:
            others[parameter.name] = _ADDRESS.sub("", repr(default))
    fixed = {
        "own_class": own.place_of(found),
        "own_source": own.source_checksum(found),
        "own_parameters": json.dumps(others, sort_keys=True) if others else "",
    }
    rule = {**setting("", "method", "").metadata, "limits": []}
    texts = {entry.name: entry.metadata["help"] for entry in OwnSettings.settings()}
    namespace: Values = {"__annotations__": {}, "method_name": name}
    for key, value in (fields | fixed).items():
        rule = rule | {"help": texts.get(key, f"parameter of {found.__name__}")}
        namespace[key] = dataclasses.field(default=value, metadata=rule)
        namespace["__annotations__"][key] = type(value)
    return type(f"{found.__name__}Settings", (OwnSettings,), namespace)


def _settings(name: str, values: Values) -> Any:
    """Return the settings of a method in another process."""
    return adapted(name).config_class(**values)


def _revived(name: str, state: Values) -> OwnMethod:
    """Return a copy of an estimator in another process."""
    estimator = adapted(name)()
    estimator.__dict__.update(state)
    return estimator


def _needs_labels(fit: Any) -> bool:
    """Return whether ``fit`` has a second parameter without a default."""
    parameters = list(inspect.signature(fit).parameters.values())[1:2]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.default is p.empty and p.kind in kinds for p in parameters)


def _sorted_state(state: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], Values, list[str]]:
    """Return the arrays of an object, its plain values, and names with types of everything else."""
    arrays, plain, left_out = {}, {}, []
    for key, value in state.items():
        if isinstance(value, np.ndarray) and value.dtype.str[1:] in ("f4", "f8", "i4", "i8"):
            arrays[key] = value
        elif _is_plain(value):
            plain[key] = value
        else:
            left_out.append(f"{key} ({type(value).__name__})")
    return arrays, plain, left_out


def _is_plain(value: Any) -> bool:
    """Return whether JSON gives back exactly this value."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    return value is None or type(value) in (str, int, bool, float)
