"""``EgoSource``: the subgraphs around nodes that GCC is trained on and embeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from igsd.evaluation.embed import chunks
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.batch import Batch
from igsd.graphs.eigenvectors import structural_vectors
from igsd.graphs.graphset import GraphSet
from igsd.graphs.operator import AdjacencyOperator
from igsd.views.hashed import hashed_uniform
from igsd.views.induced import Induced
from igsd.views.restart_walks import restart_walks, walked_subgraphs

_CHUNK_NODES = 2_000


@dataclass(frozen=True)
class Egos:
    """Subgraphs as a batch; those of graph g stand at ``graph_ptr[g]:graph_ptr[g + 1]``."""

    batch: Batch
    graph_ptr: torch.Tensor


class EgoSource:
    """Makes subgraphs by random walks with restart; every walk is a hash of seed, graph and node.

    ``config``: a ``GCCConfig``.
    """

    def __init__(self, graphs: GraphSet, config: Any, device: torch.device) -> None:
        self.graphs = graphs
        self.config = config
        self.device = device

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, Batch]:
        """Return two subgraphs around a random node of each of the graphs ``indices``."""
        seeds = np.random.default_rng([self.config.seed, *draw]).integers(2**62, size=3).tolist()
        taken, ptr = self._taken(indices)
        local = (hashed_uniform(seeds[2], indices) * np.diff(ptr)).astype(np.int64)
        graph = np.arange(len(indices))
        queries, keys = (
            self._subgraphs(taken, ptr, graph, local, walk_ids=indices, seed=seed)
            for seed in seeds[:2]
        )
        return queries, keys

    def pooled(self, egos: int) -> Iterator[Egos]:
        """Yield subgraphs around up to ``egos`` nodes of each graph, some graphs at a time.

        The nodes are spread evenly over the order of the graph's nodes. A walk depends on the seed
        and on the node's place in its graph, not on the other graphs.
        """
        for start, stop in chunks(self.graphs.node_ptr, _CHUNK_NODES):
            taken, ptr = self._taken(np.arange(start, stop))
            sizes = np.diff(ptr)
            counts = np.minimum(sizes, egos)
            graph = np.repeat(np.arange(len(sizes)), counts)
            number = np.arange(len(graph)) - np.repeat(pointers(counts)[:-1], counts)
            local = number * sizes[graph] // counts[graph]
            seed = self.config.seed
            batch = self._subgraphs(taken, ptr, graph, local, walk_ids=local, seed=seed)
            yield Egos(batch, torch.from_numpy(pointers(counts)).to(self.device))

    def _taken(self, indices: np.ndarray) -> tuple[Adjacency, np.ndarray]:
        node_ptr = self.graphs.node_ptr
        ptr = pointers(node_ptr[indices + 1] - node_ptr[indices])
        return self.graphs.adjacency.take(node_ptr, indices), ptr

    def _subgraphs(
        self,
        adjacency: Adjacency,
        ptr: np.ndarray,
        graph: np.ndarray,
        local: np.ndarray,
        *,
        walk_ids: np.ndarray,
        seed: int,
    ) -> Batch:
        """Return what walks from the nodes ``local`` of the graphs ``graph`` see, [W] graphs."""
        starts = ptr[graph] + local
        walks = restart_walks(
            adjacency,
            ptr,
            starts,
            walk_ids,
            num_steps=self.config.walk_steps,
            restart=self.config.restart,
            seed=seed,
        )
        seen = walked_subgraphs(adjacency, ptr, graph, walks)
        is_start = seen.nodes == np.repeat(starts, np.diff(seen.node_ptr))
        return self._batch(seen, is_start)

    def _batch(self, seen: Induced, is_start: np.ndarray) -> Batch:
        """Return subgraphs with their features: eigenvectors, degree one-hot, the start."""
        cap, width = self.config.degree_cap, self.config.eigenvectors
        degrees = np.minimum(seen.adjacency.degrees(), cap)
        x = np.zeros((len(seen.nodes), width + cap + 2), dtype=np.float32)
        x[:, :width] = structural_vectors(seen.adjacency, seen.node_ptr, width)
        x[np.arange(len(x)), width + degrees] = 1.0
        x[:, -1] = is_start
        columns = seen.adjacency.global_columns(seen.node_ptr)
        operator = AdjacencyOperator(
            torch.from_numpy(seen.adjacency.row_ptr.astype(np.int32)).to(self.device),
            torch.from_numpy(columns.astype(np.int32)).to(self.device),
            None,
            torch.ones(len(x), device=self.device),
            np.diff(seen.node_ptr),
        )
        ptr = torch.from_numpy(seen.node_ptr).to(self.device)
        return Batch(torch.from_numpy(x).to(self.device), ptr, operator)
