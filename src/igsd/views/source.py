"""``Source``: batches of the graphs of one set and of their views, for training and embedding.

A fixed view (Eq. diffusion) is computed once for the whole set, when first used. A random view is a
pure function of (seed, epoch, step). A molecule may have K views: Eq. diffusion over the bonds of
the k-th kind only, the most common kind first; atoms without such a bond are isolated (S_ii = 1).
For an encoder that distinguishes links, the entries of S replace the molecule's links: each counts
as a bond of that kind, and S_ij multiplies the message along it. Under a diffusion of all bonds, or
a view of the user's own, an entry counts as the bond of its two atoms, or as none.
"""

from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from igsd.batches import alike, molecules
from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.subtrees import SubtreeTargets
from igsd.errors import ConfigError, DataError
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.graphset import GraphSet, Name
from igsd.settings.groups import Diffusion, View
from igsd.views.cache import cached_view, diffusion_view
from igsd.views.random import OwnView, change, draw_two, edge_drop, induced, kept_edges, viewed

Place = tuple[int, int]
"""Epoch and step."""


def bond_types(graphs: GraphSet, num_views: int) -> tuple[Name, ...]:
    """Return the ``num_views`` most common kinds of bonds.

    Raises ``DataError`` for graphs without edge labels, ``ConfigError`` if there are too few kinds.
    """
    if graphs.edge_labels is None:
        raise DataError(
            f"view='bond-types' needs edge labels, but {graphs.name!r} has none. Use view='ppr'."
        )
    known = graphs.edge_labels[graphs.edge_labels >= 0]
    counts = np.bincount(known, minlength=len(graphs.edge_label_names))
    order = [code for code in np.argsort(-counts, kind="stable") if counts[code] > 0]
    if not 1 <= num_views <= len(order):
        names = ", ".join(str(graphs.edge_label_names[code]) for code in order)
        raise ConfigError(
            f"num_views must be from 1 to {len(order)}, one view for each kind of bond in "
            f"{graphs.name!r} ({names}). Got {num_views!r} instead."
        )
    return tuple(graphs.edge_label_names[code] for code in order[:num_views])


def only_bonds(graphs: GraphSet, bond: Name) -> GraphSet:
    """Return the same nodes with only the edges of one label, in either direction."""
    names, labels = graphs.edge_label_names, graphs.edge_labels
    code = names.index(bond) if bond in names else len(names)
    keep = np.zeros(graphs.adjacency.num_entries, bool) if labels is None else labels == code
    return graphs.only_edges(keep | keep[graphs.adjacency.mirror(graphs.node_ptr)])


def bond_type_view(graphs: GraphSet, bond: Name, view: View, *, cache: bool = True) -> Adjacency:
    """Return S of every graph over the edges of one label. Implements Eq. diffusion."""
    part = only_bonds(graphs, bond)
    if view.view == "bond-types":
        view = view.updated({"view": "ppr", "num_views": 1})
    return cached_view(part, view) if cache else diffusion_view(part, view)


class Source:
    """Makes batches of one set of graphs and of their views.

    ``view``: settings of the view, None for a method without one. ``merge``: represent alike nodes
    by one row if that saves work, for networks that use the batch's counts. A diffusion treats
    alike nodes alike, unless a fixed number of entries is kept of each row; a random view does not.
    ``own_view``: the user's own, in place of the one that the settings name.
    ``verbose``: show the progress of diffusing large graphs. ``ids`` [G]: the numbers of the graphs
    in the larger set that they were taken from, on which random views depend; ``bonds``: the kinds
    of bonds of its views. ``subtrees``: those of every graph, if a network predicts them.
    """

    def __init__(
        self,
        graphs: GraphSet,
        features: FeatureMap,
        device: torch.device,
        *,
        view: Diffusion | None = None,
        seed: int = 0,
        cache: bool = True,
        merge: bool = False,
        own_view: OwnView | None = None,
        verbose: bool = False,
        ids: np.ndarray | None = None,
        bonds: tuple[Name, ...] | None = None,
        subtrees: SubtreeTargets | None = None,
    ) -> None:
        graphs = features.prepared(graphs)
        self.graphs, self.features, self.device = graphs, features, device
        self.view: Any = view
        self.seed, self.cache, self.own_view = seed, cache, own_view
        self.verbose, self._ids, self._bonds = verbose, ids, bonds
        self.subtrees = subtrees
        self.collator = molecules.make_collator(graphs, features, device)
        self.edges, self._groups = graphs.adjacency, None
        diffused = view is None or (view.view in ("ppr", "heat") and not view.top_k)
        if merge and diffused and features.links is None:
            self.collator, self.edges, self._groups = alike.merged(self.collator, self.edges)

    @property
    def node_ptr(self) -> np.ndarray:
        """Where the rows of each graph begin, [G + 1]."""
        return self.collator.node_ptr

    def batch(self, indices: np.ndarray) -> Batch:
        """Return the graphs ``indices`` as they are."""
        return self.collator.batch(indices, self.edges)

    def views(self, batch: Batch, indices: np.ndarray, place: Place) -> list[Batch]:
        """Return the K views of ``batch``, which holds the graphs ``indices``."""
        if self.own_view is not None:
            (seed,) = self._seeds(place, 1)
            return [self._viewed(batch, indices, self.own_view, seed)]
        if self.view is None or self.view.is_fixed_view:
            return [self._diffused(batch, indices, *fixed) for fixed in self.fixed_views]
        kinds = np.full(len(indices), self.view.view)
        (seed,) = self._seeds(place, 1)
        return [self._changed(batch.x, indices, kinds, self.view.drop_rate, seed)]

    def two_views(
        self, indices: np.ndarray, place: Place, kinds: tuple[str, ...], rate: float
    ) -> tuple[Batch, Batch]:
        """Return two views of each of the graphs ``indices``, of different ``kinds`` if possible.

        A diffusion is always the same, so if it is the only kind, it is compared with the graph.
        """
        node_ptr, names, seeds = self.collator.node_ptr, np.array(kinds), self._seeds(place, 3)
        x = self.collator.node_features(ranges(node_ptr[indices], node_ptr[indices + 1]))
        drawn = [names[codes] for codes in draw_two(self._named(indices), len(names), seeds[2])]
        if len(kinds) == 1 and self.view is not None:
            drawn[0] = np.full(len(indices), "graph")
        pairs = zip(drawn, seeds[:2], strict=True)
        first, second = (self._changed(x, indices, names, rate, seed) for names, seed in pairs)
        return first, second

    def by_size(self, indices: np.ndarray) -> np.ndarray:
        """Return the graphs ``indices`` from small to large, which is faster to multiply."""
        return indices[np.argsort(np.diff(self._ptr(indices)), kind="stable")]

    @cached_property
    def fixed_views(self) -> list[tuple[Adjacency, Name | None]]:
        """The views that are the same in every epoch, each with its kind of bond, if any."""
        if self.view is None:
            return []
        if self.view.view == "bond-types":
            bonds = self._bonds or bond_types(self.graphs, self.view.num_views)
            make = partial(bond_type_view, self.graphs, view=self.view, cache=self.cache)
            return [(make(bond=bond), bond) for bond in bonds]
        make_view = cached_view if self.cache else diffusion_view
        S = make_view(self.graphs, self.view, verbose=self.verbose)
        if self._groups is not None:
            S = alike.merge_adjacency(S, self.graphs.node_ptr, self._groups)
        return [(S, None)]

    def _seeds(self, place: Place, count: int) -> list[int]:
        return np.random.default_rng([self.seed, *place]).integers(2**62, size=count).tolist()

    def _named(self, indices: np.ndarray) -> np.ndarray:
        """Return the numbers of graphs on which random views depend."""
        return indices if self._ids is None else self._ids[indices]

    def _ptr(self, indices: np.ndarray) -> np.ndarray:
        """Return where the nodes of each graph begin in a batch, [B + 1]."""
        node_ptr = self.node_ptr
        return pointers(node_ptr[indices + 1] - node_ptr[indices])

    def _diffused(
        self, batch: Batch, indices: np.ndarray, S: Adjacency, bond: Name | None
    ) -> Batch:
        taken, ptr = S.take(self.collator.node_ptr, indices), self._ptr(indices)
        if isinstance(self.collator, molecules.MoleculeCollator):
            return self.collator.view(batch, indices, taken, bond)
        operator = self.collator.operator(taken, ptr, diagonal=True, counts=batch.counts)
        return batch.with_adjacency(operator)

    def _viewed(self, batch: Batch, indices: np.ndarray, view: OwnView, seed: int) -> Batch:
        """Return the graphs ``indices`` under a view of the user's own."""
        ptr = self._ptr(indices)
        taken = self.edges.take(self.collator.node_ptr, indices)
        S = viewed(view, taken, ptr, self._named(indices), seed)
        if isinstance(self.collator, molecules.MoleculeCollator):
            return self.collator.view(batch, indices, S)
        operator = self.collator.operator(S, ptr, diagonal=False)
        has_loop = np.zeros(ptr[-1], np.float32)
        has_loop[S.rows()[S.rows() == S.global_columns(ptr)]] = 1.0
        operator.missing_loops = torch.from_numpy(1.0 - has_loop).to(batch.x.device)
        return batch.with_adjacency(operator)

    def _changed(
        self, x: torch.Tensor, indices: np.ndarray, kinds: np.ndarray, rate: float, seed: int
    ) -> Batch:
        """Return the graphs ``indices``, each under the view that ``kinds`` [B] names."""
        ptr, collator = self._ptr(indices), self.collator
        taken = self.edges.take(collator.node_ptr, indices)
        drops_edges, ids = kinds == "edge-drop", self._named(indices)
        if isinstance(collator, molecules.MoleculeCollator):
            # Which links are dropped is decided among all links, not only among the bonds.
            others = np.where(drops_edges, "graph", kinds)
            _, keep, masked = change(taken, ptr, ids, others, rate, seed)
            kept = partial(_kept_links, drops_edges, ids, rate, seed)
            return collator.changed(_hidden(x, masked), indices, keep, kept)
        if drops_edges.all():
            edges = edge_drop(taken, ptr, ids, rate, seed)
            starts = torch.from_numpy(ptr).to(x.device)
            return Batch(x, starts, collator.operator(edges, ptr, diagonal=False))
        adjacency, keep, masked = change(taken, ptr, ids, kinds, rate, seed)
        hidden = _hidden(x, masked)
        is_diffused = np.isin(kinds, ("ppr", "heat"))
        if is_diffused.any():
            S = self.fixed_views[0][0].take(collator.node_ptr, indices[is_diffused])
            adjacency = adjacency.replaced(ptr, np.flatnonzero(is_diffused), S)
        left = induced(adjacency, ptr, keep)
        operator = collator.operator(left.adjacency, left.node_ptr, diagonal=False)
        # A diffusion has a diagonal, a plain graph has not.
        is_plain = np.repeat(~is_diffused, np.diff(left.node_ptr)).astype(np.float32)
        operator.missing_loops = torch.from_numpy(is_plain).to(x.device)
        nodes, starts = (torch.from_numpy(a).to(x.device) for a in (left.nodes, left.node_ptr))
        return Batch(hidden[nodes], starts, operator)


MOST_NODES = 4_000_000
"""Features and views of a set with more nodes are not prepared as a whole."""


class PassingSource(Source):
    """A source for a set too large to prepare as a whole: each batch is prepared when it is needed.

    Features, alike nodes and views are computed for the graphs of a batch alone, so memory does not
    grow with the set.
    """

    def __init__(
        self, graphs: GraphSet, features: FeatureMap, device: torch.device, **options: Any
    ) -> None:
        self.graphs, self.features, self.device = graphs, features, device
        self.view, self.subtrees = options.get("view"), options.pop("subtrees", None)
        self._pointer, self._options = np.asarray(graphs.node_ptr), options | {"cache": False}
        if self.view is not None and self.view.view == "bond-types":
            self._options["bonds"] = bond_types(graphs, self.view.num_views)
        self._last: tuple[np.ndarray, Source] | None = None

    @property
    def node_ptr(self) -> np.ndarray:
        """Where the nodes of each graph begin, [G + 1]."""
        return self._pointer

    @property
    def fixed_views(self) -> list[tuple[Adjacency, Name | None]]:
        """Empty: views are computed batch by batch."""
        return []

    def batch(self, indices: np.ndarray) -> Batch:
        """Return the graphs ``indices`` as they are."""
        return self._part(indices).batch(np.arange(len(indices)))

    def views(self, batch: Batch, indices: np.ndarray, place: Place) -> list[Batch]:
        """Return the K views of ``batch``, which holds the graphs ``indices``."""
        return self._part(indices).views(batch, np.arange(len(indices)), place)

    def two_views(
        self, indices: np.ndarray, place: Place, kinds: tuple[str, ...], rate: float
    ) -> tuple[Batch, Batch]:
        """Return two views of each of the graphs ``indices``, as ``Source`` does."""
        return self._part(indices).two_views(np.arange(len(indices)), place, kinds, rate)

    def _part(self, indices: np.ndarray) -> Source:
        """Return the source of some graphs, kept since a batch and its views need the same one."""
        if self._last is None or not np.array_equal(self._last[0], indices):
            part = self.graphs.take(indices)
            source = Source(part, self.features, self.device, ids=indices, **self._options)
            self._last = indices, source
        return self._last[1]


def make_source(
    graphs: GraphSet, features: FeatureMap, device: torch.device, **options: Any
) -> Source:
    """Return a source of the graphs for training; the options are those of ``Source``."""
    kind = PassingSource if graphs.num_nodes > MOST_NODES else Source
    return kind(graphs, features, device, **options)


def _hidden(x: torch.Tensor, masked: np.ndarray) -> torch.Tensor:
    """Return node features whose rows are zero where ``masked`` [n] bool."""
    return x.masked_fill(torch.from_numpy(masked).to(x.device).unsqueeze(1), 0.0)


def _kept_links(
    drops: np.ndarray,
    indices: np.ndarray,
    rate: float,
    seed: int,
    links: Adjacency,
    ptr: np.ndarray,
) -> np.ndarray:
    """Return which links stay, [E] bool, if the graphs with ``drops`` [B] bool lose some."""
    if not drops.any():
        return np.ones(links.num_entries, dtype=bool)
    is_whole = np.repeat(~drops, np.diff(links.row_ptr[ptr]))
    return is_whole | kept_edges(links, ptr, indices, rate, seed)
