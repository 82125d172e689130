"""The one registry: every method by its name, its estimators imported when they are asked for."""

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from igsd.errors import ConfigError, ParameterError, StorageError, nearest
from igsd.settings import own
from igsd.settings.fields import Settings
from igsd.settings.text import load_recipe

TASKS = ("vectors", "classes", "numbers")
"""What a method can do: vectors without labels, and classes or numbers from few labels."""


@dataclass(frozen=True)
class Method:
    """A method: its estimators, titles and fixed settings.

    ``vectors``, ``classes``, ``numbers``: module and class of the estimator for each task, empty
    where the method has none; imported on first use. ``title``: its name in a table of vectors,
    with its paper; ``label_title``: its name in a table of few labels. ``settings``: parameters
    fixed by the name. ``stochastic``: whether another seed gives other numbers. ``revision``:
    raised when the same settings of this method give other numbers than before. ``needs``: heavy
    modules that the estimator imports late, so that their import is not counted as its time.
    ``in_all``: whether ``--methods all`` includes it; some reference rows are for molecules only.
    ``own``: the name of a method of the user's own, see ``baselines/own.py``.
    """

    title: str = ""
    vectors: str = ""
    classes: str = ""
    numbers: str = ""
    label_title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    stochastic: bool = True
    revision: int = 0
    needs: tuple[str, ...] = ()
    in_all: bool = True
    own: str = ""

    def does(self, task: str) -> bool:
        """Return whether the method has an estimator for a task."""
        return bool(getattr(self, task))

    def modules(self) -> tuple[str, ...]:
        """Return all modules that are imported between naming the method and its first vectors."""
        return (self.vectors.split(":")[0], *self.needs)

    def estimator(self, task: str = "vectors") -> Any:
        """Return the estimator class for a task; raises ``ConfigError`` where there is none."""
        if not self.does(task):
            kind = "vectors without labels" if task == "vectors" else task
            raise ConfigError(f"{self.label_title or self.title} has no estimator of {kind}.")
        if self.own:
            from igsd.baselines.own import adapted

            return adapted(self.own)
        module, name = getattr(self, task).split(":")
        return getattr(importlib.import_module(module), name)


def _few_labels(label_title: str, stem: str, *, numbers: bool = True, **fields: Any) -> Method:
    fields |= {"classes": f"{stem}Classifier", "numbers": f"{stem}Regressor" if numbers else ""}
    return Method(label_title=label_title, **fields)


def _kernel(title: str, place: str, **fields: Any) -> Method:
    return Method(title, f"igsd.baselines.kernels.{place}", **{"stochastic": False} | fields)


def _reference(title: str, place: str, **fields: Any) -> Method:
    fields = {"stochastic": False, "in_all": False} | fields
    return Method(title, f"igsd.baselines.references.{place}", **fields)


def _with_heads(
    name: str, title: str, place: str, first: str = "linear", revision: int = 0
) -> dict[str, Method]:
    """Return a representation with each model on it: NAME (with ``first``), NAME-forest, ..."""
    found = {}
    for head in dict.fromkeys((first, *_HEADS)):
        fields: Any = {"settings": {"head": head}, "revision": revision, "in_all": head == "auto"}
        words = title + (f", {_HEADS[head]}" if head in _HEADS else "")
        found[name if head == first else f"{name}-{head}"] = _reference(words, place, **fields)
    return found


_HEADS = {"linear": "linear model", "forest": "random forest", "svm": "RBF SVM"}
_NEURAL, _FEW_LABELS = "igsd.baselines.neural", "igsd.baselines.few_labels"
_IGSD, _GIN = "igsd.estimators:IGSD", f"{_FEW_LABELS}.gin:GIN"
_INFOGRAPH = f"{_FEW_LABELS}.infograph:InfoGraph"
_SELF = {"self_weight": 1.0, "supcon_weight": 0.0}
_SUPCON = {"self_weight": 0.0, "supcon_weight": 1.0}
_OFF, _ON = {"self_training": False}, {"self_training": True}

METHODS: dict[str, Method] = {
    "igsd": _few_labels("IGSD", _IGSD, title="IGSD (Zhang et al., 2021)", vectors=_IGSD),
    "infograph": _few_labels(
        "InfoGraph (regulariser)",
        _INFOGRAPH,
        title="InfoGraph (Sun et al., 2020)",
        vectors=f"{_NEURAL}.local_global:InfoGraph",
    ),
    "mvgrl": Method("CMC-Graph, MVGRL (Hassani et al., 2020)", f"{_NEURAL}.local_global:MVGRL"),
    "graphcl": Method("GraphCL (You et al., 2020)", f"{_NEURAL}.two_views:GraphCL"),
    "gcc": Method("GCC (Qiu et al., 2020)", f"{_NEURAL}.gcc:GCC"),
    "graph2vec": _kernel(
        "graph2vec (Narayanan et al., 2017)",
        "wl:Graph2Vec",
        stochastic=True,
        needs=("gensim.models.doc2vec",),
    ),
    "deep-graph-kernel": _kernel(
        "Deep Graph Kernels (Yanardag et al., 2015)", "wl:DeepGraphKernel"
    ),
    "random-walk": _kernel("Random walk (Gärtner et al., 2003)", "paths:RandomWalkKernel"),
    "shortest-path": _kernel(
        "Shortest path (Borgwardt and Kriegel, 2005)", "paths:ShortestPathKernel"
    ),
    "graphlet": _kernel("Graphlet (Shervashidze et al., 2009)", "graphlet:GraphletKernel"),
    "wl": _kernel("WL subtree (Shervashidze et al., 2011)", "wl:WLKernel"),
    "mlg": _kernel(
        "Multiscale Laplacian (Kondor and Pan, 2016)",
        "laplacian:MultiscaleLaplacian",
        stochastic=True,
    ),
    "wl-oa": _kernel("WL optimal assignment (Kriege et al., 2016)", "wl:WLOptimalAssignment"),
    "gckn": _kernel("GCKN, subtree (Chen et al., 2020)", "gckn:GCKN", stochastic=True),
    "barlow": Method(
        "Graph Barlow Twins (Bielak et al., 2022)", f"{_NEURAL}.two_views:BarlowTwins", revision=1
    ),
    "byol": Method(
        "BYOL without negatives (Grill et al., 2020)", f"{_NEURAL}.two_views:BYOL", revision=1
    ),
    "untrained": Method("untrained encoder", _IGSD, settings={"epochs": 0}),
    **_with_heads(
        "histogram", "label and degree histogram", "histogram:LabelDegreeHistogram", "auto"
    ),
    "ltp": _reference(
        "local topological profile with a random forest (Adamczyk and Czech, 2023)",
        "topology:LocalTopologicalProfile",
        in_all=True,
    ),
    "vectors": _reference("vectors from a file, see --vectors", "vectors:FileVectors"),
    "majority": _reference("majority class", "majority:MajorityClass"),
    **_with_heads("morgan", "Morgan counts", "molecules:MorganFingerprints", revision=1),
    **_with_heads("descriptors", "RDKit descriptors", "molecules:MoleculeDescriptors"),
    **_with_heads("pretrained", "pre-trained vectors", "molecules:PretrainedMolecules"),
    "pretrain": _reference(
        "encoder pre-trained on a corpus",
        "molecules:CorpusVectors",
        settings={"head": "linear"},
        stochastic=True,
    ),
    "mean-teacher": _few_labels("Mean Teachers", f"{_FEW_LABELS}.mean_teacher:MeanTeacher"),
    "infograph-star": _few_labels("InfoGraph*", f"{_INFOGRAPH}Star"),
    "gin": _few_labels("GIN (supervised only)", _GIN, settings=_OFF),
    "igsd-molecules": _few_labels(
        "IGSD, pre-trained on molecules",
        "igsd.estimators.predictor:Molecule",
        stochastic=True,
        revision=2,
    ),
    "igsd-self": _few_labels("IGSD (Self-supp)", _IGSD, settings=_SELF | _OFF),
    "igsd-supcon": _few_labels("IGSD (SupCon)", _IGSD, settings=_SUPCON | _OFF, numbers=False),
    "gin+self-training": _few_labels("GIN + self-training", _GIN, settings=_ON, numbers=False),
    "igsd-self+self-training": _few_labels(
        "IGSD (Self-supp) + self-training", _IGSD, settings=_SELF | _ON, numbers=False
    ),
    "igsd-supcon+self-training": _few_labels(
        "IGSD (SupCon) + self-training", _IGSD, settings=_SUPCON | _ON, numbers=False
    ),
}
"""The methods of the paper's tables and the reference rows, in the order of the documentation.

Eq. supcon and self-training need classes, so a method made of them has no estimator of numbers.
"""


def method_names(task: str = "vectors", *, everything: bool = False) -> list[str]:
    """Return the names of the methods that do a task; ``everything``: those outside ``all`` too."""
    return [
        name for name, known in METHODS.items() if known.does(task) and (known.in_all or everything)
    ]


def find_method(name: str) -> Method | None:
    """Return the method with this name, the user's own too, whatever it does; None without one.

    The user's own is ``module:Class``, or a name that an installed package offers. Raises
    ``ConfigError`` if it cannot be imported, or is not a method.
    """
    if name in METHODS or not own.is_own("methods", name):
        return METHODS.get(name)
    from igsd.baselines.own import adapted, is_stochastic

    config = adapted(name).config_class
    fixed = {key: getattr(config, key) for key in ("own_class", "own_source", "own_parameters")}
    place = config.own_class
    return Method(name, place, settings=fixed, stochastic=is_stochastic(name), own=name)


def method(name: str, task: str = "vectors") -> Method:
    """Return the method with this name; ``ConfigError`` suggests similar names if there is none.

    The error also says when the method exists but does another task.
    """
    names = method_names(task, everything=True)
    if name in names:
        return METHODS[name]
    mine = find_method(name)
    if mine is not None and mine.own:
        if mine.does(task):
            return mine
        raise ConfigError(
            f"The method {name!r} makes vectors and does not learn {task}. Those that do: "
            f"{', '.join(names)}. `igsd evaluate --protocol semi` fits a model to its vectors."
        )
    names += own.offered_besides("methods", METHODS) if task == "vectors" else []
    if task == "numbers" and name in METHODS and METHODS[name].does("classes"):
        raise ConfigError(
            f"The method {name!r} needs classes: Eq. supcon pulls graphs of one class together, "
            f"and self-training guesses classes. For numbers there are {', '.join(names)}."
        )
    if task == "vectors" and name in METHODS:
        raise ConfigError(
            f"The method {name!r} learns from labels and makes no vectors of its own. Score it "
            f"with `igsd compare --splits random --methods {name}` or `igsd evaluate --protocol "
            f"semi --methods {name}`; train it with `igsd train --labels ... --method {name}`."
        )
    titled = [repr(k) for k in names if k in METHODS and name.lower() in METHODS[k].title.lower()]
    is_title = len(name) > 1 and titled  # such as CMC-Graph
    hint = f"Did you mean {' or '.join(titled)}?" if is_title else nearest(name, names)
    more = "" if not {":", "."} & {*name} else " A method of your own is named module:Class."
    raise ConfigError(f"There is no method {name!r}. {hint}{more}")


def make_method(name: str | type, *, random_state: Any = 0, **parameters: Any) -> Any:
    """Return an unfitted estimator of vectors by a method, with some parameters changed.

    ``name``: one of ``igsd compare --help``, or ``module:Class`` of your own with ``fit`` and
    ``transform``, or that class itself.
    Raises ``ConfigError`` for an unknown method, or a parameter that it does not have.
    """
    if isinstance(name, type):
        name = f"{name.__module__}:{name.__qualname__}"
    chosen = method(name)
    estimator = chosen.estimator()
    known = set(inspect.signature(estimator.__init__).parameters) - {"self"}
    for parameter in parameters:
        if parameter not in known:
            hint = nearest(parameter, known)
            raise ConfigError(f"The method {name!r} has no parameter {parameter!r}. {hint}")
    return estimator(random_state=random_state, **{**chosen.settings, **parameters})


def defaults(name: str, task: str = "vectors") -> Settings:
    """Return the default settings of a method."""
    return method(name, task).estimator(task).config_class()


def setting_names(name: str) -> list[str]:
    """Return the settings of a method that can be changed, without the seed and fixed ones."""
    fixed = method(name).settings
    return [key for key in defaults(name).to_json() if key != "seed" and key not in fixed]


def takes_recipe(name: str) -> bool:
    """Return whether recipes apply to a method: those without a network have no use for one."""
    return defaults(name).recipes is not None


def configure(
    name: str, recipe: str, changes: Mapping[str, Any] | None = None, task: str = "vectors"
) -> Any:
    """Return the settings of a method: its recipe's, what its name fixes, then ``changes``.

    Methods without a network have no use for a recipe. Raises ``ConfigError`` for an unknown
    method, recipe or setting, and for a value outside its rule.
    """
    chosen, changes = method(name, task), changes or {}
    settings_class = chosen.estimator(task).config_class
    if task == "vectors":
        known = [*setting_names(name), "seed"]
        for key in changes:
            if key not in known:
                hint = nearest(key, known)
                raise ConfigError(f"The method {name!r} has no setting {key!r}. {hint}")
    fixed = settings_class.known(chosen.settings) if task != "numbers" else {}
    try:
        return load_recipe(recipe, settings_class).updated({**fixed, **changes})
    except ParameterError as error:
        raise error.of_estimator(chosen.estimator(task).__name__) from error


def build(name: str, config: Any, task: str = "vectors", **options: Any) -> Any:
    """Return an unfitted estimator with these settings, as ``configure`` returns them.

    ``options``: ``checkpoint``, ``log_dir``, ``verbose``; methods without a network ignore them.
    """
    known = {key: value for key, value in options.items() if key in config.besides}
    return method(name, task).estimator(task).from_config(config, **known)


def untrained_copy(estimator: Any) -> Any:
    """Return an unfitted estimator with the same settings and seed that does not train.

    A random message-passing encoder already tells many graphs apart, so the gain of training is
    measured against this.
    """
    return type(estimator).from_config(estimator.config().updated(METHODS["untrained"].settings))


def has_kernel(estimator: Any) -> bool:
    """Return whether an estimator has a kernel matrix: score that, not its features."""
    return hasattr(estimator, "kernel")


def svm_kernel(estimator: Any, protocol: str) -> str:
    """Return how an SVM compares graphs by what an estimator, or its class, delivers.

    ``rbf``: by its vectors; ``precomputed``: by its kernel; ``linear``: by the vectors whose
    products are its kernel, which unlike that can be standardised. Protocol gckn asks for this.

    >>> svm_kernel(method("gckn").estimator(), "gckn"), svm_kernel(method("wl").estimator(), "gckn")
    ('linear', 'precomputed')
    """
    if not has_kernel(estimator):
        return "rbf"
    return "linear" if protocol == "gckn" and estimator.columns == "vectors" else "precomputed"


def head_of(estimator: Any, usual: str = "svm") -> Any:
    """Return the model that predicts from an estimator's vectors, ``usual`` if it names none."""
    head = getattr(estimator, "head", "auto")
    return usual if head == "auto" else head


def note_on_vectors(model: Any) -> str | None:
    """Return a caveat about a model's vectors, None if there is none."""
    if not has_kernel(model) or model.columns != "similarities":
        return None
    return (
        f"{type(model).__name__} compares graphs and has no vectors of its own: each column is the "
        "similarity to one graph of its training set."
    )


def name_of(estimator: Any) -> str | None:
    """Return the name of an estimator's method, None if it is not in the registry."""
    if hasattr(estimator, "method_name"):  # the user's own
        return str(estimator.method_name)
    place, parameters = f":{type(estimator).__name__}", estimator.get_params(deep=False)
    found = {
        name: len(known.settings)
        for name, known in METHODS.items()
        if known.vectors.endswith(place) and known.settings.items() <= parameters.items()
    }
    # The most specific one: an IGSD without epochs is the untrained encoder.
    return max(found, key=lambda name: found[name], default=None)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator of any method, from a run folder or a file written by ``save``.

    A file may be given as a URL that fsspec opens, such as ``s3://bucket/model``. A name of
    ``igsd.pretrained`` stands for the model in the package, unless there is such a path. Raises
    ``StorageError`` for anything else.
    """
    from igsd.files.remote import opened_path

    with opened_path(path) as local:
        return _load(local)


def _load(path: str | os.PathLike[str]) -> Any:
    from igsd.files.arrays import read_header
    from igsd.files.models import SHIPPED, model_path

    if not str(path):
        raise StorageError("MODEL is empty: give a run folder, a model file or a name.")
    if str(path) in SHIPPED and not os.path.exists(path):
        from igsd.estimators.molecules import pretrained

        return pretrained(str(path))
    source = model_path(path)
    kind = str((read_header(source) or {}).get("estimator", "IGSD"))
    if kind in own.offered("methods") and kind not in METHODS:
        return method(kind).estimator().load(source)
    if own.is_place(kind):
        raise StorageError(
            f"{path} was made by a method of your own, {kind}. A file does not decide what is "
            f'imported: load it with type(igsd.make_method("{kind}")).load(path), or let a package '
            "offer the method by an entry point (see the cookbook)."
        )
    for known in METHODS.values():
        for task in TASKS:
            if getattr(known, task).endswith(f":{kind}"):
                return known.estimator(task).load(source)
    if kind == "MoleculeEncoder":
        from igsd.estimators.molecules import MoleculeEncoder

        return MoleculeEncoder.load(source)
    raise StorageError(f"{path} holds a model of the unknown kind {kind!r}.")
