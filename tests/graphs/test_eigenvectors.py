from __future__ import annotations

import numpy as np

from igsd.graphs.eigenvectors import structural_vectors
from tests.reference.views import dense
from tests.small_graphs import from_matrix, make_graphs, odd_graphs


def test_a_star() -> None:
    # Largest eigenvalue 1: the roots of the degrees.
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    vectors = structural_vectors(from_matrix(star, weighted=False), np.array([0, 4]), 1)
    np.testing.assert_allclose(vectors, 1.0)
    two = structural_vectors(from_matrix(star, weighted=False), np.array([0, 4]), 4)
    assert two.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(two, axis=1), 1.0, rtol=1e-6)


def test_equals_the_decomposition_of_each_graph() -> None:
    graphs = make_graphs()
    vectors = structural_vectors(graphs.adjacency, graphs.node_ptr, 5)
    for g in range(len(graphs)):
        A = dense(graphs.adjacency, graphs.node_ptr, g)
        scale = 1 / np.sqrt(np.maximum(A.sum(axis=1), 1))
        values, U = np.linalg.eigh(scale[:, None] * A * scale)
        own = vectors[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        width = min(5, len(A))
        expected = np.abs(U[:, np.argsort(-values)[:width]])
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert not own[:, width:].any()
        # Eigenvectors of one eigenvalue may be turned; the others must be the same.
        largest = np.sort(values)[::-1]
        apart = np.abs(largest[:, None] - largest) > 1e-6
        single = (apart | np.eye(len(A), dtype=bool)).all(axis=1)[:width]
        if single.all():
            np.testing.assert_allclose(own[:, :width], expected, atol=1e-5)


def test_does_not_depend_on_the_other_graphs() -> None:
    graphs = make_graphs()
    together = structural_vectors(graphs.adjacency, graphs.node_ptr, 4)
    for g in range(len(graphs)):
        one = graphs.take([g])
        alone = structural_vectors(one.adjacency, one.node_ptr, 4)
        np.testing.assert_array_equal(alone, together[graphs.node_ptr[g] : graphs.node_ptr[g + 1]])


def test_odd_graphs_are_finite() -> None:
    odd = odd_graphs()
    assert np.isfinite(structural_vectors(odd.adjacency, odd.node_ptr, 3)).all()
