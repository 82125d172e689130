"""``MultiscaleLaplacian``: the multiscale Laplacian graph kernel, MLG (Kondor and Pan, 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.baselines.feature_basis import feature_basis, one_hot
from igsd.baselines.kernel_base import KernelConfig, KernelEstimator
from igsd.baselines.laplacian_features import (
    Gaussians,
    graph_gaussians,
    neighbourhood_gaussians,
    overlaps,
)
from igsd.baselines.limits import check_time, reserve
from igsd.baselines.node_keys import key_source, node_keys
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.settings import setting


@dataclass(frozen=True)
class MultiscaleLaplacianConfig(KernelConfig):
    """The settings of the multiscale Laplacian kernel."""

    levels: int = setting(3, "method", "scales", low=0)
    dim: int = setting(10, "method", "main directions that node features are projected on", low=1)
    num_samples: int = setting(50, "method", "nodes that neighbourhoods are compared with", low=1)
    eta: float = setting(0.01, "method", "added to the Laplacian", above=0)
    gamma: float = setting(0.01, "method", "added to its inverse in feature space", above=0)


@settings_as_parameters(MultiscaleLaplacianConfig)
class MultiscaleLaplacian(KernelEstimator):
    """Compares graphs by their Laplacians seen through node features that compare neighbourhoods.

    Node features start as labels (degrees where there are none). On each of ``levels`` scales a
    node gets new ones: how its neighbourhood of that radius compares, by the feature-space
    Laplacian kernel on the last features, with those of ``num_samples`` nodes drawn by ``fit``,
    projected on the ``dim`` main directions. Two graphs are then compared whole. ``eta`` and
    ``gamma`` keep the inverses finite. There is no short explicit map: ``transform`` gives the
    similarities to each graph of ``fit``.
    """

    def _fit(self, graphs: GraphSet) -> None:
        s, state = self.config_, self.state_
        rng = np.random.default_rng(s.seed)
        state["source"], self.notes_ = key_source(graphs)
        keys = node_keys(graphs, state["source"])
        state["keys"] = np.unique(keys).view(np.int64)
        size = min(s.num_samples, graphs.num_nodes)
        sample = rng.permutation(graphs.num_nodes)[:size]
        start = one_hot(keys, state["keys"].view(np.uint64))
        chosen = start[sample].toarray()
        state["basis0"] = chosen.T @ feature_basis(chosen @ chosen.T, s.dim)
        features = start @ state["basis0"]
        for level in range(1, s.levels + 1):
            sample = rng.permutation(graphs.num_nodes)[:size]
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
        keys = node_keys(graphs, state["source"])
        features = one_hot(keys, state["keys"].view(np.uint64)) @ state["basis0"]
        for level in range(1, s.levels + 1):
            check_time("the multiscale Laplacian kernel")
            around = neighbourhood_gaussians(graphs, features, level, s.eta, s.gamma)
            anchors = Gaussians(state[f"anchors{level}"], state[f"volumes{level}"])
            features = overlaps(around, anchors) @ state[f"basis{level}"]
        return graph_gaussians(graphs, features, s.eta, s.gamma)

    def _products(self, a: Gaussians, b: Gaussians | None) -> np.ndarray:
        other = a if b is None else b
        reserve(16.0 * len(a) * len(other), f"a kernel matrix of {len(a)} x {len(other)} graphs")
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
