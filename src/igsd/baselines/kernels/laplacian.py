"""``MultiscaleLaplacian``: graphs as Gaussians, compared by their overlap (Kondor and Pan, 2016).

A graph with Laplacian L and node features U [n, d] is the Gaussian with covariance
S = U' (L + eta I)^-1 U + gamma I. The kernel of two is the overlap (Bhattacharyya)
|(S1^-1 + S2^-1) / 2|^(-1/2) / (|S1| |S2|)^(1/4), which is 1 for equal graphs. GraKeL omits the
division by 2, which multiplies every value by 2^(-d/2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from igsd.baselines.kernels.base import KernelConfig, KernelEstimator
from igsd.baselines.kernels.graphlet import dense_adjacency
from igsd.baselines.kernels.patterns import feature_basis
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve
from igsd.settings.fields import setting

_BLOCK = 200_000

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gaussians:
    """Covariances of Gaussians: ``inverse`` [n, d, d], and ``log_volume`` [n], log |S|."""

    inverse: Array
    log_volume: Array

    def __len__(self) -> int:
        return len(self.inverse)

    def take(self, rows: np.ndarray) -> "Gaussians":
        """Return some of them."""
        return Gaussians(self.inverse[rows], self.log_volume[rows])


def graph_gaussians(graphs: GraphSet, features: Array, eta: float, gamma: float) -> Gaussians:
    """Return the Gaussian of each whole graph; ``features`` [N, d] are its nodes' features."""
    pairs = ((dense_adjacency(graphs, g), _nodes(graphs, features, g)) for g in range(len(graphs)))
    S = [_covariances(A, U, np.ones((1, len(A))), eta) for A, U in pairs]
    return _gaussians(np.concatenate(S), gamma)


def neighbourhood_gaussians(
    graphs: GraphSet, features: Array, radius: int, eta: float, gamma: float
) -> Gaussians:
    """Return the Gaussian of the subgraph within ``radius`` steps of each node, [N] of them."""
    d = features.shape[1]
    reserve(24.0 * graphs.num_nodes * d * d, f"{graphs.num_nodes} covariances of {d} features")
    S = np.empty((graphs.num_nodes, d, d))
    for g in range(len(graphs)):
        check_time("the multiscale Laplacian kernel")
        A, U = dense_adjacency(graphs, g), _nodes(graphs, features, g)
        # Nodes with the same neighbourhood, e.g. all of a clique, are solved once.
        masks, node = np.unique(_within(A, radius), axis=0, return_inverse=True)
        _nodes(graphs, S, g)[:] = _covariances(A, U, masks, eta)[node.ravel()]
    return _gaussians(S, gamma)


def overlaps(a: Gaussians, b: Gaussians | None = None) -> Array:
    """Return the overlap of every Gaussian of ``a`` with every one of ``b`` (of ``a``), [n, m]."""
    other = a if b is None else b
    n, m, d = len(a), len(other), a.inverse.shape[1]
    K = np.empty((n, m))
    for i in range(0, n, step := max(1, _BLOCK // max(1, m * d * d // 16))):
        check_time("the multiscale Laplacian kernel")
        rows = slice(i, i + step)
        # The matrix is symmetric: what is left of the diagonal block is already known.
        first = i if b is None else 0
        middle = (a.inverse[rows, None] + other.inverse[None, first:]) / 2
        log_volume = np.linalg.slogdet(middle)[1]
        scale = a.log_volume[rows, None] + other.log_volume[None, first:]
        K[rows, first:] = np.exp(-log_volume / 2 - scale / 4)
        if b is None:
            K[first:, rows] = K[rows, first:].T
    return K


def _nodes(graphs: GraphSet, features: Array, g: int) -> Array:
    return features[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]


def _within(A: Array, radius: int) -> Array:
    """Return 1 where two nodes are at most ``radius`` steps apart, [n, n]."""
    step = reached = A + np.eye(len(A))
    for _ in range(radius - 1):
        reached = np.minimum(reached @ step, 1.0)
    return reached


def _covariances(A: Array, U: Array, masks: Array, eta: float) -> Array:
    """Return U' (L + eta I)^-1 U of the subgraphs on the nodes of each mask [k, n], [k, d, d].

    Nodes outside a mask get a 1 on the diagonal and zero features: they have no effect, and all
    subgraphs of a graph are matrices of the same size.
    """
    n = len(A)
    reserve(32.0 * len(masks) * n * n, f"{len(masks)} Laplacians of {n} nodes")
    inside = A * masks[:, :, None] * masks[:, None, :]
    L, diagonal = -inside, np.arange(n)
    L[:, diagonal, diagonal] += inside.sum(axis=2) + np.where(masks > 0, eta, 1.0)
    features = U * masks[:, :, None]
    return features.transpose(0, 2, 1) @ np.linalg.solve(L, features)


def _gaussians(S: Array, gamma: float) -> Gaussians:
    S = (S + S.transpose(0, 2, 1)) / 2 + gamma * np.eye(S.shape[1])
    return Gaussians(np.asarray(np.linalg.inv(S), np.float64), np.linalg.slogdet(S)[1])


class MultiscaleLaplacianConfig(KernelConfig):
    """The settings of the multiscale Laplacian kernel."""

    levels: int = setting(3, "method", "scales", low=0, high=100)
    dim: int = setting(
        10, "method", "main directions that node features are projected on", low=1, high=10_000
    )
    num_samples: int = setting(
        50, "method", "nodes that neighbourhoods are compared with", low=1, high=100_000
    )
    eta: float = setting(0.01, "method", "added to the Laplacian", above=0)
    gamma: float = setting(0.01, "method", "added to its inverse in feature space", above=0)


@settings_as_parameters(MultiscaleLaplacianConfig)
class MultiscaleLaplacian(KernelEstimator):
    """Compares graphs by their Laplacians in a space of features that compare neighbourhoods.

    Node features start as labels (or degrees). On each of ``levels`` scales a node gets new ones:
    how its neighbourhood of that radius compares, by the feature-space Laplacian kernel on the last
    features, with those of ``num_samples`` nodes drawn by ``fit``, projected on the ``dim`` main
    directions. Then whole graphs are compared. ``eta`` and ``gamma`` keep the inverses finite.
    There is no short explicit map: ``transform`` gives the similarities to each graph of ``fit``.
    """

    columns = "similarities"

    def _fit(self, graphs: GraphSet) -> None:
        s, state = self.config_, self.state_
        rng = np.random.default_rng(s.seed)
        start = self._node_labels(graphs, learn=True)
        sample = rng.permutation(graphs.num_nodes)[: s.num_samples]
        chosen = start[sample].toarray()
        state["basis0"] = chosen.T @ feature_basis(chosen @ chosen.T, s.dim)
        features = start @ state["basis0"]
        for level in range(1, s.levels + 1):
            sample = rng.permutation(graphs.num_nodes)[: s.num_samples]
            around = neighbourhood_gaussians(graphs, features, level, s.eta, s.gamma)
            anchors = around.take(sample)
            state[f"anchors{level}"], state[f"volumes{level}"] = anchors.inverse, anchors.log_volume
            similar = overlaps(around, anchors)
            state[f"basis{level}"] = feature_basis(similar[sample], s.dim)
            features = similar @ state[f"basis{level}"]
        whole = graph_gaussians(graphs, features, s.eta, s.gamma)
        state["graphs"], state["graph_volumes"] = whole.inverse, whole.log_volume

    def _represent(self, graphs: GraphSet) -> Gaussians:
        s, state = self.config_, self.state_
        features = self._node_labels(graphs) @ state["basis0"]
        for level in range(1, s.levels + 1):
            check_time("the multiscale Laplacian kernel")
            around = neighbourhood_gaussians(graphs, features, level, s.eta, s.gamma)
            anchors = Gaussians(state[f"anchors{level}"], state[f"volumes{level}"])
            features = overlaps(around, anchors) @ state[f"basis{level}"]
        return graph_gaussians(graphs, features, s.eta, s.gamma)

    def _products(self, a: Gaussians, b: Gaussians | None) -> np.ndarray:
        n, m = len(a), len(a if b is None else b)
        reserve(16.0 * n * m, f"a kernel matrix of {n} x {m} graphs")
        return overlaps(a, b)

    def _squares(self, a: Gaussians) -> np.ndarray:
        return np.ones(len(a))

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        known = Gaussians(self.state_["graphs"], self.state_["graph_volumes"])
        return self._products(self._represent(graphs), known)

    @property
    def n_features_out_(self) -> int:
        """The number of graphs of ``fit``."""
        return len(self.state_["graph_volumes"])
