"""``MultiscaleLaplacian``: the multiscale Laplacian graph kernel, MLG (Kondor and Pan, 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from igsd.baselines.feature_basis import feature_basis, one_hot
from igsd.baselines.kernel_base import KernelEstimator
from igsd.baselines.laplacian_features import (
    Gaussians,
    graph_gaussians,
    neighbourhood_gaussians,
    overlaps,
)
from igsd.baselines.limits import check_time, reserve
from igsd.baselines.node_keys import key_source, node_keys
from igsd.baselines.setting_rules import Rule
from igsd.graphs.graphset import GraphSet


class MultiscaleLaplacian(KernelEstimator):
    """Compares graphs by their Laplacians seen through node features that compare neighbourhoods.

    Node features start as labels (degrees where there are none). On each of ``levels`` scales a
    node gets new ones: how its neighbourhood of that radius compares, by the feature-space
    Laplacian kernel on the last features, with those of ``num_samples`` nodes drawn by ``fit``,
    projected on the ``dim`` main directions. Two graphs are then compared whole. ``eta`` and
    ``gamma`` keep the inverses finite. There is no short explicit map: ``transform`` gives the
    similarities to each graph of ``fit``.
    """

    RULES: ClassVar[Mapping[str, Rule]] = {
        "levels": Rule(int, minimum=0),
        "dim": Rule(int, minimum=1),
        "num_samples": Rule(int, minimum=1),
        "eta": Rule(float, above=0.0),
        "gamma": Rule(float, above=0.0),
        "normalise": Rule(bool),
    }
    COLUMN = "similarity"

    def __init__(
        self,
        *,
        levels: int = 3,
        dim: int = 10,
        num_samples: int = 50,
        eta: float = 0.01,
        gamma: float = 0.01,
        normalise: bool = True,
        random_state: int = 0,
    ) -> None:
        self.levels = levels
        self.dim = dim
        self.num_samples = num_samples
        self.eta = eta
        self.gamma = gamma
        self.normalise = normalise
        self.random_state = random_state

    def _fit(self, graphs: GraphSet) -> None:
        s, state = self.settings_, self.state_
        rng = np.random.default_rng(s.random_state)
        state["source"], self.notes_ = key_source(graphs, "MultiscaleLaplacian")
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
        s, state = self.settings_, self.state_
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

    def _width(self) -> int:
        return len(self.state_["graph_volumes"])
