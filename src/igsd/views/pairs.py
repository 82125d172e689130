"""``PairSource``: for the graphs of a step, the batch of graphs and the batch of their views."""

from __future__ import annotations

import numpy as np
import torch

from igsd.graphs.adjacency import Adjacency
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
    ) -> None:
        self.graphs = graphs
        self.spec = spec
        self.seed = seed
        self.collator = Collator(graphs.node_ptr, features.transform(graphs), device)
        self.view: Adjacency | None = None
        if spec.kind != "edge-drop":
            self.view = cached_view(graphs, spec) if cache else diffusion_view(graphs, spec)

    def by_size(self, indices: np.ndarray) -> np.ndarray:
        """Return the graphs ``indices`` from small to large, which is faster to multiply."""
        sizes = self.graphs.node_ptr[indices + 1] - self.graphs.node_ptr[indices]
        return indices[np.argsort(sizes, kind="stable")]

    def pair(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, Batch]:
        """Return the graphs ``indices`` and their views, both with the same node features."""
        batch = self.collator.batch(indices, self.graphs.adjacency)
        lengths = self.graphs.node_ptr[indices + 1] - self.graphs.node_ptr[indices]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        if self.view is not None:
            taken = self.view.take(self.graphs.node_ptr, indices)
        else:
            seed = int(np.random.default_rng([self.seed, *draw]).integers(2**62))
            kept = self.graphs.adjacency.take(self.graphs.node_ptr, indices)
            taken = edge_drop(kept, ptr, indices, self.spec.drop_rate, seed)
        operator = self.collator.operator(taken, ptr, diagonal=self.view is not None)
        return batch, batch.with_adjacency(operator)
