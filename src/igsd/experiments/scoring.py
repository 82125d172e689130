"""The rows of one seed: every method under the same folds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.evaluation.gckn_folds import read_gckn_folds
from igsd.evaluation.inputs import check_codes, check_features
from igsd.evaluation.majority import majority
from igsd.evaluation.protocols import run_protocol
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.twins import twin_groups
from igsd.experiments.vectors import KernelMatrix, LinearVectors, Vectors
from igsd.graphs.graphset import GraphSet

ROW_ORDER = ("igsd", "untrained", "histogram", "majority")
"""The rows every table ends with, in this order; any other method stands before them."""

TWINS_REMOVED = ", twins removed"

# Below this many graphs the folds are done before other processes have started.
_WORTH_PROCESSES = 400
_MANY_TWINS = 0.1
_FEW_GROUPS = 50


@dataclass(frozen=True)
class Scoring:
    """How embeddings are scored. ``jobs`` does not change a number; the rest is part of a record.

    ``twins``: also score with the twins of test graphs removed from training.
    """

    protocol: str = "nested"
    standardise: str = "yes"
    twins: bool = False
    jobs: int = 1

    def settings(self) -> dict[str, Any]:
        """Return what decides the numbers, as plain values."""
        return {"name": self.protocol, "standardise": self.standardise, "twins": self.twins}

    def protocols(self) -> tuple[str, ...]:
        """Return the protocols to run: ``paper`` is optimistic and never stands alone."""
        return ("nested", "paper") if self.protocol == "paper" else (self.protocol,)


Scored = tuple[str, ProtocolResult]


def class_codes(graphs: GraphSet, *, gaps: bool = False) -> np.ndarray:
    """Return the class of every graph, [G] int64; raises ``DataError`` for what has no score.

    ``gaps``: graphs may be of an unknown class, -1.
    """
    if graphs.classes is None:
        raise DataError(
            f"{graphs.name!r} has no class labels, and a score needs them. A column of a table "
            "becomes the classes with --labels COLUMN of `igsd evaluate` and `igsd compare`, or "
            "for good with `igsd data import TABLE --label-column COLUMN -o FILE`: then give FILE "
            "as DATA. `igsd embed` gives the vectors without classes."
        )
    return check_codes(graphs.classes, len(graphs), graphs.class_names, gaps=gaps)


def check_scorable(graphs: GraphSet, protocol: str) -> None:
    """Raise ``DataError`` for what has no score, ``StorageError`` for missing published folds."""
    codes = class_codes(graphs)
    if protocol == "gckn":
        read_gckn_folds(graphs.name, codes)


def has_many_twins(graphs: GraphSet) -> bool:
    """Say whether over a tenth of the graphs repeats one that message passing cannot tell apart.

    With few groups in all, removing twins would leave nothing to train on; then the answer is no.
    """
    distinct = int(twin_groups(graphs).max()) + 1
    return _FEW_GROUPS <= distinct < (1 - _MANY_TWINS) * len(graphs)


def default_jobs(graphs: GraphSet) -> int:
    """Return how many processes score the folds: all cores, or one where there is little to do."""
    return (os.cpu_count() or 1) if len(graphs) >= _WORTH_PROCESSES else 1


def score_seed(
    vectors: Mapping[str, Vectors],
    graphs: GraphSet,
    scoring: Scoring,
    seed: int,
    advance: Callable[[int, str], None] = lambda steps, note: None,
) -> list[Scored]:
    """Return (method, result) for every row of one fold seed, for each protocol in turn.

    ``vectors``: the embeddings [G, d] or the kernel of each method. Rows without twins come first,
    then the methods, those of ``ROW_ORDER`` last and in its order. ``advance`` is called after each
    row. Raises ``DataError`` for data that cannot be scored.
    """
    codes, scored = class_codes(graphs), []
    for name, values in vectors.items():
        if not isinstance(values, KernelMatrix):
            features = values.values if isinstance(values, LinearVectors) else values
            check_features(features, f"vectors of {name} for {graphs.name!r}")
    groups = twin_groups(graphs) if scoring.twins else None
    settings: dict[str, Any] = {"dataset": graphs.name, "seed": seed, "n_jobs": scoring.jobs}
    for protocol in scoring.protocols():
        for method in _repeated(vectors, scoring):
            settings["twins"] = groups
            result = _score(protocol, vectors[method], codes, scoring, settings)
            scored.append((method + TWINS_REMOVED, result))
            advance(1, method)
        settings["twins"] = None
        for method in _ordered(vectors):
            scored.append((method, _score(protocol, vectors[method], codes, scoring, settings)))
            advance(1, method)
        scored.append(("majority", majority_result(graphs, codes, protocol, seed)))
    return scored


def num_scores(methods: Iterable[str], scoring: Scoring) -> int:
    """Return how many times ``score_seed`` calls ``advance``."""
    names = tuple(methods)
    return len(scoring.protocols()) * (len(names) + len(_repeated(names, scoring)))


def _ordered(methods: Iterable[str]) -> list[str]:
    """Return the methods in the order of the rows."""
    names = tuple(methods)
    return [n for n in names if n not in ROW_ORDER] + [n for n in ROW_ORDER if n in names]


def _repeated(methods: Iterable[str], scoring: Scoring) -> list[str]:
    """Return the methods that are also scored without twins: the histogram is there as a floor."""
    names = _ordered(methods)
    if not scoring.twins:
        return []
    return [name for name in names if name != "histogram" or len(names) == 1]


def _score(
    protocol: str, X: Vectors, codes: np.ndarray, scoring: Scoring, settings: dict[str, Any]
) -> ProtocolResult:
    """Return the result of one row; a kernel has no features that could be standardised."""
    if isinstance(X, KernelMatrix):
        return run_protocol(protocol, X.values, codes, kernel="precomputed", **settings)
    if isinstance(X, LinearVectors):
        settings = settings | {"kernel": "linear", "standardise": scoring.standardise}
        return run_protocol(protocol, X.values, codes, **settings)
    return run_protocol(protocol, X, codes, standardise=scoring.standardise, **settings)


def majority_result(
    graphs: GraphSet, codes: np.ndarray, protocol: str, seed: int
) -> ProtocolResult:
    """Return the majority class's score under the folds of the protocol."""
    if protocol != "gckn":
        return majority(codes, seed=seed, protocol=protocol)
    folds = read_gckn_folds(graphs.name, codes, seed=seed)
    splits = [(fold.fitted, fold.test) for fold in folds]
    return majority(codes, seed=seed, splits=splits, protocol=protocol)
