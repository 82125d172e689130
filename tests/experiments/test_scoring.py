from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.experiments.scoring import (
    ROW_ORDER,
    Scoring,
    class_codes,
    has_many_twins,
    num_scores,
    score_seed,
)
from igsd.experiments.vectors import KernelMatrix
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    return make_graphs(8, classes=True)


def clear_vectors(graphs: GraphSet) -> np.ndarray:
    """Return vectors that give the class away."""
    noise = np.random.default_rng(0).normal(size=(len(graphs), 2))
    return np.asarray(graphs.classes)[:, None] * 20.0 + noise


def test_rows_of_a_seed(labelled: GraphSet) -> None:
    vectors = dict.fromkeys(("igsd", "untrained", "histogram"), clear_vectors(labelled))
    calls = []
    scored = score_seed(
        vectors, labelled, Scoring(), 3, lambda steps, note: calls.append((steps, note))
    )
    assert tuple(method for method, _ in scored) == ROW_ORDER
    assert [result.mean for _, result in scored] == [1.0, 1.0, 1.0, 0.5]
    assert {result.seed for _, result in scored} == {3}
    assert len(calls) == num_scores(tuple(vectors), Scoring()) == 3


def test_paper_never_stands_alone(labelled: GraphSet) -> None:
    scored = score_seed({"igsd": clear_vectors(labelled)}, labelled, Scoring("paper"), 0)
    assert [(method, result.protocol) for method, result in scored] == [
        ("igsd", "nested"),
        ("majority", "nested"),
        ("igsd", "paper"),
        ("majority", "paper"),
    ]


def test_twins_are_scored_before_the_rest(labelled: GraphSet) -> None:
    scoring = Scoring(twins=True)
    vectors = {"igsd": clear_vectors(labelled), "histogram": clear_vectors(labelled)}
    scored = score_seed(vectors, labelled, scoring, 0)
    assert next(method for method, _ in scored) == "igsd, twins removed"
    assert num_scores(tuple(vectors), scoring) == 3


def test_other_methods_stand_before_the_floors(labelled: GraphSet) -> None:
    X = clear_vectors(labelled)
    vectors = {"histogram": X, "wl": KernelMatrix(X @ X.T), "gcc": X}
    scored = score_seed(vectors, labelled, Scoring(twins=True), 0)
    assert [method for method, _ in scored] == [
        *("wl, twins removed", "gcc, twins removed"),
        *("wl", "gcc", "histogram", "majority"),
    ]
    assert num_scores(vectors, Scoring(twins=True)) == 5
    # Alone, the histogram is what is scored, not a floor beside it.
    assert num_scores(["histogram"], Scoring(twins=True)) == 2


def test_many_twins() -> None:
    graphs = make_graphs(120, seed=1)
    assert not has_many_twins(graphs.take(np.arange(10).repeat(12)))
    assert has_many_twins(graphs.take(np.arange(120).repeat(2)))


def test_what_cannot_be_scored(labelled: GraphSet) -> None:
    with pytest.raises(DataError, match="no class labels"):
        class_codes(labelled.without_labels())
    with pytest.raises(DataError, match="two classes"):
        class_codes(replace(labelled, classes=np.zeros(8, np.int64)))
