"""``GCKN``: graph convolutional kernel networks over walks (Chen et al., 2020)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from igsd.baselines.kernels.base import KernelConfig, KernelEstimator
from igsd.baselines.kernels.patterns import inverse_root, walk_matrix
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve
from igsd.settings.fields import setting

Rows = NDArray[np.float64]

_ROUNDS = 30


def spherical_kmeans(points: Rows, num_centres: int, rng: np.random.Generator) -> Rows:
    """Return the centres [<= num_centres, d] of spherical k-means on points [n, d], unit vectors.

    Zeros are left out, and there are no more centres than different points. The start is that of
    k-means++: a next centre is drawn in proportion to 1 - cosine to the nearest centre so far.
    """
    reserve(16.0 * len(points) * (num_centres + points.shape[1]), "the samples of k-means")
    length = np.linalg.norm(points, axis=1, keepdims=True)
    unit = (points / np.where(length > 0, length, 1.0))[length[:, 0] > 0]
    if not len(unit):
        return np.eye(1, points.shape[1])
    centres = _start(unit, num_centres, rng)
    nearest = np.full(len(unit), -1)
    for _ in range(_ROUNDS):
        check_time("k-means")
        found = (unit @ centres.T).argmax(axis=1)
        if np.array_equal(found, nearest):
            break
        nearest = found
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, unit)
        size = np.linalg.norm(sums, axis=1, keepdims=True)
        # A centre that lost all its points stays where it was.
        centres = np.where(size > 0, sums / np.where(size > 0, size, 1.0), centres)
    return centres


def _start(unit: Rows, num_centres: int, rng: np.random.Generator) -> Rows:
    """Return points far from each other, as first centres."""
    chosen = [int(rng.integers(len(unit)))]
    distance = 1 - unit @ unit[chosen[0]]
    while len(chosen) < num_centres:
        distance = np.where(distance > 1e-9, distance, 0.0)
        if not distance.any():
            break
        chosen.append(int(rng.choice(len(unit), p=distance / distance.sum())))
        distance = np.minimum(distance, 1 - unit @ unit[chosen[-1]])
    return unit[chosen]


class GCKNConfig(KernelConfig):
    """The settings of GCKN."""

    steps: int = setting(3, "method", "length of a walk", low=1, high=1000)
    num_anchors: int = setting(
        64, "method", "points that a layer is projected on", low=1, high=65_536
    )
    alpha: float = setting(4.0, "method", "1 / sigma^2 of both kernels", above=0)
    pooling: str = setting("sum", "method", "of walks and of nodes", choices=("sum", "mean"))
    num_samples: int = setting(20_000, "method", "walks and nodes that anchors come from", low=1)


@settings_as_parameters(GCKNConfig)
class GCKN(KernelEstimator):
    """Compares graphs by the walks that start at each node, and by the trees that these walks form.

    Three layers, each pooled over the nodes of a graph. Layer 0: labels (or degrees), one-hot.
    Layer 1: the walks of ``steps`` steps from a node, compared by the kernel exp(alpha (<p, p'> -
    1)) of their labels in turn and summed. Layer 2: the same kernel on the layer 1 features of a
    node, which describe the tree of its walks. Both kernels are projected on ``num_anchors`` points
    (Nystrom), found by spherical k-means on samples of ``fit``. Departs from the paper: walks
    instead of paths, so that the sum over all walks of a node is a few sparse products instead of
    an enumeration. ``pooling`` is that of the walks of a node and of the nodes of a graph.
    """

    def _fit(self, graphs: GraphSet) -> None:
        s, state = self.config_, self.state_
        rng = np.random.default_rng(s.seed)
        labels = self._node_labels(graphs, learn=True)
        walks = sample_walks(graphs, s.steps, s.num_samples, rng)
        reserve(16.0 * walks.size * labels.shape[1], f"the labels of {len(walks)} walks")
        on_walks = labels[walks.ravel()].toarray().reshape(len(walks), -1)
        state["walk_anchors"] = spherical_kmeans(on_walks, s.num_anchors, rng)
        features = self._walk_layer(graphs, labels)
        chosen = rng.permutation(len(features))[: s.num_samples]
        state["tree_anchors"] = spherical_kmeans(features[chosen], s.num_anchors, rng)

    def _represent(self, graphs: GraphSet) -> Rows:
        labels, n = self._node_labels(graphs), graphs.num_nodes
        walks = self._walk_layer(graphs, labels)
        entries = (np.ones(n), np.arange(n), graphs.node_ptr)
        pool = sparse.csr_array(entries, shape=(len(graphs), n))
        parts = [(pool @ labels).toarray(), pool @ walks, pool @ self._tree_layer(walks)]
        pooled = np.concatenate(parts, axis=1)
        if self.config_.pooling == "mean":
            pooled /= graphs.node_counts()[:, None]
        return pooled

    def _walk_layer(self, graphs: GraphSet, labels: Any) -> Rows:
        """Return the layer 1 features of every node, [N, q], from its labels [N, l]."""
        s, Z = self.config_, self.state_["walk_anchors"]
        reserve(32.0 * graphs.num_nodes * len(Z), "the walks of all nodes")
        A = walk_matrix(graphs)
        per_step = Z.reshape(len(Z), s.steps + 1, -1) * s.alpha / np.sqrt(s.steps + 1)
        similar = np.exp(labels @ per_step[:, -1].T)
        count = np.ones(graphs.num_nodes)
        # Backwards: the walks from a node are its own step in front of those of its neighbours.
        for step in range(s.steps - 1, -1, -1):
            check_time("GCKN")
            similar = np.exp(labels @ per_step[:, step].T) * (A @ similar)
            count = A @ count
        if s.pooling == "mean":
            similar /= count[:, None]
        return similar * np.exp(-s.alpha) @ inverse_root(np.exp(s.alpha * (Z @ Z.T - 1)))

    def _tree_layer(self, walks: Rows) -> Rows:
        """Return the layer 2 features of every node, [N, q], from those of layer 1."""
        alpha, Z = self.config_.alpha, self.state_["tree_anchors"]
        length = np.linalg.norm(walks, axis=1, keepdims=True)
        direction = walks / np.where(length > 0, length, 1.0)
        similar = length * np.exp(alpha * (direction @ Z.T - 1))
        return similar @ inverse_root(np.exp(alpha * (Z @ Z.T - 1)))

    @property
    def n_features_out_(self) -> int:
        """Width of the three layers together."""
        return sum(len(self.state_[name]) for name in ("keys", "walk_anchors", "tree_anchors"))


def sample_walks(
    graphs: GraphSet, steps: int, count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return nodes of ``count`` random walks, [count, steps + 1], from nodes drawn at random."""
    A = walk_matrix(graphs)
    walks = np.empty((count, steps + 1), dtype=np.int64)
    walks[:, 0] = rng.integers(graphs.num_nodes, size=count)
    for step in range(steps):
        first, last = A.indptr[walks[:, step]], A.indptr[walks[:, step] + 1]
        entry = first + (rng.random(count) * (last - first)).astype(np.int64)
        walks[:, step + 1] = A.indices[entry]
    return walks
