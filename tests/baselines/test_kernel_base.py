from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from igsd.baselines.kernel_base import KernelConfig, VectorKernel
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


@settings_as_parameters(KernelConfig)
class SizeKernel(VectorKernel):
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
