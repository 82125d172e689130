"""``PairSource``: for the graphs of a step, the batch of graphs and the batch of their views."""

from __future__ import annotations

import numpy as np
import torch

from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.alike_nodes import merge_adjacency
from igsd.graphs.batch import Batch, small_first
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.merged_batch import merged
from igsd.graphs.molecule_batch import make_collator
from igsd.views.cache import cached_view
from igsd.views.edge_drop import edge_drop
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view


class PairSource:
    """Makes (graphs, views) batches of one set.

    A diffusion view is computed once for the whole set. An edge-drop view is drawn anew for every
    ``draw``, as a pure function of (seed, draw), so that a resumed run sees the same views.

    ``merge``: let one row stand for alike nodes where that saves work, for encoders that read the
    batch's counts. A diffusion treats alike nodes alike, unless a fixed number of entries is kept
    of each row.
    """

    def __init__(
        self,
        graphs: GraphSet,
        features: FeatureMap,
        spec: ViewSpec,
        *,
        seed: int,
        device: torch.device,
        cache: bool = True,
        merge: bool = False,
    ) -> None:
        self.graphs = graphs
        self.spec = spec
        self.seed = seed
        self.edges = graphs.adjacency
        self.collator = make_collator(graphs, features, device)
        self.view: Adjacency | None = None
        self._make_views(cache=cache, merge=merge)

    def _make_views(self, *, cache: bool, merge: bool) -> None:
        """Compute the views that are the same in every epoch."""
        if self.spec.kind == "edge-drop":
            return
        make = cached_view if cache else diffusion_view
        self.view = make(self.graphs, self.spec)
        if merge and self.spec.top_k is None:
            self._merge()

    def _merge(self) -> None:
        """Let one row stand for alike nodes where that saves work."""
        self.collator, self.edges, groups = merged(self.collator, self.edges)
        if groups is not None and self.view is not None:
            self.view = merge_adjacency(self.view, self.graphs.node_ptr, groups)

    def by_size(self, indices: np.ndarray) -> np.ndarray:
        """Return the graphs ``indices`` from small to large, which is faster to multiply."""
        node_ptr = self.collator.node_ptr
        return small_first(indices, node_ptr[indices + 1] - node_ptr[indices])

    def _drawn(self, draw: tuple[int, int]) -> int:
        """Return the seed of one draw of random views."""
        return int(np.random.default_rng([self.seed, *draw]).integers(2**62))

    def pair(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, ...]:
        """Return the graphs ``indices`` and their views, all with the same node features."""
        batch = self.collator.batch(indices, self.edges)
        node_ptr = self.collator.node_ptr
        ptr = pointers(node_ptr[indices + 1] - node_ptr[indices])
        if self.view is not None:
            taken = self.view.take(node_ptr, indices)
        else:
            kept = self.edges.take(node_ptr, indices)
            taken = edge_drop(kept, ptr, indices, self.spec.drop_rate, self._drawn(draw))
        operator = self.collator.operator(
            taken, ptr, diagonal=self.view is not None, counts=batch.counts
        )
        return batch, batch.with_adjacency(operator)
