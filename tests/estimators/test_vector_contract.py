"""One contract for every estimator that gives vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd.errors import DataError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from tests.estimators.contract import ESTIMATORS, SKLEARN_CHECKS, networkx_graphs
from tests.small_graphs import make_graphs


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS)
def fitted(request: pytest.FixtureRequest, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    return request.param().fit(graphs)


@pytest.mark.parametrize("check", SKLEARN_CHECKS, ids=lambda check: check.__name__)
def test_checks_of_sklearn(estimator: BaseEstimator, check: Callable) -> None:
    check(type(estimator).__name__, estimator)


def test_fit_returns_self_and_changes_no_parameter(estimator: Any, graphs: GraphSet) -> None:
    before = dict(estimator.get_params())
    assert estimator.fit(graphs) is estimator
    assert estimator.get_params() == before


def test_one_finite_float32_row_per_graph(fitted: Any, graphs: GraphSet) -> None:
    vectors = fitted.transform(graphs)
    assert vectors.shape == (len(graphs), fitted.n_features_out_)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


def test_same_seed_twice(estimator: Any, graphs: GraphSet) -> None:
    first = clone(estimator).fit_transform(graphs)
    np.testing.assert_array_equal(first, clone(estimator).fit_transform(graphs))
    np.testing.assert_array_equal(first, estimator.fit(graphs).transform(graphs))


def test_fitting_again_forgets_the_first_time(estimator: Any, graphs: GraphSet) -> None:
    expected = clone(estimator).fit_transform(graphs)
    estimator.fit(make_graphs(seed=5))
    np.testing.assert_array_equal(estimator.fit_transform(graphs), expected)


def test_labels_are_never_read(estimator: Any, graphs: GraphSet) -> None:
    with_classes = make_graphs(classes=True)
    expected = clone(estimator).fit_transform(graphs)
    found = clone(estimator).fit(with_classes, with_classes.classes).transform(with_classes)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(clone(estimator).fit(graphs, object()).transform(graphs), found)


def test_the_graphs_are_left_as_they_were(estimator: Any) -> None:
    graphs = make_graphs(classes=True)
    before = make_graphs(classes=True).checksum
    estimator.fit(graphs).transform(graphs)
    assert graphs.checksum == before


def test_a_row_does_not_depend_on_the_others(fitted: Any, graphs: GraphSet) -> None:
    vectors = fitted.transform(graphs)
    alone = np.concatenate([fitted.transform(graphs.take([g])) for g in range(len(graphs))])
    np.testing.assert_allclose(alone, vectors, rtol=1e-4, atol=1e-5)


def test_odd_graphs(estimator: Any, odd: GraphSet) -> None:
    assert np.isfinite(clone(estimator).fit_transform(odd)).all()
    labelled = make_graphs(labels=False)
    assert np.isfinite(estimator.fit(labelled).transform(odd)).all()


def test_transform_before_fit(estimator: Any, graphs: GraphSet, tmp_path: Path) -> None:
    for use in (
        lambda: estimator.transform(graphs),
        lambda: estimator.save(tmp_path / "m"),
        lambda: estimator.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            use()
    assert list(tmp_path.iterdir()) == []


def test_names_of_the_columns(fitted: Any, graphs: GraphSet) -> None:
    vectors = fitted.transform(graphs)
    names = fitted.get_feature_names_out()
    assert len(set(names)) == len(names) == vectors.shape[1]


def test_unseen_node_labels(fitted: Any, graphs: GraphSet) -> None:
    new = make_graphs(seed=3, node_label_names=("Br", "C", "Cl"))
    with pytest.warns(IGSDWarning, match=r"has not seen \(Br, Cl\): they count as no label"):
        assert np.isfinite(fitted.transform(new)).all()


def test_labels_missing_where_there_were_some(fitted: Any, graphs: GraphSet) -> None:
    with pytest.raises(DataError, match="'plain' has none"):
        fitted.transform(make_graphs(labels=False, name="plain"))


@pytest.mark.parametrize(
    "wrong", [[], None, 3, np.eye(3), [1, 2], "CCO", {"a": 1}, [nx.Graph()]], ids=range(8)
)
def test_things_that_are_no_graphs(fitted: Any, wrong: Any) -> None:
    with pytest.raises(DataError):
        clone(fitted).fit(wrong)
    with pytest.raises(DataError):
        fitted.transform(wrong)


def test_numbers_that_are_not_finite(estimator: Any) -> None:
    bad = [nx.path_graph(3), nx.path_graph(2)]
    for graph in bad:
        nx.set_node_attributes(graph, 1.0, "charge")
    bad[1].nodes[0]["charge"] = float("nan")
    with pytest.raises(DataError, match="node 0 of graph 1"):
        estimator.fit(bad)


def test_networkx_graphs_in_a_pipeline(estimator: Any) -> None:
    graphs = networkx_graphs()
    classes = np.arange(12) % 2
    pipeline = make_pipeline(estimator, StandardScaler(), SVC())
    assert pipeline.fit(graphs, classes).predict(graphs).shape == (12,)
    assert clone(pipeline).get_params()


def test_cross_validation_over_a_list(estimator: Any) -> None:
    pipeline = make_pipeline(estimator, StandardScaler(), SVC())
    scores = cross_val_score(
        pipeline, networkx_graphs(), np.arange(12) % 2, cv=2, error_score="raise"
    )
    assert np.isfinite(scores).all()


def test_cross_validation_over_a_set(estimator: Any) -> None:
    graphs = make_graphs(12, classes=True)
    pipeline = make_pipeline(estimator, SVC())
    scores = cross_val_score(pipeline, graphs, graphs.classes, cv=3, error_score="raise")
    assert np.isfinite(scores).all()
    name = f"{type(estimator).__name__.lower()}__degree_cap"
    search = GridSearchCV(pipeline, {name: [2, 3]}, cv=2, error_score="raise")
    assert search.fit(graphs, graphs.classes).predict(graphs[:2]).shape == (2,)
