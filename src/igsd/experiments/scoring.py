"""Scoring vectors or kernels of graphs under the folds of a protocol, every method alike."""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.registry import build, name_of, svm_kernel
from igsd.errors import DataError, IGSDWarning
from igsd.evaluation.folds import read_gckn_folds
from igsd.evaluation.inputs import check_codes, check_features
from igsd.evaluation.protocols import cross_validate
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.twins import twin_groups
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar

ROW_ORDER = ("igsd", "untrained", "histogram", "majority")
"""The rows every table ends with, in this order; other methods come before them."""

TWINS_REMOVED = ", twins removed"

# Below this many graphs the folds are done before other processes have started.
_WORTH_PROCESSES = 400
_MANY_TWINS = 0.1
_FEW_GROUPS = 50

Scored = tuple[str, ProtocolResult]
"""A method and its result."""


@dataclass(frozen=True)
class Vectors:
    """What an SVM compares graphs by.

    ``kernel``: ``rbf`` compares vectors ``values`` [G, d] by their distances, ``linear`` by their
    products; ``precomputed`` means that ``values`` is the kernel of all pairs of graphs, [G, G].
    ``head``: the model that predicts classes from the vectors, see ``evaluation.heads``.
    """

    values: np.ndarray
    kernel: str = "rbf"
    head: str = "svm"


@dataclass(frozen=True)
class Scoring:
    """How vectors are scored. ``jobs`` does not change a number; the rest is part of a record.

    ``twins``: also score with the twins of test graphs (graphs that message passing cannot
    distinguish from them) removed from training.
    """

    protocol: str = "nested"
    standardise: str = "yes"
    twins: bool = False
    jobs: int = 1

    def settings(self) -> dict[str, object]:
        """Return what decides the numbers."""
        return {"name": self.protocol, "standardise": self.standardise, "twins": self.twins}

    def protocols(self) -> tuple[str, ...]:
        """Return the protocols to run: ``paper`` is optimistic and never shown alone."""
        return ("nested", "paper") if self.protocol == "paper" else (self.protocol,)


def class_codes(graphs: GraphSet, *, gaps: bool = False) -> np.ndarray:
    """Return the class of every graph, [G] int64; raises ``DataError`` if they cannot be scored.

    ``gaps``: graphs may be of an unknown class, -1.
    """
    if graphs.classes is None:
        raise DataError(
            f"{graphs.name!r} has no class labels, and a score needs them. A column of a table "
            "becomes the classes with --labels COLUMN of `igsd evaluate` and `igsd compare`, or "
            "permanently with `igsd data import TABLE --label-column COLUMN -o FILE`: then give "
            "FILE as DATA. `igsd embed` writes the vectors without classes."
        )
    return check_codes(graphs.classes, len(graphs), graphs.class_names, gaps=gaps)


def check_scorable(graphs: GraphSet, protocol: str) -> None:
    """Raise ``DataError`` for graphs without classes, ``StorageError`` for missing folds."""
    codes = class_codes(graphs)
    if protocol == "gckn":
        read_gckn_folds(graphs.name, codes)


_twins_by_checksum: dict[str, bool] = {}


def has_many_twins(graphs: GraphSet) -> bool:
    """Whether over a tenth of the graphs repeat one that message passing cannot distinguish.

    With few distinct graphs in all, removing twins would leave nothing to train on; then the answer
    is no.
    """
    if graphs.checksum not in _twins_by_checksum:
        distinct = int(twin_groups(graphs).max()) + 1
        many = _FEW_GROUPS <= distinct < (1 - _MANY_TWINS) * len(graphs)
        _twins_by_checksum[graphs.checksum] = many
    return _twins_by_checksum[graphs.checksum]


def default_jobs(graphs: GraphSet) -> int:
    """Return how many processes score the folds: all cores, or one for a small set."""
    return (os.cpu_count() or 1) if len(graphs) >= _WORTH_PROCESSES else 1


def score_seed(
    vectors: Mapping[str, Vectors],
    graphs: GraphSet,
    scoring: Scoring,
    seed: int,
    advance: Callable[[int, str], None] = lambda steps, note: None,
) -> list[Scored]:
    """Return (method, result) for every row of one fold seed, for each protocol in turn.

    Rows with twins removed come first, then the methods, those of ``ROW_ORDER`` last, then the
    majority class. ``advance`` is called after each row. Raises ``DataError`` for data that cannot
    be scored.
    """
    codes, scored = class_codes(graphs), []
    for name, given in vectors.items():
        if given.kernel != "precomputed" and given.values.shape[1]:
            check_features(given.values, f"vectors of {name} for {graphs.name!r}")
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
        if "majority" not in vectors:
            scored.append(("majority", majority_result(graphs, codes, protocol, seed)))
    return scored


def score_seeds(
    vectors: Mapping[str, Vectors],
    graphs: GraphSet,
    scoring: Scoring,
    seeds: Iterable[int],
    *,
    verbose: bool = False,
) -> list[list[Scored]]:
    """Return the rows of each fold seed, with a progress bar."""
    seeds = tuple(seeds)
    per_seed = len(scoring.protocols()) * (len(vectors) + len(_repeated(vectors, scoring)))
    with progress_bar("scoring", len(seeds) * per_seed, shown=verbose) as advance:
        return [score_seed(vectors, graphs, scoring, seed, advance) for seed in seeds]


def _ordered(methods: Iterable[str]) -> list[str]:
    """Return the methods in the order of the rows."""
    names = tuple(methods)
    return [n for n in names if n not in ROW_ORDER] + [n for n in ROW_ORDER if n in names]


def _repeated(methods: Iterable[str], scoring: Scoring) -> list[str]:
    """Return the methods also scored without twins: not the histogram as a reference row."""
    names = _ordered(methods)
    if not scoring.twins:
        return []
    if len(names) > 1:
        names = [name for name in names if name != "histogram"]
    return [name for name in names if name != "majority"]


def _score(
    protocol: str, X: Vectors, codes: np.ndarray, scoring: Scoring, settings: Mapping[str, Any]
) -> ProtocolResult:
    """Return the result of one row; a kernel matrix has no features to standardise."""
    settings = dict(settings)
    if X.kernel != "rbf":
        settings["kernel"] = X.kernel
    if X.head != "svm":
        settings["head"] = X.head
    elif X.kernel != "precomputed":
        settings["standardise"] = scoring.standardise
    return cross_validate(X.values, codes, protocol=protocol, **settings)


def majority_result(
    graphs: GraphSet, codes: np.ndarray, protocol: str, seed: int
) -> ProtocolResult:
    """Return the majority class's score under the folds of the protocol."""
    nothing = np.zeros((len(codes), 0))
    return cross_validate(nothing, codes, protocol=protocol, dataset=graphs.name, seed=seed)


@dataclass(frozen=True)
class Represented:
    """Graphs as a method sees them.

    ``seconds``: wall time of fitting (``train``) and of computing the values (``embed``);
    ``cpu_seconds``: processor time of both, child processes included. ``notes``: the method's
    warnings, e.g. degrees in place of node labels. ``history``: losses by epoch.
    """

    vectors: Vectors
    seconds: dict[str, float]
    cpu_seconds: float
    notes: tuple[str, ...]
    history: list[dict[str, float]]


def cpu_seconds() -> float:
    """Return the processor time of this process and of its child processes that have ended."""
    return sum(os.times()[:4])


def represent(graphs: GraphSet, method: str, config: Any, protocol: str) -> Represented:
    """Return the vectors or kernel of a method fitted on ``graphs`` with these settings.

    A plain function of plain data, so that ``run_measured`` can run it in its own process. Classes
    are never read: the graphs may come without.
    """
    estimator = build(method, config)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IGSDWarning)
        begin, used = time.perf_counter(), cpu_seconds()
        estimator.fit(graphs)
        middle = time.perf_counter()
        vectors = delivered(estimator, graphs, protocol)
        end, used = time.perf_counter(), cpu_seconds() - used
    texts = [str(w.message) for w in caught if issubclass(w.category, IGSDWarning)]
    seconds = {"train": round(middle - begin, 3), "embed": round(end - middle, 3)}
    history = list(getattr(estimator, "history_", []))
    return Represented(vectors, seconds, round(used, 3), tuple(dict.fromkeys(texts)), history)


def delivered(estimator: Any, graphs: GraphSet, protocol: str) -> Vectors:
    """Return what a fitted estimator is scored by under a protocol: vectors or its kernel."""
    kernel = svm_kernel(estimator, protocol)
    is_matrix = kernel == "precomputed"
    values = estimator.kernel(graphs) if is_matrix else estimator.transform(graphs)
    return Vectors(values, kernel, getattr(estimator, "head", "svm"))


def source_vectors(
    source: str | os.PathLike[str], graphs: GraphSet, protocol: str, *, verbose: bool = False
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors by method, notes) of a model, or of a file of embeddings, for ``score_seed``.

    Reference rows are the histogram and, for a model with a network, the same network untrained;
    models without one, models trained with labels and embeddings from a file have no such row.
    Raises ``DataError`` if the number of rows is wrong.
    """
    from igsd.baselines.references.histogram import LabelDegreeHistogram
    from igsd.baselines.registry import load_model
    from igsd.files.columns import read_vectors

    histogram = {"histogram": Vectors(LabelDegreeHistogram().fit_transform(graphs))}
    if not _is_vectors(source):
        rows, notes = _model_vectors(load_model(source), graphs, protocol, verbose=verbose)
        return histogram | rows, notes
    vectors = read_vectors(source)
    if len(vectors) != len(graphs):
        raise DataError(
            f"{source} holds {len(vectors)} embeddings, but {graphs.name!r} has {len(graphs)} "
            "graphs. There must be one row for each graph, in the same order."
        )
    check_features(vectors, f"embeddings in {source}")
    notes = ["the untrained encoder of embeddings from a file is not known"]
    return {"igsd": Vectors(vectors)} | histogram, notes


def _model_vectors(
    model: Any, graphs: GraphSet, protocol: str, *, verbose: bool
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors, notes) of a model, and of its network before training if it has one."""
    from igsd.baselines.references.histogram import untrained_twin
    from igsd.estimators.labelled import LabelEstimator
    from igsd.estimators.neural import NeuralEstimator

    name, notes = name_of(model) or "igsd", []  # models trained with labels are shown as IGSD
    if isinstance(model, LabelEstimator):
        notes.append(
            "the model was trained with labels; on graphs whose labels it has seen this score is "
            "too good: use protocol semi"
        )
    has_network = isinstance(model, NeuralEstimator) and not isinstance(model, LabelEstimator)
    if has_network:
        model.set_params(verbose=verbose)
    else:
        notes.insert(0, "there is no untrained network to compare with")
    rows = {name: delivered(model, graphs, protocol)}
    if has_network and name != "untrained":
        rows["untrained"] = Vectors(untrained_twin(model).fit_transform(graphs))
    return rows, notes


def _is_vectors(source: str | os.PathLike[str]) -> bool:
    """Whether a path is a file of embeddings; a model file may have any name, even theirs."""
    from igsd.files.arrays import read_header
    from igsd.files.columns import SUFFIXES

    path = Path(source).expanduser()
    if path.is_dir() or path.suffix.lower() not in SUFFIXES:
        return False
    return read_header(path) is None
