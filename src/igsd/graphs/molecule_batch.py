"""``MoleculeBatch``: molecules as tensors, with a category on every link for an MPNN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.batch import Batch, Collator
from igsd.graphs.category_operator import CategoryOperator
from igsd.graphs.complete_graph import CompleteBlocks, complete_blocks, pair_distances
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet, Name
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.operator import AdjacencyOperator

Keep = Callable[[Adjacency, np.ndarray], np.ndarray]
"""From links and where the molecules of a batch begin [B + 1] to which links stay [E] bool."""


class MoleculeBatch(Batch):
    """B molecules with n atoms in all: a ``Batch`` whose links have categories.

    ``category`` [E] int64 runs along the entries of ``adjacency``: a code of ``LinkFeatures``. An
    encoder that knows nothing of categories may use it as any other batch.
    """

    def __init__(
        self, x: Tensor, ptr: Tensor, adjacency: AdjacencyOperator, category: Tensor
    ) -> None:
        super().__init__(x, ptr, adjacency)
        self.category = category

    @cached_property
    def links(self) -> CategoryOperator:
        """The operator that sums over links by category, made when first used."""
        return CategoryOperator(self.edge_index, self.edge_weight, self.category, len(self.x))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> MoleculeBatch:
        """Return one batch with the molecules of all, in order; all must be ``MoleculeBatch``."""
        parts = [batch for batch in batches if isinstance(batch, MoleculeBatch)]
        if len(parts) < len(batches):
            raise TypeError("MoleculeBatch.joined takes batches with categories and no others.")
        if len(parts) == 1:
            return parts[0]
        plain = Batch.joined([Batch(part.x, part.ptr, part.adjacency) for part in parts])
        category = torch.cat([part.category for part in parts])
        return cls(plain.x, plain.ptr, plain.adjacency, category)


def make_collator(graphs: GraphSet, features: FeatureMap, device: torch.device) -> Collator:
    """Return what makes batches of these graphs: of molecules where ``features`` knows links."""
    if features.links is not None:
        return MoleculeCollator(graphs, features, features.links, device)
    return Collator(graphs.node_ptr, features.transform(graphs), device)


class MoleculeCollator(Collator):
    """Makes batches of one set of molecules, and of its views, taken out by index.

    Where ``links`` has distance bins, a molecule is a complete graph: every two atoms are linked,
    bonded or not. Otherwise its links are its bonds.
    """

    def __init__(
        self, graphs: GraphSet, features: FeatureMap, links: LinkFeatures, device: torch.device
    ) -> None:
        super().__init__(graphs.node_ptr, features.transform(graphs), device)
        self.graphs = graphs
        self.links = links
        self.bonds = links.bond_codes(graphs).astype(np.int16)
        self.positions = links.positions(graphs)

    def batch(self, indices: np.ndarray, adjacency: Adjacency) -> MoleculeBatch:
        """Return the molecules ``indices``; ``adjacency`` must be the set's, whose kinds we have.

        Raises ``TypeError`` for another one: use ``view`` or ``thinned``.
        """
        if adjacency is not self.graphs.adjacency:
            raise TypeError("MoleculeCollator.batch takes the edges of its own set alone.")
        return self.molecules(indices)

    def molecules(self, indices: np.ndarray) -> MoleculeBatch:
        """Return the molecules ``indices``."""
        ptr, nodes = self._nodes(indices)
        starts = torch.from_numpy(ptr).to(self.device)
        links, categories = self._links(indices, ptr, nodes)
        return self._batch(self.node_features(nodes), starts, ptr, links, categories)

    def thinned(self, batch: Batch, indices: np.ndarray, keep: Keep) -> MoleculeBatch:
        """Return ``batch``, made of these ``indices``, with the links that ``keep`` chooses."""
        ptr, nodes = self._nodes(indices)
        links, categories = self._links(indices, ptr, nodes)
        mask = keep(links, ptr)
        return self._batch(batch.x, batch.ptr, ptr, links.only(mask), categories[mask])

    def view(
        self, batch: Batch, indices: np.ndarray, view: Adjacency, bond: Name | None
    ) -> MoleculeBatch:
        """Return ``batch``, made of these ``indices``, under a diffusion of the whole set.

        ``view``: a diffusion S over bonds of the kind ``bond`` alone, as ``igsd.views.bond_types``
        gives it, or over all where ``bond`` is None. Its entries take the place of the links: S_ij
        multiplies the message. An entry counts as a bond of that kind, or as the bond that its
        atoms have, at the distance they have.
        """
        taken = view.take(self.node_ptr, indices)
        ptr, nodes = self._nodes(indices)
        distances = None
        if self.positions is not None:
            ends = taken.rows(), taken.global_columns(ptr)
            distances = pair_distances(self.positions[nodes], *ends)
        if bond is None:
            blocks = complete_blocks(ptr)
            kinds = self._kinds(blocks, *self._bonds(indices))
            bonds = kinds[blocks.places(taken.rows(), taken.col)]
        else:
            bonds = np.full(taken.num_entries, self.links.bond_code(bond))
        categories = self.links.categories(bonds, distances)
        return self._batch(batch.x, batch.ptr, ptr, taken, categories)

    def _batch(
        self, x: Tensor, starts: Tensor, ptr: np.ndarray, links: Adjacency, categories: np.ndarray
    ) -> MoleculeBatch:
        operator = self.operator(links, ptr, diagonal=links.weight is not None)
        return MoleculeBatch(x, starts, operator, torch.from_numpy(categories).to(self.device))

    def _links(
        self, indices: np.ndarray, ptr: np.ndarray, nodes: np.ndarray
    ) -> tuple[Adjacency, np.ndarray]:
        """Return the links of the chosen molecules, bonds or all pairs, and their categories."""
        bonds, codes = self._bonds(indices)
        if self.positions is None:
            return bonds, self.links.categories(codes, None)
        return self._complete(bonds, codes, ptr, self.positions[nodes])

    def _nodes(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the chosen molecules begin in a batch, and which nodes of the set it has."""
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        return pointers(stops - starts), ranges(starts, stops)

    def _bonds(self, indices: np.ndarray) -> tuple[Adjacency, np.ndarray]:
        """Return the bonds of the chosen molecules and their codes, [E] int16."""
        adjacency = self.graphs.adjacency
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        entries = ranges(adjacency.row_ptr[starts], adjacency.row_ptr[stops])
        return adjacency.take(self.node_ptr, indices), self.bonds[entries]

    def _kinds(self, blocks: CompleteBlocks, taken: Adjacency, bonds: np.ndarray) -> np.ndarray:
        """Return the bond code of every two atoms, that of no bond where there is none."""
        kinds = np.full(len(blocks.row), self.links.no_bond, np.int16)
        kinds[blocks.places(taken.rows(), taken.col)] = bonds
        return kinds

    def _complete(
        self, taken: Adjacency, bonds: np.ndarray, ptr: np.ndarray, positions: np.ndarray
    ) -> tuple[Adjacency, np.ndarray]:
        """Return every two atoms as linked, without a node's link to itself, and the categories."""
        blocks = complete_blocks(ptr)
        kinds = self._kinds(blocks, taken, bonds)
        distances = blocks.distances(positions)
        keep = blocks.row != blocks.col
        starts = np.repeat(ptr[:-1], np.diff(blocks.row_ptr[ptr]))
        complete = Adjacency(
            pointers(np.diff(blocks.row_ptr) - 1), (blocks.col - starts)[keep].astype(np.int32)
        )
        return complete, self.links.categories(kinds[keep], distances[keep])
