"""One contract for every method of the registry, whatever it is made of."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd.baselines.registry import METHODS, has_kernel, load, make_method
from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from tests.estimators.contract import SKLEARN_CHECKS, networkx_graphs
from tests.small_graphs import TINY, make_graphs

SMALL: dict[str, dict[str, Any]] = {
    "graph2vec": {"dim": 8, "epochs": 5, "min_count": 1},
    "deep-graph-kernel": {"dim": 4},
    "mlg": {"levels": 2, "num_samples": 10, "dim": 4},
    "gckn": {"num_anchors": 6, "num_samples": 100},
}
"""What makes a method small enough for a test; those that train get ``TINY``."""

LEARNED = ("igsd", "infograph", "mvgrl", "graphcl", "gcc", "barlow", "byol", "untrained")


def small(name: str) -> Any:
    """Return an unfitted estimator of the method, as small as it gets."""
    module = METHODS[name].path.split(":")[0]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not there yet")
    settings = SMALL.get(name, {})
    if name in LEARNED:
        known = inspect.signature(METHODS[name].estimator().__init__).parameters
        settings = {key: value for key, value in (TINY | {"epochs": 1}).items() if key in known}
        settings |= dict(METHODS[name].settings)
    return make_method(name, **settings)


@pytest.fixture(scope="module", params=METHODS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fitted(name: str, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    return small(name).fit(graphs)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    """Degrees in place of labels, and labels never seen, are said; other tests look at that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)
        yield


def test_checks_of_sklearn(name: str) -> None:
    for check in SKLEARN_CHECKS:
        estimator = small(name)
        check(type(estimator).__name__, estimator)


def test_one_finite_float32_row_per_graph(fitted: Any, graphs: GraphSet) -> None:
    vectors = fitted.transform(graphs)
    assert vectors.shape == (len(graphs), fitted.n_features_out_)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    names = fitted.get_feature_names_out()
    assert len(set(names)) == len(names) == vectors.shape[1]


def test_same_seed_same_numbers_and_labels_are_never_read(
    name: str, fitted: Any, graphs: GraphSet
) -> None:
    labelled = make_graphs(classes=True)
    before = labelled.checksum
    again = small(name)
    parameters = dict(again.get_params())
    assert again.fit(labelled, labelled.classes) is again
    np.testing.assert_array_equal(again.transform(labelled), fitted.transform(graphs))
    assert again.get_params() == parameters
    assert labelled.checksum == before


def test_a_method_that_draws_nothing_has_no_use_for_a_seed(
    name: str, fitted: Any, graphs: GraphSet
) -> None:
    if METHODS[name].draws:
        pytest.skip("draws something")
    other = small(name).set_params(random_state=7).fit(graphs)
    np.testing.assert_array_equal(other.transform(graphs), fitted.transform(graphs))


def test_a_row_does_not_depend_on_the_others(fitted: Any) -> None:
    new = make_graphs(4, seed=3)
    alone = np.concatenate([fitted.transform(new.take([g])) for g in range(len(new))])
    np.testing.assert_allclose(alone, fitted.transform(new), rtol=1e-4, atol=1e-5)


def test_odd_graphs_and_graphs_without_labels(name: str, odd: GraphSet) -> None:
    estimator = small(name)
    assert np.isfinite(estimator.fit_transform(odd)).all()
    estimator.fit(make_graphs(labels=False))
    assert np.isfinite(estimator.transform(odd)).all()


def test_unseen_labels(fitted: Any) -> None:
    new = make_graphs(seed=3, node_label_names=("Br", "C", "Cl"))
    assert np.isfinite(fitted.transform(new)).all()


def test_before_fit(name: str, graphs: GraphSet, tmp_path: Path) -> None:
    estimator = small(name)
    uses = [estimator.transform] + ([estimator.kernel] if has_kernel(estimator) else [])
    for use in uses:
        with pytest.raises(NotFittedError):
            use(graphs)
    with pytest.raises(NotFittedError):
        estimator.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [[], None, np.eye(3), "CCO"], ids=range(4))
def test_things_that_are_no_graphs(fitted: Any, wrong: Any) -> None:
    for use in (clone(fitted).fit, fitted.transform):
        with pytest.raises(DataError):
            use(wrong)


def test_networkx_graphs_in_a_pipeline(name: str) -> None:
    pipeline = make_pipeline(small(name), StandardScaler(), SVC())
    made, classes = networkx_graphs(), np.arange(12) % 2
    assert pipeline.fit(made, classes).predict(made).shape == (12,)


def test_saved_and_loaded(fitted: Any, tmp_path: Path) -> None:
    new, path = make_graphs(seed=9), tmp_path / "a model.pkl"
    fitted.save(path)
    assert list(tmp_path.iterdir()) == [path]
    for loaded in (type(fitted).load(path), load(path)):
        assert type(loaded) is type(fitted)
        np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
        assert loaded.get_params() == fitted.get_params()
        if has_kernel(fitted):
            np.testing.assert_array_equal(loaded.kernel(new), fitted.kernel(new))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_files_that_are_no_model_of_it(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted.save(path)
    whole = path.read_bytes()
    arrays, header = read_arrays(path, "model")
    copies = {key: np.array(array) for key, array in arrays.items()}
    for share in (0.0, 0.5, 0.999):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(StorageError):
            type(fitted).load(path)
    for change in ({"version": 99}, {"estimator": "Unknown"}):
        write_arrays(path, copies, header | change)
        with pytest.raises(StorageError):
            type(fitted).load(path)
    graphs.save(path)
    with pytest.raises(StorageError, match="model was expected"):
        type(fitted).load(path)
    with pytest.raises(StorageError):
        type(fitted).load(tmp_path / "nothing")


class TestKernels:
    @pytest.fixture(autouse=True)
    def _only_kernels(self, fitted: Any) -> None:
        if not has_kernel(fitted):
            pytest.skip("has features only")

    def test_symmetric_and_positive(self, fitted: Any, graphs: GraphSet) -> None:
        K = fitted.kernel(graphs)
        assert K.shape == (len(graphs), len(graphs))
        np.testing.assert_allclose(K, K.T, rtol=1e-10)
        # A graph in which a method finds nothing, e.g. no path at all, has 0 with every graph.
        empty = ~K.any(axis=1)
        np.testing.assert_allclose(np.diag(K), np.where(empty, 0.0, 1.0), rtol=1e-10)
        assert empty.mean() < 0.5
        assert np.linalg.eigvalsh(K).min() > -1e-9

    def test_rows_of_unseen_graphs_equal_the_full_matrix(self, fitted: Any) -> None:
        new = make_graphs(8, seed=4)
        K = fitted.kernel(new)
        rows = fitted.kernel(new.take([1, 5]), new)
        np.testing.assert_allclose(rows, K[[1, 5]], rtol=1e-9, atol=1e-12)

    def test_fitted_on_some_as_on_all(self, name: str, fitted: Any, graphs: GraphSet) -> None:
        if name in ("mlg", "gckn", "deep-graph-kernel"):
            pytest.skip("learns from the graphs of fit what two graphs are compared by")
        part = small(name).fit(graphs.take(range(5)))
        np.testing.assert_array_equal(part.kernel(graphs), fitted.kernel(graphs))

    def test_is_the_product_of_the_features(self, name: str, fitted: Any, graphs: GraphSet) -> None:
        if name == "mlg":
            pytest.skip("has no explicit map")
        vectors = fitted.transform(graphs).astype(np.float64)
        np.testing.assert_allclose(vectors @ vectors.T, fitted.kernel(graphs), atol=1e-6)
