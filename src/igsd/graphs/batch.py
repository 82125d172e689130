"""``Batch``: some graphs as tensors, ready for an encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.features import NodeFeatures
from igsd.graphs.operator import AdjacencyOperator


class Batch:
    """B graphs with n nodes in all.

    ``x`` [n, d] node features, ``ptr`` [B + 1] where each graph begins, ``adjacency`` the edges.
    An encoder of your own may use ``adjacency.multiply(h)``, or the edge list below as it
    would use one of PyTorch Geometric. ``counts`` [n] says how many alike nodes a row stands for;
    None, which is one each, is all that an encoder meets that does not ask for more.
    """

    def __init__(
        self,
        x: Tensor,
        ptr: Tensor,
        adjacency: AdjacencyOperator,
        counts: Tensor | None = None,
    ) -> None:
        self.x = x
        self.ptr = ptr
        self.adjacency = adjacency
        self.counts = counts
        self._input_sums: Tensor | None = None

    def input_sums(self) -> Tensor:
        """Return A x + x of the node features, [n, d]: computed once for all who ask."""
        if self._input_sums is None:
            self._input_sums = self.adjacency.multiply(self.x, own=1.0)
        return self._input_sums

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
        """The ends of every entry, [2, E] int64; each undirected edge stands in both directions."""
        return self.adjacency.edge_index()

    @property
    def edge_weight(self) -> Tensor:
        """The weight of every entry, [E]."""
        return self.adjacency.edge_weight()

    def with_adjacency(self, adjacency: AdjacencyOperator) -> Batch:
        """Return the same nodes under other edges: a view of the same graphs."""
        return Batch(self.x, self.ptr, adjacency, self.counts)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return one batch with the graphs of all, in order."""
        if type(batches[0]) is not cls:
            return type(batches[0]).joined(batches)
        if len(batches) == 1:
            return batches[0]
        ptrs, nodes = [batches[0].ptr[:1]], 0
        for batch in batches:
            ptrs.append(batch.ptr[1:] + nodes)
            nodes += len(batch.x)
        return cls(
            torch.cat([batch.x for batch in batches]),
            torch.cat(ptrs),
            AdjacencyOperator.joined([batch.adjacency for batch in batches]),
            _joined_counts(batches),
        )


def _joined_counts(batches: Sequence[Batch]) -> Tensor | None:
    if all(batch.counts is None for batch in batches):
        return None
    ones = (batch.x.new_ones(len(batch.x)) for batch in batches)
    pairs = zip(batches, ones, strict=True)
    return torch.cat([one if batch.counts is None else batch.counts for batch, one in pairs])


def small_first(indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return graphs of these ``sizes`` from small to large; those of equal size stay in order.

    Neighbours of equal size in a batch are faster to multiply.
    """
    return indices[np.argsort(sizes, kind="stable")]


class Collator:
    """Makes batches of one set of graphs: node features and edges, taken out by index."""

    def __init__(
        self,
        node_ptr: np.ndarray,
        features: NodeFeatures,
        device: torch.device,
        counts: np.ndarray | None = None,
    ) -> None:
        self.node_ptr = node_ptr
        self.features = features
        self.device = device
        self.counts = counts

    def batch(self, indices: np.ndarray, adjacency: Adjacency) -> Batch:
        """Return the graphs ``indices`` under these edges."""
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        nodes = ranges(starts, stops)
        ptr = pointers(stops - starts)
        counts = None
        if self.counts is not None:
            counts = torch.from_numpy(self.counts[nodes].astype(np.float32)).to(self.device)
        taken = adjacency.take(self.node_ptr, indices)
        return Batch(
            x=self.node_features(nodes),
            ptr=torch.from_numpy(ptr).to(self.device),
            adjacency=self.operator(taken, ptr, diagonal=False, counts=counts),
            counts=counts,
        )

    def operator(
        self, taken: Adjacency, ptr: np.ndarray, *, diagonal: bool, counts: Tensor | None = None
    ) -> AdjacencyOperator:
        """Return the operator of graphs already taken out; ``ptr`` [B + 1] are their nodes.

        ``diagonal`` says whether the entries hold a diagonal of their own, as a diffusion does.
        """
        weight = None if taken.weight is None else np.ascontiguousarray(taken.weight)
        return AdjacencyOperator(
            torch.from_numpy(taken.row_ptr.astype(np.int32)).to(self.device),
            torch.from_numpy(taken.global_columns(ptr).astype(np.int32)).to(self.device),
            None if weight is None else torch.from_numpy(weight).to(self.device),
            torch.full((int(ptr[-1]),), 0.0 if diagonal else 1.0, device=self.device),
            np.diff(ptr),
            counts,
        )

    def node_features(self, nodes: np.ndarray) -> Tensor:
        """Return the dense features [n, d] of these nodes."""
        codes = np.asarray(self.features.codes[nodes])
        x = torch.zeros(len(nodes), self.features.dim)
        rows, parts = np.nonzero(codes >= 0)
        x[torch.from_numpy(rows), torch.from_numpy(codes[rows, parts])] = 1.0
        if self.features.dense is not None:
            dense = torch.from_numpy(np.ascontiguousarray(self.features.dense[nodes]))
            x[:, self.features.dim - dense.shape[1] :] = dense
        return x.to(self.device)
