from __future__ import annotations

import numpy as np

from igsd.baselines.kernels.gckn import GCKN, sample_walks, spherical_kmeans
from igsd.baselines.kernels.patterns import inverse_root, one_hot
from igsd.graphs.colours import node_keys
from igsd.graphs.graphset import GraphSet
from tests.reference.grakel_graphs import adjacency_matrices
from tests.small_graphs import make_graphs


def test_finds_directions_whatever_the_lengths() -> None:
    rng = np.random.default_rng(1)
    directions = np.eye(3)
    points = directions[rng.integers(3, size=200)] * rng.uniform(0.1, 9, (200, 1))
    points += 0.01 * rng.normal(size=points.shape)
    centres = spherical_kmeans(points, 3, np.random.default_rng(0))
    similar = np.sort(centres @ directions.T, axis=1)
    assert similar[:, -1].min() > 0.99
    assert len(set((centres @ directions.T).argmax(axis=1))) == 3


def test_fewer_points_than_centres() -> None:
    points = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    centres = spherical_kmeans(points, 10, np.random.default_rng(0))
    assert sorted(centres.tolist()) == [[0.0, 1.0], [1.0, 0.0]]


def test_nothing_but_zeros() -> None:
    assert spherical_kmeans(np.zeros((3, 2)), 4, np.random.default_rng(0)).tolist() == [[1.0, 0.0]]


def walks_from(A: np.ndarray, node: int, steps: int) -> list[list[int]]:
    """Return every walk of so many steps from a node; one without neighbours stays."""
    if steps == 0:
        return [[node]]
    around = np.flatnonzero(A[node]) if A[node].any() else [node]
    return [[node, *rest] for v in around for rest in walks_from(A, v, steps - 1)]


def labels_of(model: GCKN, graphs: GraphSet) -> np.ndarray:
    return one_hot(node_keys(graphs, "label"), model.state_["keys"].view(np.uint64)).toarray()


def test_walk_layer_equals_enumeration() -> None:
    graphs = make_graphs(5, seed=2)
    model = GCKN(steps=2, num_anchors=5, num_samples=50, alpha=1.5).fit(graphs)
    labels, Z = labels_of(model, graphs), model.state_["walk_anchors"]
    found = model._walk_layer(graphs, labels)
    root = inverse_root(np.exp(1.5 * (Z @ Z.T - 1)))
    for g, A in enumerate(adjacency_matrices(graphs)):
        start = graphs.node_ptr[g]
        for node in range(len(A)):
            total = np.zeros(len(Z))
            for walk in walks_from(A, node, 2):
                path = np.concatenate([labels[start + v] for v in walk]) / np.sqrt(3)
                total += np.exp(1.5 * (Z @ path - 1))
            np.testing.assert_allclose(found[start + node], total @ root, rtol=1e-8)


def test_anchors_are_unit_vectors() -> None:
    model = GCKN(num_anchors=6, num_samples=100).fit(make_graphs())
    for name in ("walk_anchors", "tree_anchors"):
        np.testing.assert_allclose(np.linalg.norm(model.state_[name], axis=1), 1.0)


def test_nystrom_is_exact_at_the_anchors() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(4, 3))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    K = np.exp(Z @ Z.T - 1)
    coordinates = K @ inverse_root(K)
    np.testing.assert_allclose(coordinates @ coordinates.T, K, rtol=1e-6)


def test_sampled_walks_follow_edges() -> None:
    graphs = make_graphs(6, seed=1)
    walks = sample_walks(graphs, 3, 200, np.random.default_rng(0))
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    edges = set(zip(graphs.adjacency.rows().tolist(), columns.tolist(), strict=True))
    alone = np.flatnonzero(graphs.adjacency.degrees() == 0)
    edges |= {(int(v), int(v)) for v in alone}
    for u, v in zip(walks[:, :-1].ravel().tolist(), walks[:, 1:].ravel().tolist(), strict=True):
        assert (u, v) in edges


def test_sum_and_mean() -> None:
    graphs = make_graphs(4)
    summed = GCKN(num_anchors=4, normalise=False, num_samples=50).fit(graphs)
    mean = GCKN(num_anchors=4, normalise=False, num_samples=50, pooling="mean").fit(graphs)
    labels = len(summed.state_["keys"])
    counts = graphs.node_counts()[:, None]
    np.testing.assert_allclose(
        mean.transform(graphs)[:, :labels] * counts, summed.transform(graphs)[:, :labels], rtol=1e-6
    )
