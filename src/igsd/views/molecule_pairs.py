"""``MoleculePairSource``: molecules and their K views, with a category on every link or without."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet, Name
from igsd.graphs.molecule_batch import Keep, MoleculeCollator
from igsd.views.bond_types import bond_type_view, bond_types
from igsd.views.cache import cached_view
from igsd.views.edge_drop import kept_edges
from igsd.views.pairs import PairSource
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view

View = tuple[Adjacency, Name | None]
"""A diffusion of a whole set, and the kind of bond that it is of; None for all kinds."""


class MoleculePairSource(PairSource):
    """Makes (molecules, view 1, .., view K) batches of one set; views do not change over epochs.

    For features that know links, and for views by kind of bond. An edge-drop view is the exception:
    it is drawn anew for every ``draw``.
    """

    views: list[View]

    def _make_views(self, *, cache: bool, merge: bool) -> None:
        """Compute the views, each with the kind of bond that it is of; nothing is merged."""
        is_random = self.spec.kind == "edge-drop"
        self.views = [] if is_random else _views(self.graphs, self.spec, cache)

    def pair(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, ...]:
        """Return the molecules ``indices`` and their K views, all with the same node features."""
        collator, batch = self.collator, self.collator.batch(indices, self.graphs.adjacency)
        if not isinstance(collator, MoleculeCollator):
            return batch, *(
                self._without_categories(batch, indices, view) for view, _ in self.views
            )
        if self.spec.kind == "edge-drop":
            return batch, collator.thinned(batch, indices, self._keep(indices, draw))
        return batch, *(collator.view(batch, indices, *view) for view in self.views)

    def _keep(self, indices: np.ndarray, draw: tuple[int, int]) -> Keep:
        rate, seed = self.spec.drop_rate, self._drawn(draw)
        return partial(kept_edges, graph_ids=indices, rate=rate, seed=seed)

    def _without_categories(self, batch: Batch, indices: np.ndarray, view: Adjacency) -> Batch:
        node_ptr = self.graphs.node_ptr
        ptr = pointers(node_ptr[indices + 1] - node_ptr[indices])
        taken = view.take(node_ptr, indices)
        return batch.with_adjacency(self.collator.operator(taken, ptr, diagonal=True))


def make_pairs(
    graphs: GraphSet,
    features: FeatureMap,
    spec: ViewSpec,
    *,
    seed: int,
    device: torch.device,
    cache: bool = True,
    merge: bool = False,
) -> PairSource:
    """Return the source of graphs and views that these features and this view ask for.

    ``merge``: see ``PairSource``; molecules have no use for it.
    """
    of_molecules = features.links is not None or spec.kind == "bond-types"
    kind = MoleculePairSource if of_molecules else PairSource
    return kind(graphs, features, spec, seed=seed, device=device, cache=cache, merge=merge)


def _views(graphs: GraphSet, spec: ViewSpec, cache: bool) -> list[View]:
    """Return the views that are the same in every epoch, and the kind of bond each is of."""
    if spec.kind == "bond-types":
        bonds = bond_types(graphs, spec.num_views)
        return [(bond_type_view(graphs, bond, spec, cache=cache), bond) for bond in bonds]
    return [(cached_view(graphs, spec) if cache else diffusion_view(graphs, spec), None)]
