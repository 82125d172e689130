from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from igsd.baselines.setting_rules import Rule
from igsd.baselines.shallow import ShallowEstimator
from igsd.errors import ConfigError, IGSDWarning, StorageError
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


class NodeCount(ShallowEstimator):
    """The number of nodes, times a factor, less the mean over the graphs of ``fit``."""

    RULES: ClassVar = {"factor": Rule(int, minimum=0)}
    COLUMN = "count"

    def __init__(self, factor: int = 1, random_state: Any = 0) -> None:
        self.factor = factor
        self.random_state = random_state

    def _fit(self, graphs: GraphSet) -> None:
        assert graphs.classes is None
        self.state_ |= {"mean": graphs.node_counts().mean(keepdims=True), "kind": "nodes"}
        self.notes_ = ("counted",)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        counts = graphs.node_counts()[:, None]
        return self.settings_.factor * (counts - self.state_["mean"])

    def _width(self) -> int:
        return 1


def test_fitted_saved_and_loaded(graphs: GraphSet, tmp_path: Path) -> None:
    model = NodeCount(factor=2).fit(make_graphs(classes=True))
    vectors = model.transform(graphs)
    counts = graphs.node_counts()
    np.testing.assert_allclose(vectors[:, 0], 2 * (counts - counts.mean()), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert model.get_feature_names_out().tolist() == ["count0"]
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
    with pytest.raises(StorageError, match="holds a Other model, but no NodeCount"):
        NodeCount.load(tmp_path / "m")


def test_vectors_of_zeros_are_told(graphs: GraphSet) -> None:
    with pytest.warns(IGSDWarning, match="all its vectors are zero"):
        NodeCount(factor=0).fit(graphs).transform(graphs)
