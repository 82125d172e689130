from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from igsd.baselines.kernels.base import KernelConfig, KernelEstimator, ShallowEstimator
from igsd.errors import ConfigError, IGSDWarning, StorageError
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting
from tests.small_graphs import make_graphs


class NodeCountConfig(Settings):
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


@settings_as_parameters(KernelConfig)
class SizeKernel(KernelEstimator):
    """Compares graphs by (nodes, entries); a graph without edges has no pattern at all."""

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["width"] = 2

    def _represent(self, graphs: GraphSet) -> np.ndarray:
        entries = np.diff(graphs.adjacency.row_ptr[graphs.node_ptr])
        return np.stack([np.where(entries > 0, graphs.node_counts(), 0), entries], 1).astype(float)

    @property
    def n_features_out_(self) -> int:
        return 2


def test_the_kernel_is_the_product_of_the_vectors(graphs: GraphSet) -> None:
    new = make_graphs(4, seed=3)
    plain = SizeKernel(normalise=False).fit(graphs)
    a, b = plain._represent(graphs), plain._represent(new)
    np.testing.assert_allclose(plain.kernel(graphs), a @ a.T)
    np.testing.assert_allclose(plain.kernel(new, graphs), b @ a.T)
    np.testing.assert_allclose(plain.transform(new), b, rtol=1e-6)


def test_normalised_graphs_are_equal_to_themselves(graphs: GraphSet) -> None:
    made = SizeKernel().fit(graphs)
    K, new = made.kernel(graphs), make_graphs(4, seed=3)
    has_edges = made._represent(graphs).any(axis=1)
    np.testing.assert_allclose(np.diag(K), has_edges)
    np.testing.assert_allclose(K, K.T)
    rows, columns = made.transform(new), made.transform(graphs)
    np.testing.assert_allclose(made.kernel(new, graphs), rows @ columns.T, rtol=1e-5)


def test_a_graph_without_patterns_is_like_no_other(odd: GraphSet) -> None:
    K = SizeKernel().fit(odd).kernel(odd)
    empty = np.diff(odd.adjacency.row_ptr[odd.node_ptr]) == 0
    assert empty.any()
    assert np.isfinite(K).all()
    assert not K[empty].any()


def test_before_fit(graphs: GraphSet) -> None:
    with pytest.raises(NotFittedError):
        SizeKernel().kernel(graphs)
