"""``Batch``: some graphs as tensors, ready for an encoder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from igsd.batches.features import NodeFeatures
from igsd.batches.operator import AdjacencyOperator
from igsd.graphs.adjacency import Adjacency, pointers, ranges


@dataclass(eq=False)
class Batch:
    """B graphs with n nodes in total.

    ``x`` [n, d] node features, ``ptr`` [B + 1] where each graph begins, ``adjacency`` the edges.
    A custom encoder may use ``adjacency.multiply(h)``, or the edge list below as with PyTorch
    Geometric. ``counts`` [n]: how many alike nodes a row represents; None, which an encoder gets
    unless it asks for counts, means one each.
    """

    x: Tensor
    ptr: Tensor
    adjacency: AdjacencyOperator
    counts: Tensor | None = None

    @cached_property
    def input_sums(self) -> Tensor:
        """A x + x of the node features, [n, d]."""
        return self.adjacency.multiply(self.x, own=1.0)

    @property
    def num_graphs(self) -> int:
        """Number of graphs B."""
        return len(self.ptr) - 1

    @property
    def batch(self) -> Tensor:
        """The graph of each node, [n] int64."""
        lengths = self.ptr[1:] - self.ptr[:-1]
        return torch.arange(self.num_graphs, device=self.ptr.device).repeat_interleave(lengths)

    @property
    def edge_index(self) -> Tensor:
        """The ends of every entry, [2, E] int64; each undirected edge in both directions."""
        return self.adjacency.edge_index()

    @property
    def edge_weight(self) -> Tensor:
        """The weight of every entry, [E]."""
        return self.adjacency.edge_weight()

    def with_adjacency(self, adjacency: AdjacencyOperator) -> "Batch":
        """Return the same nodes under other edges: a view of the same graphs."""
        return Batch(self.x, self.ptr, adjacency, self.counts)

    @classmethod
    def joined(cls, batches: Sequence["Batch"]) -> "Batch":
        """Return one batch with the graphs of all, in order."""
        if type(batches[0]) is not cls:
            return type(batches[0]).joined(batches)
        if len(batches) == 1:
            return batches[0]
        x, counts = torch.cat([batch.x for batch in batches]), None
        starts = np.cumsum([0, *(len(batch.x) for batch in batches[:-1])]).tolist()
        ptrs = [batch.ptr[1:] + start for batch, start in zip(batches, starts, strict=True)]
        if any(batch.counts is not None for batch in batches):
            ones = x.new_ones(len(x)).split([len(batch.x) for batch in batches])
            pairs = zip(batches, ones, strict=True)
            counts = torch.cat([one if b.counts is None else b.counts for b, one in pairs])
        adjacency = AdjacencyOperator.joined([batch.adjacency for batch in batches])
        return cls(x, torch.cat([batches[0].ptr[:1], *ptrs]), adjacency, counts)


CHUNK_NODES = 8_000
"""Nodes of a chunk of graphs in a pass without gradient: few enough for the processor's cache."""


def chunks(node_ptr: np.ndarray, max_nodes: int = CHUNK_NODES) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive graphs with at most ``max_nodes`` nodes, or one graph."""
    node_ptr = np.asarray(node_ptr)  # of a set in shards, once and not for every chunk
    start, num_graphs = 0, len(node_ptr) - 1
    while start < num_graphs:
        stop = int(np.searchsorted(node_ptr, node_ptr[start] + max_nodes, side="right")) - 1
        stop = min(max(stop, start + 1), num_graphs)
        yield start, stop
        start = stop


@dataclass(eq=False)
class Collator:
    """Makes batches of one set of graphs: node features and edges by index."""

    node_ptr: np.ndarray
    features: NodeFeatures
    device: torch.device
    counts: np.ndarray | None = None

    def batch(self, indices: np.ndarray, adjacency: Adjacency) -> Batch:
        """Return the graphs ``indices`` under these edges."""
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        nodes = ranges(starts, stops)
        ptr = pointers(stops - starts)
        counts = None
        if self.counts is not None:
            counts = torch.from_numpy(self.counts[nodes].astype(np.float32)).to(self.device)
        taken = adjacency.take(self.node_ptr, indices)
        operator = self.operator(taken, ptr, diagonal=False, counts=counts)
        starts = torch.from_numpy(ptr).to(self.device)
        return Batch(self.node_features(nodes), starts, operator, counts)

    @property
    def categories(self) -> np.ndarray | None:
        """The category of every edge entry of the set, [E] int64; None if edges have none."""
        return None

    def operator(
        self, taken: Adjacency, ptr: np.ndarray, *, diagonal: bool, counts: Tensor | None = None
    ) -> AdjacencyOperator:
        """Return the operator of the edges ``taken``; ``diagonal``: whether they include one."""
        weight = None
        if taken.weight is not None:
            weight = torch.from_numpy(np.ascontiguousarray(taken.weight)).to(self.device)
        rows = torch.from_numpy(taken.row_ptr.astype(np.int32)).to(self.device)
        columns = torch.from_numpy(taken.global_columns(ptr).astype(np.int32)).to(self.device)
        loops = torch.full((int(ptr[-1]),), 0.0 if diagonal else 1.0, device=self.device)
        return AdjacencyOperator(rows, columns, weight, loops, np.diff(ptr), counts)

    def node_features(self, nodes: np.ndarray) -> Tensor:
        """Return the dense features [n, d] of these nodes."""
        codes = np.asarray(self.features.codes[nodes])
        if self.features.table is not None:
            return torch.from_numpy(self.features.table[codes[:, 0]]).to(self.device)
        x = torch.zeros(len(nodes), self.features.dim)
        rows, parts = np.nonzero(codes >= 0)
        x[torch.from_numpy(rows), torch.from_numpy(codes[rows, parts])] = 1.0
        if self.features.dense is not None:
            dense = torch.from_numpy(np.ascontiguousarray(self.features.dense[nodes]))
            x[:, self.features.dim - dense.shape[1] :] = dense
        return x.to(self.device)
