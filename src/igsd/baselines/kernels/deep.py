"""``DeepGraphKernel``: subtree counts that know which subtrees occur together (Yanardag, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from igsd.baselines.kernels.base import KernelConfig, VectorKernel
from igsd.baselines.kernels.patterns import Keys, Patterns, block_matrix, key_source, node_keys
from igsd.baselines.kernels.wl import wl_colours
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve
from igsd.settings.fields import setting


@dataclass(frozen=True)
class DeepGraphKernelConfig(KernelConfig):
    """The settings of deep graph kernels."""

    max_features: int = setting(4096, "method", "patterns that get a vector", low=1)
    iterations: int = setting(2, "method", "height of the largest subtree", low=0)
    dim: int = setting(128, "method", "width of a pattern's vector", low=1)


@settings_as_parameters(DeepGraphKernelConfig)
class DeepGraphKernel(VectorKernel):
    """Compares graphs by their subtree counts, with similar subtrees partly counted as equal.

    k(G, H) = phi(G)' M phi(H), phi the Weisfeiler-Lehman counts and M = E E', where E [P, dim] are
    vectors of the patterns: two patterns are similar that occur at the same nodes and beside the
    same patterns. Departs from the paper: E is the truncated singular value decomposition of the
    positive pointwise mutual information of patterns, which is what word2vec approximates, and does
    not depend on an order of training. The ``max_features`` most common patterns are embedded.
    Rows are scaled to length 1, so that every pattern has the same weight.
    """

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs)
        colours = self._colours(graphs)
        patterns = self._patterns(graphs, colours)
        keys = patterns.most_common(self.config_.max_features)
        check_time("the deep graph kernel")
        together = co_occurrences(graphs, colours, keys)
        information = mutual_information(together)
        check_time("the deep graph kernel")
        self.state_["columns"] = keys.view(np.int64)
        self.state_["vectors"] = embed(information, self.config_.dim)

    def _represent(self, graphs: GraphSet) -> np.ndarray:
        patterns = self._patterns(graphs, self._colours(graphs))
        counts = patterns.columns(self.state_["columns"].view(np.uint64))
        return np.asarray(counts @ self.state_["vectors"])

    def _colours(self, graphs: GraphSet) -> Keys:
        keys = node_keys(graphs, self.state_["source"])
        return wl_colours(graphs, keys, self.config_.iterations)

    def _patterns(self, graphs: GraphSet, colours: Keys) -> Patterns:
        graph = np.tile(graphs.graph_of_node(), len(colours))
        return Patterns.count(graph, colours.ravel(), len(graphs))

    @property
    def n_features_out_(self) -> int:
        """Width of a pattern's vector."""
        return int(self.state_["vectors"].shape[1])


def co_occurrences(graphs: GraphSet, colours: Keys, keys: Keys) -> Any:
    """Return how often two patterns occur at one node or at two neighbours, sparse [P, P].

    ``colours`` [levels, N] are the patterns at each node; ``keys`` [P] those that count, ascending.
    """
    levels, num_nodes = colours.shape
    at_node = Patterns.count(np.tile(np.arange(num_nodes), levels), colours.ravel(), num_nodes)
    here = at_node.columns(keys).astype(np.float64)
    entries = graphs.adjacency.num_entries * levels
    reserve(24.0 * entries, f"a table of {entries} patterns beside each other")
    around = here + block_matrix(graphs) @ here
    reserve(16.0 * min(around.nnz * float(levels), len(keys) ** 2), "a table of co-occurrences")
    return here.T @ around


def mutual_information(together: Any) -> Any:
    """Return max(0, log(c_ij c / (c_i c_j))) of co-occurrences c [P, P], sparse."""
    table = together.tocoo()
    totals = np.asarray(together.sum(axis=1)).ravel()
    expected = totals[table.row] * totals[table.col] / totals.sum()
    values = np.maximum(np.log(table.data / expected), 0.0)
    return sparse.coo_array((values, (table.row, table.col)), shape=table.shape).tocsr()


def embed(information: Any, dim: int) -> np.ndarray:
    """Return rows E [P, <= dim] of length 1 with E E' close to the information's directions."""
    from scipy.sparse.linalg import svds

    size = information.shape[0]
    if size <= max(dim + 1, 200):
        U, scale, _ = np.linalg.svd(information.toarray())
    else:
        U, scale, _ = svds(information, k=dim, v0=np.ones(size))
        U, scale = U[:, ::-1], scale[::-1]
    vectors = U[:, :dim] * np.sqrt(scale[:dim])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0))
