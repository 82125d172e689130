from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from igsd.baselines.shallow import ShallowConfig, ShallowEstimator
from igsd.errors import ConfigError, IGSDWarning, StorageError
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.settings import setting
from tests.small_graphs import make_graphs


@dataclass(frozen=True)
class NodeCountConfig(ShallowConfig):
    """One setting."""

    factor: int = setting(1, "method", "what counts are multiplied with", low=0)


@settings_as_parameters(NodeCountConfig)
class NodeCount(ShallowEstimator):
    """The number of nodes, times a factor, less the mean over the graphs of ``fit``."""

    def _fit(self, graphs: GraphSet) -> None:
        assert graphs.classes is None
        self.state_ |= {"mean": graphs.node_counts().mean(keepdims=True), "kind": "nodes"}
        self.notes_ = ("counted",)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        counts = graphs.node_counts()[:, None]
        return self.config_.factor * (counts - self.state_["mean"])

    @property
    def n_features_out_(self) -> int:
        return 1


def test_fitted_saved_and_loaded(graphs: GraphSet, tmp_path: Path) -> None:
    model = NodeCount(factor=2).fit(make_graphs(classes=True))
    vectors = model.transform(graphs)
    counts = graphs.node_counts()
    np.testing.assert_allclose(vectors[:, 0], 2 * (counts - counts.mean()), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert model.get_feature_names_out().tolist() == ["nodecount0"]
    model.set_params(factor=9).save(tmp_path / "m")  # waits for the next fit
    loaded = NodeCount.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)
    assert (loaded.factor, loaded.notes_, loaded.state_["kind"]) == (2, ("counted",), "nodes")


def test_wrong_use(graphs: GraphSet, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        NodeCount().transform(graphs)
    with pytest.raises(ConfigError, match="'factor' parameter of NodeCount must be"):
        NodeCount(factor=-1).fit(graphs)
    with pytest.raises(ConfigError, match="'random_state' parameter of NodeCount"):
        NodeCount(random_state=-1).fit(graphs)

    class Other(NodeCount):
        """Another class."""

    Other().fit(graphs).save(tmp_path / "m")
    with pytest.raises(StorageError, match="holds a model of Other, not of NodeCount"):
        NodeCount.load(tmp_path / "m")


def test_half_a_fit_is_none(graphs: GraphSet) -> None:
    class Fails(NodeCount):
        """Does not come to an end where ``factor`` is 3."""

        def _fit(self, graphs: GraphSet) -> None:
            super()._fit(graphs)
            if self.config_.factor == 3:
                raise MemoryError

    model = Fails().fit(graphs)
    with pytest.raises(MemoryError):
        model.set_params(factor=3).fit(graphs)
    with pytest.raises(NotFittedError):
        model.transform(graphs)


def test_toml_names_the_rule_of_each_setting() -> None:
    text = NodeCountConfig(factor=3).to_toml()
    assert "# The method\nfactor = 3  # what counts are multiplied with\n" in text


def test_vectors_of_zeros_are_told(graphs: GraphSet) -> None:
    with pytest.warns(IGSDWarning, match="all its vectors are zero"):
        NodeCount(factor=0).fit(graphs).transform(graphs)
