"""Scoring vectors or kernels of graphs under the folds of a protocol, every method alike."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines import registry
from igsd.baselines.references.vectors import vectors_for
from igsd.errors import DataError, caught_warnings, nearest
from igsd.evaluation import cross_validation, inputs, shown_with
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.twins import twin_groups
from igsd.experiments.environment import Stopwatch
from igsd.experiments.records import Record
from igsd.files.arrays import read_header
from igsd.files.columns import SUFFIXES
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
    """The input of the SVM: vectors, or a kernel matrix.

    ``kernel``: ``rbf`` compares vectors ``values`` [G, d] by their distances, ``linear`` by their
    products; ``precomputed``: ``values`` is the kernel of all pairs, [G, G]. ``head``: the model
    that predicts classes from the vectors, see ``evaluation.heads``.
    """

    values: np.ndarray
    kernel: str = "rbf"
    head: str = "svm"

    def taken(self, rows: np.ndarray) -> "Vectors":
        """Return the vectors, or the kernel, of some graphs."""
        chosen = np.ix_(rows, rows) if self.kernel == "precomputed" else rows
        return replace(self, values=self.values[chosen])


@dataclass(frozen=True)
class Scoring:
    """How vectors are scored; ``jobs``, the number of processes, does not change a number.

    ``twins``: also without training graphs that message passing cannot tell from test graphs.
    """

    protocol: str = "nested"
    standardise: str = "yes"
    twins: bool = False
    jobs: int = 1

    def settings(self) -> dict[str, object]:
        """Return what decides the numbers."""
        return {"name": self.protocol, "standardise": self.standardise, "twins": self.twins}

    def protocols(self) -> tuple[str, ...]:
        """Return the protocols that are shown together."""
        return shown_with(self.protocol)


def class_codes(graphs: GraphSet, *, gaps: bool = False) -> np.ndarray:
    """Return the class of every graph, [G] int64, -1 if unknown and ``gaps`` allow it.

    Raises ``DataError`` if they cannot be scored.
    """
    if graphs.classes is None:
        raise DataError(
            f"{graphs.name!r} has no class labels, and a score needs them. A column of a table "
            "becomes the classes with --labels COLUMN of `igsd evaluate` and `igsd compare`, or "
            "permanently with `igsd data import TABLE --label-column COLUMN -o FILE`: then give "
            "FILE as DATA. For a folder of networks give a file with the columns file and label: "
            "--labels FILE. `igsd embed` writes the vectors without classes."
        )
    return inputs.check_codes(graphs.classes, len(graphs), graphs.class_names, gaps=gaps)


def targets_of(graphs: GraphSet, names: Sequence[str]) -> np.ndarray:
    """Return these targets of all graphs, [G, t], NaN if unknown; raises ``DataError``."""
    known = graphs.target_names
    for name in names:
        if name not in known:
            hint = nearest(name, known) if known else "It has no targets."
            raise DataError(f"{graphs.name!r} has no target {name!r}. {hint}")
    columns = [known.index(name) for name in names]
    return np.asarray(graphs.targets, np.float64)[:, columns]


_twins_by_checksum: dict[str, bool] = {}


def has_many_twins(graphs: GraphSet) -> bool:
    """Whether over a tenth of the graphs repeat one that message passing cannot distinguish."""
    if graphs.checksum not in _twins_by_checksum:
        distinct = int(twin_groups(graphs).max()) + 1
        # With few distinct graphs, removing twins would leave nothing to train on.
        many = _FEW_GROUPS <= distinct < (1 - _MANY_TWINS) * len(graphs)
        _twins_by_checksum[graphs.checksum] = many
    return _twins_by_checksum[graphs.checksum]


def default_jobs(graphs: GraphSet) -> int:
    """Return how many processes score the folds: all cores, or one for a small set."""
    return (os.cpu_count() or 1) if len(graphs) >= _WORTH_PROCESSES else 1


def score_seeds(
    vectors: Mapping[str, Vectors],
    graphs: GraphSet,
    scoring: Scoring,
    seeds: Iterable[int],
    *,
    only: str | None = None,
    verbose: bool = False,
) -> list[list[Scored]]:
    """Return (method, result) of every row, for each protocol in turn, by fold seed.

    ``only``: the one protocol to score, by default all that are shown together. Rows with twins
    removed come first, then the methods, those of ``ROW_ORDER`` last, then the majority class.
    Raises ``DataError`` for data that cannot be scored.
    """
    codes, rows = class_codes(graphs), _rows(vectors, scoring)
    for name, X in vectors.items():
        if X.kernel != "precomputed" and X.values.shape[1]:
            inputs.check_features(X.values, f"vectors of {name} for {graphs.name!r}")
    groups = twin_groups(graphs) if scoring.twins else None
    found: dict[int, list[Scored]] = {seed: [] for seed in seeds}
    names = scoring.protocols() if only is None else (only,)
    steps = len(found) * len(names) * len(rows)
    with progress_bar("scoring", steps, shown=verbose) as advance:
        for seed, protocol in product(found, names):
            settings: Any = {"protocol": protocol, "dataset": graphs.name, "seed": seed}
            for title, name, without_twins in rows:
                X = vectors[name]
                settings |= {"kernel": X.kernel, "head": X.head, "n_jobs": scoring.jobs}
                # A kernel matrix has no features to standardise, other heads take them as they are.
                is_plain = X.kernel != "precomputed" and X.head == "svm"
                settings["standardise"] = scoring.standardise if is_plain else None
                settings["twins"] = groups if without_twins else None
                result = cross_validation.cross_validate(X.values, codes, **settings)
                found[seed].append((title, result))
                advance(1, name)
            if "majority" not in vectors:
                result = majority_result(graphs, codes, protocol, seed)
                found[seed].append(("majority", result))
    return list(found.values())


def _rows(methods: Iterable[str], scoring: Scoring) -> list[tuple[str, str, bool]]:
    """Return (title, method, whether without twins) of the rows, in their order.

    The histogram as a reference row is not scored without twins.
    """
    known = tuple(methods)
    names = [n for n in known if n not in ROW_ORDER] + [n for n in ROW_ORDER if n in known]
    once = ("majority", "histogram") if len(names) > 1 else ("majority",)
    repeated = [name for name in names if scoring.twins and name not in once]
    rows = [(name + TWINS_REMOVED, name, True) for name in repeated]
    return rows + [(name, name, False) for name in names]


def majority_result(
    graphs: GraphSet, codes: np.ndarray, protocol: str, seed: int
) -> ProtocolResult:
    """Return the majority class's score under the folds of the protocol."""
    X = np.zeros((len(codes), 0))
    return cross_validation.cross_validate(
        X, codes, protocol=protocol, dataset=graphs.name, seed=seed
    )


def represent(graphs: GraphSet, method: str, config: Any, protocol: str) -> tuple[Vectors, Record]:
    """Return the vectors or kernel of a method fitted on ``graphs``, and its part of the record.

    That is seconds, the method's warnings as notes, and its losses. The graphs may have no classes.
    A plain function of plain data, so that ``run_measured`` can run it in its own process.
    """
    estimator = registry.build(method, config)
    with caught_warnings() as notes:
        watch = Stopwatch()
        estimator.fit(graphs)
        watch.lap("train")
        vectors = delivered(estimator, graphs, protocol)
        watch.lap("embed")
    history = list(getattr(estimator, "history_", []))
    record: Record = {"seconds": watch.seconds, "cpu_seconds": watch.cpu_seconds}
    return vectors, record | {"history": history, "notes": notes}


def delivered(estimator: Any, graphs: GraphSet, protocol: str) -> Vectors:
    """Return what a fitted estimator is scored by under a protocol: vectors or its kernel."""
    kernel = registry.svm_kernel(estimator, protocol)
    values = (estimator.kernel if kernel == "precomputed" else estimator.transform)(graphs)
    return Vectors(values, kernel, registry.head_of(estimator))


def is_vector_file(source: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file of embeddings; a model file may have the same suffix."""
    path = Path(source).expanduser()
    return not path.is_dir() and path.suffix.lower() in SUFFIXES and read_header(path) is None


def source_vectors(
    source: str | os.PathLike[str], graphs: GraphSet, protocol: str, *, verbose: bool = False
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors by method, notes) of a model, or of embeddings in a file, to be scored.

    Reference rows are the histogram and, for a model with a network, the same network untrained;
    models without one, models trained with labels and embeddings from a file have no such row.
    Raises ``DataError`` if the number of rows is wrong.
    """
    histogram = {"histogram": Vectors(registry.make_method("histogram").fit_transform(graphs))}
    if not is_vector_file(source):
        model = registry.load_model(source)
        rows, notes = _model_vectors(model, graphs, protocol, verbose=verbose)
        return histogram | rows, notes
    vectors = vectors_for(source, graphs)
    inputs.check_features(vectors, f"embeddings in {source}")
    notes = ["embeddings from a file have no untrained encoder to compare with"]
    return {"vectors": Vectors(vectors)} | histogram, notes


def _model_vectors(
    model: Any, graphs: GraphSet, protocol: str, *, verbose: bool
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors, notes) of a model, and of its network before training if it has one."""
    from igsd.estimators.labelled import LabelEstimator
    from igsd.estimators.neural import NeuralEstimator

    name = registry.name_of(model) or "igsd"  # models trained with labels are shown as IGSD
    notes = []
    if isinstance(model, LabelEstimator):
        notes.append(
            "the model was trained with labels; its score on graphs whose labels it has seen is "
            "optimistic: use --protocol semi"
        )
    if model.standardised_ and model.standardised_ != graphs.standardised:
        notes.append(
            f"the model was trained on molecules that were standardised ({model.standardised_}), "
            f"and those of {graphs.name} were not standardised so: give a file written by `igsd "
            f"data import TABLE --standardise {model.standardised_} -o FILE`"
        )
    if not isinstance(model, NeuralEstimator) or isinstance(model, LabelEstimator):
        notes.insert(0, "there is no untrained network to compare with")
        return {name: delivered(model, graphs, protocol)}, notes
    rows = {name: delivered(model.set_params(verbose=verbose), graphs, protocol)}
    if name != "untrained":
        rows["untrained"] = Vectors(registry.untrained_copy(model).fit_transform(graphs))
    return rows, notes
