"""``GraphSource``: batches of the graphs of one set, and of their views where a method has any."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.merged_batch import merged
from igsd.graphs.molecule_batch import make_collator
from igsd.views.molecule_pairs import make_pairs
from igsd.views.pairs import PairSource
from igsd.views.spec import ViewSpec

_CHUNK_NODES = 20_000


class GraphSource:
    """Takes graphs out of one set by index, alone or with views.

    ``view``: the view to make, None for a method without one. Where ``features`` knows links,
    batches are molecules whose links have categories. ``merge``: let one row stand for alike nodes
    where that saves work, for a network that reads the batch's counts and asks for no node's own
    vector.
    """

    def __init__(
        self,
        graphs: GraphSet,
        features: FeatureMap,
        device: torch.device,
        *,
        view: ViewSpec | None = None,
        seed: int = 0,
        cache: bool = True,
        merge: bool = False,
    ) -> None:
        self.device = device
        self._pairs: PairSource | None = None
        if view is not None:
            self._pairs = make_pairs(
                graphs, features, view, seed=seed, device=device, cache=cache, merge=merge
            )
            self.collator, self.edges = self._pairs.collator, self._pairs.edges
            return
        self.collator, self.edges = make_collator(graphs, features, device), graphs.adjacency
        if merge and features.links is None:
            self.collator, self.edges, _ = merged(self.collator, self.edges)

    def batch(self, indices: np.ndarray) -> Batch:
        """Return the graphs ``indices`` as they are."""
        return self.collator.batch(indices, self.edges)

    def with_views(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, list[Batch]]:
        """Return the graphs ``indices`` and their K views; none where the method has no view.

        ``draw`` names the random view that is wanted, where the view is random.
        """
        if self._pairs is None:
            return self.batch(indices), []
        graphs, *views = self._pairs.pair(indices, draw)
        return graphs, views

    def pieces(self, indices: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the indices in pieces of bounded size, for a pass without gradient."""
        if not len(indices):
            return
        sizes = self.collator.node_ptr[indices + 1] - self.collator.node_ptr[indices]
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK_NODES)) + 1
        yield from np.split(indices, cuts)
