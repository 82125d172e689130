"""The one registry: every method by its name, its estimators imported when they are asked for."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from igsd.errors import ConfigError, ParameterError, StorageError, nearest
from igsd.settings.fields import Settings

TASKS = ("vectors", "classes", "numbers")
"""What a method can do: vectors without labels, and classes or numbers from few labels."""


@dataclass(frozen=True)
class Method:
    """Where the estimators of a method are, and what makes it this method.

    ``vectors``, ``classes``, ``numbers``: module and class of the estimator for each task, empty
    where the method has none; imported on first use. ``title``: its name in a table of vectors,
    with its paper; ``label_title``: its name in a table of few labels. ``settings``: parameters
    fixed by the name. ``stochastic``: whether another seed gives other numbers. ``revision``:
    raised when the same settings of this method give other numbers than before. ``needs``: heavy
    modules that the estimator imports late, so that their import is not counted as its time.
    ``in_all``: whether ``--methods all`` includes it; some reference rows are for molecules only.
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

    def does(self, task: str) -> bool:
        """Return whether the method has an estimator for a task."""
        return bool(getattr(self, task))

    def modules(self, task: str = "vectors") -> tuple[str, ...]:
        """Return all modules that are imported between naming the method and its first result."""
        return (getattr(self, task).split(":")[0], *self.needs)

    def estimator(self, task: str = "vectors") -> Any:
        """Return the estimator class for a task; raises ``ConfigError`` where there is none."""
        if not self.does(task):
            kind = {"vectors": "vectors without labels", "classes": "classes", "numbers": "numbers"}
            raise ConfigError(f"{self.label_title or self.title} has no estimator of {kind[task]}.")
        module, name = getattr(self, task).split(":")
        return getattr(importlib.import_module(module), name)


def _few_labels(
    title: str, stem: str, settings: Mapping[str, Any], *, numbers: bool = True
) -> Method:
    return Method(
        label_title=title,
        classes=f"{stem}Classifier",
        numbers=f"{stem}Regressor" if numbers else "",
        settings=settings,
    )


def _reference(title: str, place: str) -> Method:
    path = f"igsd.baselines.references.{place}"
    return Method(title, path, stochastic=False, in_all=False)


_KERNELS, _NEURAL = "igsd.baselines.kernels", "igsd.baselines.neural"
_IGSD, _GIN = "igsd.estimators:IGSD", "igsd.baselines.few_labels.gin:GIN"
_INFOGRAPH = "igsd.baselines.few_labels.infograph:InfoGraph"
_SELF = {"self_weight": 1.0, "supcon_weight": 0.0}
_SUPCON = {"self_weight": 0.0, "supcon_weight": 1.0}
_OFF, _ON = {"self_training": False}, {"self_training": True}

METHODS: dict[str, Method] = {
    "igsd": Method(
        "IGSD (Zhang et al., 2021)",
        _IGSD,
        f"{_IGSD}Classifier",
        f"{_IGSD}Regressor",
        label_title="IGSD",
    ),
    "infograph": Method(
        "InfoGraph (Sun et al., 2020)",
        f"{_NEURAL}.infograph:InfoGraph",
        f"{_INFOGRAPH}Classifier",
        f"{_INFOGRAPH}Regressor",
        label_title="InfoGraph (regulariser)",
    ),
    "mvgrl": Method("CMC-Graph, MVGRL (Hassani et al., 2020)", f"{_NEURAL}.mvgrl:MVGRL"),
    "graphcl": Method("GraphCL (You et al., 2020)", f"{_NEURAL}.graphcl:GraphCL"),
    "gcc": Method("GCC (Qiu et al., 2020)", f"{_NEURAL}.gcc:GCC"),
    "graph2vec": Method(
        "graph2vec (Narayanan et al., 2017)",
        f"{_KERNELS}.graph2vec:Graph2Vec",
        needs=("gensim.models.doc2vec",),
    ),
    "deep-graph-kernel": Method(
        "Deep Graph Kernels (Yanardag et al., 2015)",
        f"{_KERNELS}.deep:DeepGraphKernel",
        stochastic=False,
    ),
    "random-walk": Method(
        "Random walk (Gärtner et al., 2003)",
        f"{_KERNELS}.random_walk:RandomWalkKernel",
        stochastic=False,
    ),
    "shortest-path": Method(
        "Shortest path (Borgwardt and Kriegel, 2005)",
        f"{_KERNELS}.shortest_path:ShortestPathKernel",
        stochastic=False,
    ),
    "graphlet": Method(
        "Graphlet (Shervashidze et al., 2009)",
        f"{_KERNELS}.graphlet:GraphletKernel",
        stochastic=False,
    ),
    "wl": Method(
        "WL subtree (Shervashidze et al., 2011)", f"{_KERNELS}.wl:WLKernel", stochastic=False
    ),
    "mlg": Method(
        "Multiscale Laplacian (Kondor and Pan, 2016)", f"{_KERNELS}.laplacian:MultiscaleLaplacian"
    ),
    "wl-oa": Method(
        "WL optimal assignment (Kriege et al., 2016)",
        f"{_KERNELS}.wl:WLOptimalAssignment",
        stochastic=False,
    ),
    "gckn": Method("GCKN, subtree (Chen et al., 2020)", f"{_KERNELS}.gckn:GCKN"),
    "barlow": Method(
        "Graph Barlow Twins (Bielak et al., 2022)", f"{_NEURAL}.barlow:BarlowTwins", revision=1
    ),
    "byol": Method(
        "BYOL without negatives (Grill et al., 2020)", f"{_NEURAL}.byol:BYOL", revision=1
    ),
    "untrained": Method("untrained encoder", _IGSD, settings={"epochs": 0}),
    "histogram": Method(
        "label and degree histogram",
        "igsd.baselines.references.histogram:LabelDegreeHistogram",
        stochastic=False,
    ),
    "majority": _reference("majority class", "majority:MajorityClass"),
    "morgan": _reference("Morgan fingerprints with a linear model", "morgan:MorganFingerprints"),
    "ridge": _reference(
        "ridge or logistic regression on fingerprints, else the histogram",
        "morgan:RidgeOnDescriptors",
    ),
    "forest": _reference(
        "random forest on fingerprints, else the histogram", "morgan:ForestOnDescriptors"
    ),
    "mean-teacher": _few_labels(
        "Mean Teachers", "igsd.baselines.few_labels.mean_teacher:MeanTeacher", {}
    ),
    "infograph-star": _few_labels("InfoGraph*", f"{_INFOGRAPH}Star", {}),
    "gin": _few_labels("GIN (supervised only)", _GIN, _OFF),
    "igsd-self": _few_labels("IGSD (Self-supp)", _IGSD, _SELF | _OFF),
    "igsd-supcon": _few_labels("IGSD (SupCon)", _IGSD, _SUPCON | _OFF, numbers=False),
    "gin+self-training": _few_labels("GIN + self-training", _GIN, _ON, numbers=False),
    "igsd-self+self-training": _few_labels(
        "IGSD (Self-supp) + self-training", _IGSD, _SELF | _ON, numbers=False
    ),
    "igsd-supcon+self-training": _few_labels(
        "IGSD (SupCon) + self-training", _IGSD, _SUPCON | _ON, numbers=False
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


def method(name: str, task: str = "vectors") -> Method:
    """Return the method with this name; raises ``ConfigError`` with the nearest names.

    The error also says when the method exists but does another task.
    """
    names = method_names(task, everything=True)
    if name in names:
        return METHODS[name]
    if task == "numbers" and name in METHODS and METHODS[name].does("classes"):
        raise ConfigError(
            f"The method {name!r} needs classes: Eq. supcon pulls graphs of one class together, "
            f"and self-training guesses classes. For numbers there are {', '.join(names)}."
        )
    raise ConfigError(f"There is no method {name!r}. {_nearest(name, names)}")


def _nearest(name: str, names: list[str]) -> str:
    """Return the methods whose title holds the name, such as CMC-Graph, or else the nearest."""
    titled = [repr(key) for key in names if name.lower() in METHODS[key].title.lower()]
    if len(name) < 2 or not titled:
        return nearest(name, names)
    return f"Did you mean {' or '.join(titled)}?"


def make_method(name: str, *, random_state: Any = 0, **parameters: Any) -> Any:
    """Return an unfitted estimator of vectors by a method, with some parameters changed.

    Raises ``ConfigError`` for an unknown method, or a parameter that it does not have.
    """
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
    config: Settings = method(name, task).estimator(task).config_class()
    return config


def setting_names(name: str, task: str = "vectors") -> list[str]:
    """Return the settings of a method that can be changed, without the seed and fixed ones."""
    fixed = method(name, task).settings
    return [key for key in defaults(name, task).to_json() if key != "seed" and key not in fixed]


def takes_recipe(name: str) -> bool:
    """Return whether recipes apply to a method: those without a network have no use for one."""
    return defaults(name).recipes is not None


def configure(
    name: str, recipe: str, changes: Mapping[str, Any] | None = None, task: str = "vectors"
) -> Any:
    """Return the settings of a method: its recipe's, what its name fixes, then ``changes``.

    A recipe describes how to look at a kind of graphs: nodes, encoder and run, and for IGSD
    everything. Methods without a network have no use for it. Raises ``ConfigError`` for an unknown
    method, recipe or setting, and for a value outside its rule.
    """
    from igsd.settings.text import load_recipe

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


def build(name: str, config: Any, task: str = "vectors", **others: Any) -> Any:
    """Return an unfitted estimator with these settings, as ``configure`` returns them.

    ``others``: parameters that are no settings (``checkpoint``, ``log_dir``, ``verbose``), for
    methods that train a network; the others do not have them and do without.
    """
    known = {key: value for key, value in others.items() if key in config.besides}
    return method(name, task).estimator(task).from_config(config, **known)


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
    from igsd.baselines.kernels.base import VectorKernel

    if not has_kernel(estimator):
        return "rbf"
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return "linear" if protocol == "gckn" and issubclass(kind, VectorKernel) else "precomputed"


def note_on_vectors(model: Any) -> str | None:
    """Return what a user must know about a model's vectors, None if they are plain vectors."""
    from igsd.baselines.kernels.base import PatternKernel, VectorKernel

    if not has_kernel(model) or isinstance(model, VectorKernel | PatternKernel):
        return None
    return (
        f"{type(model).__name__} compares graphs and has no vectors of its own: each column is the "
        "similarity to one graph of its training set."
    )


def name_of(estimator: Any) -> str | None:
    """Return the name of an estimator's method, None if it is not in the registry."""
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

    A name of ``igsd.pretrained`` stands for the model in the package, unless there is such a path.
    Raises ``StorageError`` for anything else.
    """
    from igsd.files.arrays import read_header
    from igsd.files.models import SHIPPED, model_path

    if str(path) in SHIPPED and not os.path.exists(path):
        from igsd.estimators.molecules import pretrained

        return pretrained(str(path))
    source = model_path(path)
    kind = str((read_header(source) or {}).get("estimator", "IGSD"))
    for known in METHODS.values():
        for task in TASKS:
            if getattr(known, task).endswith(f":{kind}"):
                return known.estimator(task).load(source)
    if kind == "MoleculeEncoder":
        from igsd.estimators.molecules import MoleculeEncoder

        return MoleculeEncoder.load(source)
    raise StorageError(f"{path} holds a model of the unknown kind {kind!r}.")
