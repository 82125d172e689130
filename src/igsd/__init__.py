"""igsd: vectors for whole graphs with few labels or none.

Names are imported when first used, so that ``import igsd`` stays quick.
"""

import importlib

TYPE_CHECKING = False  # from typing, which takes a third of the time of Python itself to import

__version__ = "0.1.0"

_PUBLIC = dict.fromkeys(("IGSD", "IGSDClassifier", "IGSDRegressor"), "igsd.estimators")
_PUBLIC |= dict.fromkeys(("load_model", "make_method"), "igsd.baselines.registry")
_PUBLIC |= {"GraphSet": "igsd.graphs.graphset", "load_dataset": "igsd.graphs.datasets"}
_PUBLIC |= {"neighbors": "igsd.evaluation.neighbors", "map": "igsd.report.pictures"}
_PUBLIC |= {"Index": "igsd.evaluation.index"}
_PUBLIC |= dict.fromkeys(("cluster", "outliers"), "igsd.evaluation.clusters")
_PUBLIC |= {"open_data": "igsd.graphs.open", "pretrained": "igsd.estimators.molecules"}

__all__ = [
    "IGSD",
    "GraphSet",
    "IGSDClassifier",
    "IGSDRegressor",
    "Index",
    "__version__",
    "cluster",
    "load_dataset",
    "load_model",
    "make_method",
    "map",
    "neighbors",
    "open_data",
    "outliers",
    "pretrained",
]

if TYPE_CHECKING:
    from typing import Any

    from igsd.baselines.registry import load_model, make_method
    from igsd.estimators import IGSD, IGSDClassifier, IGSDRegressor
    from igsd.estimators.molecules import pretrained
    from igsd.evaluation.clusters import cluster, outliers
    from igsd.evaluation.index import Index
    from igsd.evaluation.neighbors import neighbors
    from igsd.graphs.datasets import load_dataset
    from igsd.graphs.graphset import GraphSet
    from igsd.graphs.open import open_data
    from igsd.report.pictures import map


def __getattr__(name: str) -> "Any":
    """Return a public name, importing the module that holds it on first use."""
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'igsd' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return sorted(__all__)
