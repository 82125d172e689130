"""The ``nested`` protocol against ``GridSearchCV``, with the same choices and predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import Side, run_once
from benchmarks.timing import alternate, load_note
from benchmarks.training import load
from igsd.estimators import IGSD
from igsd.evaluation.folds import INNER_FOLDS, outer_folds
from igsd.evaluation.kernels import kernel_sources
from igsd.evaluation.svm import C_GRID, choose, predict_grid
from igsd.processes import map_folds


@dataclass(frozen=True)
class Case:
    """One row: embeddings of a set, some of the ten folds, and the bar."""

    data: str
    hidden_dim: int
    standardise: bool
    folds: int
    repeats: int
    bar: float

    @property
    def width(self) -> int:
        """Width of the embeddings: four layers side by side."""
        return 4 * self.hidden_dim

    @property
    def title(self) -> str:
        """The data and the width of its embeddings."""
        return f"{self.data} x {self.width}"


CASES = (
    Case("IMDB-BINARY", 64, True, folds=10, repeats=2, bar=4.0),
    Case("IMDB-BINARY", 64, False, folds=10, repeats=2, bar=7.0),
    Case("NCI1", 64, True, folds=1, repeats=2, bar=2.5),
    Case("NCI1", 64, False, folds=1, repeats=2, bar=4.0),
    Case("NCI1", 256, True, folds=1, repeats=1, bar=6.0),
)
THREADS = Case("NCI1", 64, True, folds=4, repeats=2, bar=1.7)
EPOCHS = 3


def rows(context: Context) -> list[Row]:
    """Return a row for each case, and one for two processes against one."""
    rows = [row for case in CASES for row in guarded("nested", case.title, _rows, context, case)]
    return rows + guarded("nested", THREADS.title, _threads_rows, context, THREADS)


def _rows(context: Context, case: Case) -> list[Row]:
    given = _arguments(context, case)
    with (
        Side("benchmarks.svm:ours_side", **given) as ours,
        Side("benchmarks.svm:grid_search_side", **given) as theirs,
    ):
        # No warm-up: what is slower the first time, loading numba, is done before.
        rounds = context.rounds(case.repeats)
        measured = alternate({"ours": ours, "theirs": theirs}, rounds, warm=False)
    mine, other = measured["ours"], measured["theirs"]
    same = mine.first == other.first
    note = f"GridSearchCV; {_part(case)}; {_solver()}; C and predictions " + (
        "equal" if same else "DIFFER"
    )
    row = Row(
        "nested, standardised" if case.standardise else "nested, as they are",
        case.title,
        mine.cpu,
        other.cpu,
        other.cpu / mine.cpu,
        case.bar,
        "s",
        note,
        agrees=same,
    )
    return [row]


def _threads_rows(context: Context, case: Case) -> list[Row]:
    given = _arguments(context, case)
    with (
        Side("benchmarks.svm:ours_side", n_jobs=2, **given) as two,
        Side("benchmarks.svm:ours_side", **given) as one,
    ):
        measured = alternate({"two": two, "one": one}, context.rounds(case.repeats), warm=False)
    fast, slow = measured["two"], measured["one"]
    same = fast.first == slow.first
    note = f"{_part(case)}; wall time, {load_note()}; C and predictions " + (
        "equal" if same else "DIFFER"
    )
    row = Row(
        "nested: two processes / one",
        case.title,
        fast.wall,
        slow.wall,
        slow.wall / fast.wall,
        case.bar,
        "s",
        note,
        agrees=same,
    )
    return [row]


def _part(case: Case) -> str:
    """Return which folds were run: all where a side needs less than a minute for them."""
    if case.folds == 10:
        return "all 10 folds"
    return "fold 0 of 10" if case.folds == 1 else f"folds 0 to {case.folds - 1} of 10"


def _solver() -> str:
    """Return who solves the SVMs of our side."""
    return "without numba" if find_spec("numba") is None else "with numba, loaded"


def _arguments(context: Context, case: Case) -> dict[str, Any]:
    """Return the arguments of a side; the embeddings are made where they are not there yet."""
    context.require(case.data)
    path = context.folder / f"{case.data}-{case.width}.npy"
    if not path.exists():
        run_once(
            "benchmarks.svm:embeddings_side",
            data=case.data,
            hidden_dim=case.hidden_dim,
            path=str(path),
        )
    return {
        "data": case.data,
        "path": str(path),
        "standardise": case.standardise,
        "folds": case.folds,
    }


def embeddings_side(data: str, hidden_dim: int, path: str) -> Callable[[], None]:
    """Return the work of training IGSD on a set and writing its embeddings to ``path``."""

    def work() -> None:
        model = IGSD(hidden_dim=hidden_dim, epochs=EPOCHS, random_state=0)
        np.save(Path(path), model.fit_transform(load(data)), allow_pickle=False)

    return work


Outcome = list[dict[str, Any]]


def ours_side(
    data: str, path: str, standardise: bool, folds: int, n_jobs: int = 1
) -> Callable[[], Outcome]:
    """Return the work of ``nested`` over its first folds; its result: C and predictions of each.

    These are the very calls that ``nested`` makes, which itself keeps no predictions.
    """
    X, y = _embedded(data, path)
    # Compiled loops are loaded once in a process, or compiled on the first use of all.
    predict_grid(np.eye(1000), np.arange(1000) % 2, np.ones((1, 1000)), (1.0,))

    def work() -> Outcome:
        sources = kernel_sources(X, "rbf", "yes" if standardise else "no")
        arguments = [
            (sources, y, fold.train, fold.test) for fold in outer_folds(y, seed=0)[0][:folds]
        ]
        return map_folds(_fold, arguments, n_jobs)

    return work


def _fold(sources: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    choice = choose(sources, y, train, C_GRID)
    K_train, K_test = sources[choice.source].split(train, test)
    predicted = predict_grid(K_train, y[train], K_test, (choice.C,))[0]
    return {"C": choice.C, "predicted": predicted.tolist()}


def grid_search_side(data: str, path: str, standardise: bool, folds: int) -> Callable[[], Outcome]:
    """Return the work of scikit-learn's own search over the same folds; its result: the same."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = _embedded(data, path)
    model = make_pipeline(StandardScaler(), SVC()) if standardise else make_pipeline(SVC())

    def work() -> Outcome:
        result = []
        for fold in outer_folds(y, seed=0)[0][:folds]:
            train, test = fold.train, fold.test
            search = GridSearchCV(model, {"svc__C": list(C_GRID)}, cv=INNER_FOLDS)
            search.fit(X[train], y[train])
            predicted = search.predict(X[test]).tolist()
            result.append({"C": search.best_params_["svc__C"], "predicted": predicted})
        return result

    return work


def _embedded(data: str, path: str) -> tuple[np.ndarray, np.ndarray]:
    X = np.load(path, allow_pickle=False).astype(np.float64)
    return X, np.asarray(load(data).classes)
