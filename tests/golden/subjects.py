"""What the golden test fits: the one file that knows where the package keeps its names.

A refactoring that moves a name changes this file and nothing else in the folder. Names are as
public as they get; registries and learned attributes are behind functions at the end.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import igsd

FILES = Path(__file__).parent / "files"

CLASSES, NUMBERS = "classes", "numbers"


@dataclass(frozen=True)
class Subject:
    """An estimator to fit on some data, with labels of a kind or without any.

    ``make`` gets the settings; ``columns``: how many targets, 0 for a single one without a column.
    """

    data: str
    make: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    labels: str = ""
    columns: int = 0

    def fitted(self) -> Any:
        """Return the estimator, fitted."""
        graphs, made = open_graphs(self.data), self.make(**self.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is said is not what is pinned here
            return made.fit(graphs, labels_of(graphs, self.labels, self.columns))


def missing(data: str) -> str:
    """Return why a data set is not to be had here, nothing where it is."""
    if data.startswith("IMDB") and "IGSD_DATA" not in os.environ:
        return "IGSD_DATA is not set"
    return ""


@cache
def open_graphs(data: str) -> Any:
    """Return MUTAG (carried by grakel), 60 of IMDB-BINARY, or the 60 of QM9 in this folder."""
    if data == "QM9":
        return igsd.open_data(FILES / "qm9.graphs")
    graphs = igsd.load_dataset(data, allow_download=False)
    return graphs if data == "MUTAG" else graphs.take(np.arange(8, len(graphs), 17)[:60])


def labels_of(graphs: Any, kind: str, columns: int) -> Any:
    """Return the class or the numbers of every third graph, gaps for the others."""
    if not kind:
        return None
    if kind == CLASSES:
        return [int(c) if i % 3 == 0 else None for i, c in enumerate(graphs.classes)]
    known = np.arange(len(graphs)) % 3 == 0
    targets = np.where(known[:, None], graphs.targets, np.nan)
    if not columns:
        return targets[:, 0]
    targets[3, 1] = np.nan  # a graph may have some targets and lack others
    return targets[:, :columns]


def _method(name: str) -> Callable[..., Any]:
    plain = {"recipe": None} if "recipe" in igsd.make_method(name).get_params() else {}
    return lambda **settings: igsd.make_method(name, **plain | settings)


def _recipe(name: str, recipe: str) -> Callable[..., Any]:
    """Return what makes a method with a recipe's settings."""
    return lambda **settings: type(igsd.make_method(name)).from_recipe(recipe, **settings)


LEARNED = ("igsd", "infograph", "mvgrl", "graphcl", "gcc", "barlow", "byol")
SMALLER: dict[str, dict[str, Any]] = {"mlg": {"num_samples": 20}, "gckn": {"num_samples": 2000}}

IGSD_VARIANTS: dict[str, dict[str, Any]] = {
    "heat": {"view": "heat"},
    "edge-drop": {"view": "edge-drop"},
    "series": {"exact_limit": 0},
    "top_k": {"top_k": 4},
    "threshold": {"threshold": 0.05, "teleport": 0.4},
    "both-views": {"embed_views": "both"},
    "both-views-heat": {"embed_views": "both", "view": "heat", "heat_time": 2.0},
    "gcn": {"encoder": "gcn"},
    "no-norm": {"encoder_batch_norm": False, "head_batch_norm": False, "weight_decay": 1e-3},
    "readouts": {"readout": "sum+mean+max", "concat_layers": False},
    "no-projector": {"projector": False},
    "no-heads": {"projector": False, "predictor": False},
    "constant": {"node_features": "constant+degree", "degree_cap": 3},
    "small-batches": {"batch_size": 16, "mix_weight": 1.0, "ema_decay": 0.5},
    "seed-7": {"random_state": 7},
    "views-not-kept": {"cache_views": False},
    "half": {"precision": "bf16-mixed"},
}
MOLECULE_VARIANTS: dict[str, dict[str, Any]] = {
    "mpnn": {"encoder": "mpnn"},
    "bond-types": {"view": "bond-types"},
    "two-bond-types": {"view": "bond-types", "num_views": 2},
    "mpnn-bond-types": {"encoder": "mpnn", "view": "bond-types", "num_views": 2},
    "mpnn-edge-drop": {"encoder": "mpnn", "view": "edge-drop", "distance_bins": 0},
    "mpnn-both-views": {"encoder": "mpnn", "embed_views": "both"},
    "label": {"node_features": "label"},
}
OTHER_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "infograph-gcn": ("infograph", {"encoder": "gcn", "readout": "mean"}),
    "mvgrl-gin-heat": ("mvgrl", {"encoder": "gin", "view": "heat"}),
    "graphcl-node-drop": ("graphcl", {"augmentations": "node-drop"}),
    "graphcl-subgraph": ("graphcl", {"augmentations": "subgraph"}),
    "graphcl-edge-perturb": ("graphcl", {"augmentations": "edge-perturb"}),
    "graphcl-attribute-mask": ("graphcl", {"augmentations": "attribute-mask"}),
    "barlow-edge-drop": ("barlow", {"view": "edge-drop", "redundancy_weight": 0.01}),
    "byol-edge-drop": ("byol", {"view": "edge-drop", "encoder": "gcn"}),
    "gcc-small-queue": ("gcc", {"queue_size": 64, "batch_size": 32}),
    "wl-not-normalised": ("wl", {"normalise": False, "iterations": 2, "max_features": 100}),
    "gckn-mean": ("gckn", {"pooling": "mean", "steps": 2, "num_samples": 500}),
}
ROUNDS = {"epochs": 3, "self_training_start": 1, "self_training_rounds": 2}
ROUNDS |= {"self_training_threshold": 0.5, "label_batch_size": 16}
"""Two rounds of self-training in which most guesses become labels."""


def _without_labels() -> Iterator[tuple[str, Subject]]:
    for name in method_names():
        given = dict(SMALLER.get(name, {}))
        given |= {"epochs": 2} if name in (*LEARNED, "graph2vec") else {}
        for data in ("MUTAG", "IMDB-BINARY"):
            yield f"{name} on {data}", Subject(data, _method(name), given)
    two = {"epochs": 2}
    for name, changes in IGSD_VARIANTS.items():
        for data in ("MUTAG", "IMDB-BINARY"):
            yield f"igsd {name} on {data}", Subject(data, _method("igsd"), two | changes)
    for name, changes in MOLECULE_VARIANTS.items():
        for data in ("MUTAG", "QM9"):
            yield f"igsd {name} on {data}", Subject(data, _method("igsd"), two | changes)
    for name, (method, changes) in OTHER_VARIANTS.items():
        more = two if method in LEARNED else {}
        yield f"{name} on MUTAG", Subject("MUTAG", _method(method), more | changes)
    for name in LEARNED:
        for recipe, data in (("molecules", "MUTAG"), ("social", "IMDB-BINARY"), ("paper", "MUTAG")):
            if recipe != "paper" or name == "igsd":
                yield f"{name} recipe {recipe}", Subject(data, _recipe(name, recipe), two)
    for name in ("igsd", "infograph", "wl", "gckn", "histogram"):
        given = SMALLER.get(name, {}) | (two if name in LEARNED else {})
        yield f"{name} on QM9", Subject("QM9", _method(name), given)


def _with_labels() -> Iterator[tuple[str, Subject]]:
    for name, (classifier, _, own) in label_methods().items():
        has = set(classifier().get_params())
        rounds = {key: value for key, value in ROUNDS.items() if key in has}
        yield f"classifier {name}", Subject("MUTAG", _plain(classifier), rounds | own, CLASSES)
        if "pretraining_epochs" in has:
            more = rounds | own | {"pretraining_epochs": 1}
            subject = Subject("MUTAG", _plain(classifier), more, CLASSES)
            yield f"classifier {name} pretrained", subject
        for recipe, data in (("molecules", "MUTAG"), ("social", "IMDB-BINARY")):
            made, label = classifier.from_recipe, f"classifier {name} recipe {recipe}"
            given = rounds | own
            yield label, Subject(data, _bound(made, recipe), given, CLASSES)
    for name, changes in {
        "both": {"self_weight": 0.5, "supcon_reduction": "sum", "pseudo_labels_for": "both"},
        "share": {"self_training_share": 0.1, "encoder_rate": 0.3, "head_dropout": 0.5},
        "edge-drop": {"view": "edge-drop", "head_norm": False, "halve_every": 1},
        "mpnn": {"encoder": "mpnn", "view": "bond-types"},
    }.items():
        subject = Subject("MUTAG", _plain(igsd.IGSDClassifier), ROUNDS | changes, CLASSES)
        yield f"igsd.IGSDClassifier {name}", subject
    for name, regressor in regressors().items():
        small = {"epochs": 2, "label_batch_size": 8}
        yield f"regressor {name}", Subject("QM9", _plain(regressor), small, NUMBERS)
        yield f"regressor {name} of three", Subject("QM9", _plain(regressor), small, NUMBERS, 3)
        if "pretraining_epochs" in regressor().get_params():
            more = small | {"pretraining_epochs": 1}
            yield f"regressor {name} pretrained", Subject("QM9", _plain(regressor), more, NUMBERS)
        made = _bound(regressor.from_recipe, "qm9")
        yield f"regressor {name} recipe qm9", Subject("QM9", made, small, NUMBERS, 10)


def _plain(kind: type) -> Callable[..., Any]:
    return lambda **settings: kind(**{"recipe": None} | settings)


def _bound(function: Callable[..., Any], recipe: str) -> Callable[..., Any]:
    return lambda **settings: function(recipe, **settings)


# Names that are not public.


def method_names() -> list[str]:
    """Return the methods that need no labels."""
    from igsd.baselines.registry import method_names

    return method_names()


def label_methods() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return (classifier, regressor, own settings) of the methods for few labels, by name."""
    from igsd.baselines.registry import METHODS

    first = ["mean-teacher", "infograph"]
    # The estimators of plain igsd are those of igsd-self.
    others = (
        n
        for n, m in METHODS.items()
        if m.does("classes") and n not in (*first, "igsd", "igsd-molecules")
    )
    names = [*first, *others]
    return {
        name: (
            METHODS[name].estimator("classes"),
            METHODS[name].estimator("numbers") if METHODS[name].does("numbers") else None,
            dict(METHODS[name].settings),
        )
        for name in names
    }


def regressors() -> dict[str, Any]:
    """Return each regressor once, by the name of its class."""
    return {made.__name__: made for _, made, _ in label_methods().values() if made is not None}


def weights_of(fitted: Any) -> list[np.ndarray]:
    """Return all that was learned as arrays, in the order of the network's state, without names."""
    for name in ("model_", "network_"):
        if hasattr(fitted, name):
            tensors = getattr(fitted, name).state_dict().values()
            return [tensor.detach().cpu().numpy() for tensor in tensors]
    state = [value for _, value in sorted(getattr(fitted, "state_", {}).items())]
    return [np.asarray(value) for value in state if isinstance(value, (np.ndarray, float, int))]


def losses_of(fitted: Any) -> list[np.ndarray]:
    """Return the losses of all epochs, those before the labels first, without their names."""
    both = [*getattr(fitted, "pretraining_history_", ()), *getattr(fitted, "history_", ())]
    return [np.array([float(v) for v in entry.values()]) for entry in both]


def pseudo_labels_of(fitted: Any) -> list[np.ndarray]:
    """Return graphs, classes, confidence and rounds of the pseudo-labels, where there are any."""
    pseudo = getattr(fitted, "pseudo_labels_", None)
    if pseudo is None:
        return []
    return [np.asarray(getattr(pseudo, n)) for n in ("graphs", "codes", "confidence", "rounds")]


SUBJECTS: dict[str, Subject] = dict([*_without_labels(), *_with_labels()])
