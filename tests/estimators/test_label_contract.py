"""One contract for every estimator that learns from few labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from igsd.errors import ConfigError, DataError, IGSDWarning, StorageError
from igsd.files.arrays import read_arrays, write_arrays
from igsd.graphs.graphset import GraphSet
from tests.estimators.contract import SHARED_CHECKS
from tests.estimators.few_labels import (
    CLASSIFIERS,
    REGRESSORS,
    few_graphs,
    some_classes,
    some_numbers,
)
from tests.small_graphs import make_graphs, odd_graphs

ESTIMATORS = {f"{name} classes": made for name, made in CLASSIFIERS.items()}
ESTIMATORS |= {f"{name} numbers": made for name, made in REGRESSORS.items()}


def labels_for(estimator: Any, graphs: GraphSet) -> Any:
    return some_classes(graphs) if is_classifier(estimator) else some_numbers(graphs)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return few_graphs()


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS)
def fitted(request: pytest.FixtureRequest, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    estimator = request.param()
    return estimator.fit(graphs, labels_for(estimator, graphs))


class TestContract:
    @pytest.mark.parametrize("check", SHARED_CHECKS, ids=lambda check: check.__name__)
    def test_checks_of_sklearn(self, estimator: BaseEstimator, check: Callable) -> None:
        check(type(estimator).__name__, estimator)

    def test_it_is_one_or_the_other(self, estimator: Any) -> None:
        assert is_classifier(estimator) != is_regressor(estimator)

    def test_fit_returns_self_and_changes_no_parameter(
        self, estimator: Any, graphs: GraphSet
    ) -> None:
        before, checksum = dict(estimator.get_params()), graphs.checksum
        assert estimator.fit(graphs, labels_for(estimator, graphs)) is estimator
        assert estimator.get_params() == before
        assert graphs.checksum == checksum

    def test_same_seed_twice(self, fitted: Any, graphs: GraphSet) -> None:
        again = clone(fitted).fit(graphs, labels_for(fitted, graphs))
        np.testing.assert_array_equal(again.transform(graphs), fitted.transform(graphs))
        np.testing.assert_array_equal(again.predict(graphs), fitted.predict(graphs))

    def test_another_seed(self, fitted: Any, graphs: GraphSet) -> None:
        other = clone(fitted).set_params(random_state=7).fit(graphs, labels_for(fitted, graphs))
        assert not np.array_equal(other.transform(graphs), fitted.transform(graphs))

    def test_one_finite_float32_row_per_graph(self, fitted: Any, graphs: GraphSet) -> None:
        vectors = fitted.transform(graphs)
        assert vectors.shape == (len(graphs), fitted.n_features_out_)
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()
        assert len(fitted.get_feature_names_out()) == vectors.shape[1]

    def test_a_prediction_does_not_depend_on_the_others(
        self, fitted: Any, graphs: GraphSet
    ) -> None:
        alone = np.concatenate([fitted._outputs(graphs.take([g])) for g in range(len(graphs))])
        np.testing.assert_allclose(alone, fitted._outputs(graphs), rtol=1e-4, atol=1e-4)

    def test_graphs_never_seen(self, fitted: Any) -> None:
        new = make_graphs(5, seed=8, node_label_names=("Br", "C", "Cl"))
        with pytest.warns(IGSDWarning, match="Br"):
            assert len(fitted.predict(new)) == 5

    def test_odd_graphs(self, estimator: Any) -> None:
        odd = odd_graphs()
        y = ["a", "b", "a", "b"] if is_classifier(estimator) else [1.0, 2.0, 1.5, np.nan]
        estimator.fit(odd, y)
        assert np.isfinite(estimator._outputs(odd)).all()

    def test_not_fitted(self, estimator: Any, graphs: GraphSet, tmp_path: Path) -> None:
        y = labels_for(estimator, graphs)
        for use in (
            lambda: estimator.predict(graphs),
            lambda: estimator.transform(graphs),
            lambda: estimator.score(graphs, y),
            lambda: estimator.save(tmp_path / "m"),
        ):
            with pytest.raises(NotFittedError):
                use()

    def test_labels_are_needed(self, estimator: Any, graphs: GraphSet) -> None:
        with pytest.raises(DataError, match=r"needs (labels|targets)"):
            estimator.fit(graphs)

    def test_another_length(self, estimator: Any, graphs: GraphSet) -> None:
        y = labels_for(estimator, graphs)[:-1]
        with pytest.raises(DataError, match=r"Got 11.* for 12 graphs"):
            estimator.fit(graphs, y)

    def test_wrong_settings_are_told_at_fit(self, estimator: Any, graphs: GraphSet) -> None:
        y = labels_for(estimator, graphs)
        with pytest.raises(ConfigError, match="'epochs'"):
            estimator.set_params(epochs=-1).fit(graphs, y)
        with pytest.raises(ConfigError, match="'random_state'"):
            estimator.set_params(epochs=1, random_state=-1).fit(graphs, y)

    def test_unknown_parameters(self, estimator: Any) -> None:
        with pytest.raises(TypeError, match="nonsense"):
            type(estimator)(nonsense=1)

    def test_all_graphs_may_have_labels(self, estimator: Any, graphs: GraphSet) -> None:
        y: Any = np.arange(12) % 2 if is_classifier(estimator) else np.arange(12.0)
        estimator.fit(graphs, y)
        assert np.isfinite(estimator.score(graphs, y))

    def test_nothing_trained(self, estimator: Any, graphs: GraphSet) -> None:
        estimator.set_params(epochs=0).fit(graphs, labels_for(estimator, graphs))
        assert estimator.history_ == []
        assert len(estimator.predict(graphs)) == 12

    def test_watched_graphs_change_nothing(self, fitted: Any, graphs: GraphSet) -> None:
        y = labels_for(fitted, graphs)
        again = clone(fitted).fit(graphs, y, eval_set=(graphs.take([0, 2, 4]), y[:6:2]))
        np.testing.assert_array_equal(again.transform(graphs), fitted.transform(graphs))
        name = "eval_accuracy" if is_classifier(fitted) else "eval_mae"
        assert all(name in entry for entry in again.history_)


class TestFiles:
    def test_loaded_predictions_are_bit_equal(self, fitted: Any, tmp_path: Path) -> None:
        new = make_graphs(seed=9)
        fitted.save(tmp_path / "m")
        loaded = type(fitted).load(tmp_path / "m")
        np.testing.assert_array_equal(loaded.predict(new), fitted.predict(new))
        np.testing.assert_array_equal(loaded._outputs(new), fitted._outputs(new))
        np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
        assert loaded.config_ == fitted.config_
        assert loaded.history_ == fitted.history_
        assert loaded.pretraining_history_ == fitted.pretraining_history_
        assert loaded.pseudo_labels_.graphs.tolist() == fitted.pseudo_labels_.graphs.tolist()

    def test_saved_again_gives_the_same_file(self, fitted: Any, tmp_path: Path) -> None:
        fitted.save(tmp_path / "a")
        type(fitted).load(tmp_path / "a").save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_another_estimators_model(self, fitted: Any, tmp_path: Path) -> None:
        fitted.save(tmp_path / "m")
        arrays, header = read_arrays(tmp_path / "m", "model")
        copies = {name: np.array(array) for name, array in arrays.items()}
        write_arrays(tmp_path / "m", copies, header | {"estimator": "Another"})
        with pytest.raises(StorageError, match="Another"):
            type(fitted).load(tmp_path / "m")

    @pytest.mark.parametrize("key", ["config", "features", "labels", "history"])
    def test_damaged_headers(self, fitted: Any, tmp_path: Path, key: str) -> None:
        fitted.save(tmp_path / "m")
        arrays, header = read_arrays(tmp_path / "m", "model")
        copies = {name: np.array(array) for name, array in arrays.items()}
        del header[key]
        write_arrays(tmp_path / "m", copies, header)
        with pytest.raises(StorageError, match=key):
            type(fitted).load(tmp_path / "m")
