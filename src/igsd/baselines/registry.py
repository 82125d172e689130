"""Every method by its name: ``make_method("wl")`` is an estimator, imported when asked for."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from igsd.baselines.learned_config import LearnedConfig, learned_recipe
from igsd.config import Config, load_recipe
from igsd.errors import ConfigError, ParameterError, StorageError, nearest
from igsd.settings import Settings


@dataclass(frozen=True)
class Method:
    """Where the estimator of a method is, and what makes it this method.

    ``path``: module and class, imported when the method is first asked for. ``settings``:
    parameters that are fixed by the name. ``title``: its name in a table, with its paper.
    ``draws``: whether another seed gives other numbers. ``needs``: what its module imports late,
    so that the others need not wait for it.
    """

    path: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    draws: bool = True
    needs: tuple[str, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """All that is imported between asking for the method and its first result."""
        return (self.path.split(":")[0], *self.needs)

    def estimator(self) -> Any:
        """Return the class; raises ``ImportError`` where a part of the installation is missing."""
        module, name = self.path.split(":")
        return getattr(importlib.import_module(module), name)


METHODS: dict[str, Method] = {
    "igsd": Method("igsd.estimators:IGSD", "IGSD (Zhang et al., 2021)"),
    "infograph": Method("igsd.baselines.infograph:InfoGraph", "InfoGraph (Sun et al., 2020)"),
    "mvgrl": Method("igsd.baselines.mvgrl:MVGRL", "CMC-Graph, MVGRL (Hassani et al., 2020)"),
    "graphcl": Method("igsd.baselines.graphcl:GraphCL", "GraphCL (You et al., 2020)"),
    "gcc": Method("igsd.baselines.gcc:GCC", "GCC (Qiu et al., 2020)"),
    "graph2vec": Method(
        "igsd.baselines.graph2vec:Graph2Vec",
        "graph2vec (Narayanan et al., 2017)",
        needs=("gensim.models.doc2vec",),
    ),
    "deep-graph-kernel": Method(
        "igsd.baselines.deep_graph_kernel:DeepGraphKernel",
        "Deep Graph Kernels (Yanardag et al., 2015)",
        draws=False,
    ),
    "random-walk": Method(
        "igsd.baselines.random_walk:RandomWalkKernel",
        "Random walk (Gärtner et al., 2003)",
        draws=False,
    ),
    "shortest-path": Method(
        "igsd.baselines.shortest_path:ShortestPathKernel",
        "Shortest path (Borgwardt and Kriegel, 2005)",
        draws=False,
    ),
    "graphlet": Method(
        "igsd.baselines.graphlet:GraphletKernel",
        "Graphlet (Shervashidze et al., 2009)",
        draws=False,
    ),
    "wl": Method(
        "igsd.baselines.wl:WLKernel", "WL subtree (Shervashidze et al., 2011)", draws=False
    ),
    "mlg": Method(
        "igsd.baselines.multiscale_laplacian:MultiscaleLaplacian",
        "Multiscale Laplacian (Kondor and Pan, 2016)",
    ),
    "wl-oa": Method(
        "igsd.baselines.wl_oa:WLOptimalAssignment",
        "WL optimal assignment (Kriege et al., 2016)",
        draws=False,
    ),
    "gckn": Method("igsd.baselines.gckn:GCKN", "GCKN, subtree (Chen et al., 2020)"),
    "barlow": Method(
        "igsd.baselines.barlow:BarlowTwins", "Graph Barlow Twins (Bielak et al., 2022)"
    ),
    "byol": Method("igsd.baselines.byol:BYOL", "BYOL without negatives (Grill et al., 2020)"),
    "untrained": Method("igsd.estimators:IGSD", "untrained encoder", {"epochs": 0}),
    "histogram": Method(
        "igsd.baselines.histogram:LabelDegreeHistogram",
        "label and degree histogram",
        draws=False,
    ),
}
"""The methods of the paper's tables and their floors, in the order of the documentation."""


def method(name: str) -> Method:
    """Return the method with this name; raises ``ConfigError`` with the nearest names."""
    if name not in METHODS:
        raise ConfigError(f"There is no method {name!r}. {_nearest(name)}")
    return METHODS[name]


def _nearest(name: str) -> str:
    """Return the methods whose title holds the name, such as CMC-Graph, or else the nearest."""
    if len(name) < 2:
        return nearest(name, METHODS)
    titled = [repr(key) for key, known in METHODS.items() if name.lower() in known.title.lower()]
    return f"Did you mean {' or '.join(titled)}?" if titled else nearest(name, METHODS)


def make_method(name: str, *, random_state: Any = 0, **parameters: Any) -> Any:
    """Return an unfitted estimator of the method, its parameters changed where given.

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


def defaults(name: str) -> Settings:
    """Return the settings of a method as they are when nobody says anything."""
    config: Settings = method(name).estimator().config_class()
    return config


def setting_names(name: str) -> list[str]:
    """Return the settings of a method that can be changed; seed and fixed ones are left out."""
    return [k for k in defaults(name).to_json() if k != "seed" and k not in method(name).settings]


def takes_recipe(name: str) -> bool:
    """Say whether a recipe says anything to a method: those without a network have no use for it.

    Raises ``ConfigError`` for an unknown name.
    """
    return isinstance(defaults(name), Config)


def configure(name: str, recipe: str, changes: Mapping[str, Any] | None = None) -> Any:
    """Return the settings of a method: its own, those of the recipe, what it is, then ``changes``.

    A recipe says how to look at this kind of graphs: nodes, encoder and run, for IGSD everything.
    Methods without a network have no use for it. Raises ``ConfigError`` for an unknown method,
    recipe or setting, and for a value outside its rule.
    """
    config, changes, full = defaults(name), changes or {}, load_recipe(recipe)
    known = [*setting_names(name), "seed"]
    for key in changes:
        if key not in known:
            raise ConfigError(f"The method {name!r} has no setting {key!r}. {nearest(key, known)}")
    if type(config) is Config:
        config = full
    elif isinstance(config, LearnedConfig):
        config = learned_recipe(recipe, type(config))
    try:
        return config.updated({**method(name).settings, **changes})
    except ParameterError as error:
        raise error.of_estimator(method(name).estimator().__name__) from error


def build(name: str, config: Any, **others: Any) -> Any:
    """Return an unfitted estimator with these settings, as ``configure`` gives them.

    ``others``: what is no setting (``checkpoint``, ``log_dir``, ``verbose``), for methods that
    train a network; the others have no such parameters and do without.
    """
    known = {key: value for key, value in others.items() if key in config.besides}
    return method(name).estimator().from_config(config, **known)


def has_kernel(estimator: Any) -> bool:
    """Say whether an estimator delivers a kernel matrix: score that, not its features."""
    return hasattr(estimator, "kernel")


def svm_kernel(estimator: Any, protocol: str) -> str:
    """Return how an SVM compares graphs by what an estimator, or its class, delivers.

    ``rbf``: by its vectors; ``precomputed``: by its kernel; ``linear``: by the vectors whose
    products are its kernel, which unlike that can be standardised. Protocol gckn asks for this.

    >>> svm_kernel(method("gckn").estimator(), "gckn"), svm_kernel(method("wl").estimator(), "gckn")
    ('linear', 'precomputed')
    """
    from igsd.baselines.kernel_base import VectorKernel

    if not has_kernel(estimator):
        return "rbf"
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return "linear" if protocol == "gckn" and issubclass(kind, VectorKernel) else "precomputed"


def name_of(estimator: Any) -> str | None:
    """Return the name of an estimator's method, None for one that is not in the registry."""
    place, given = f":{type(estimator).__name__}", estimator.get_params(deep=False)
    found = {
        name: len(known.settings)
        for name, known in METHODS.items()
        if known.path.endswith(place) and known.settings.items() <= given.items()
    }
    # The one that says the most of it: an IGSD without epochs is the untrained encoder.
    return max(found, key=lambda name: found[name], default=None)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that the ``save`` of any method wrote.

    Raises ``StorageError`` for any other file.
    """
    from igsd.storage import read_header  # the names alone need not even NumPy

    kind = (read_header(path) or {}).get("estimator", "IGSD")
    for candidate in METHODS.values():
        if candidate.path.endswith(f":{kind}"):
            return candidate.estimator().load(path)
    raise StorageError(f"{path} holds a model of the unknown kind {kind!r}.")
