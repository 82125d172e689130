"""``PairSource``: for the graphs of a step, the batch of graphs and the batch of their views."""

from __future__ import annotations

import numpy as np
import torch

from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.alike_nodes import alike_nodes, merge_adjacency, merge_features
from igsd.graphs.batch import Batch, Collator
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.views.cache import cached_view
from igsd.views.edge_drop import edge_drop
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view


class PairSource:
    """Makes (graphs, views) batches of one set.

    A diffusion view is computed once for the whole set. An edge-drop view is drawn anew for every
    ``draw``, as a pure function of (seed, draw), so that a resumed run sees the same views.
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
        self.collator = Collator(graphs.node_ptr, features.transform(graphs), device)
        self.view: Adjacency | None = None
        if spec.kind != "edge-drop":
            self.view = cached_view(graphs, spec) if cache else diffusion_view(graphs, spec)
            if merge and spec.top_k is None:
                self.view = self._merged(self.view)

    def _merged(self, view: Adjacency) -> Adjacency:
        """Let one row stand for alike nodes where that saves work, and return the view of it."""
        node_ptr, collator = self.graphs.node_ptr, self.collator
        groups = alike_nodes(self.edges, node_ptr, collator.features)
        if not groups.are_worth_it:
            return view
        features = merge_features(collator.features, groups)
        self.collator = Collator(groups.node_ptr, features, collator.device, groups.counts)
        self.edges = merge_adjacency(self.edges, node_ptr, groups)
        return merge_adjacency(view, node_ptr, groups)

    def by_size(self, indices: np.ndarray) -> np.ndarray:
        """Return the graphs ``indices`` from small to large, which is faster to multiply."""
        sizes = self.collator.node_ptr[indices + 1] - self.collator.node_ptr[indices]
        return indices[np.argsort(sizes, kind="stable")]

    def pair(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, Batch]:
        """Return the graphs ``indices`` and their views, both with the same node features."""
        batch = self.collator.batch(indices, self.edges)
        node_ptr = self.collator.node_ptr
        ptr = pointers(node_ptr[indices + 1] - node_ptr[indices])
        if self.view is not None:
            taken = self.view.take(node_ptr, indices)
        else:
            seed = int(np.random.default_rng([self.seed, *draw]).integers(2**62))
            kept = self.edges.take(node_ptr, indices)
            taken = edge_drop(kept, ptr, indices, self.spec.drop_rate, seed)
        operator = self.collator.operator(
            taken, ptr, diagonal=self.view is not None, counts=batch.counts
        )
        return batch, batch.with_adjacency(operator)
