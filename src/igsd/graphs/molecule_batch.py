"""``MoleculeBatch``: molecules as tensors, with a category on every link for an MPNN."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.batch import Batch, Collator
from igsd.graphs.category_operator import CategoryOperator
from igsd.graphs.complete_graph import complete_blocks
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet, Name
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.operator import AdjacencyOperator


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

    def molecules(self, indices: np.ndarray) -> MoleculeBatch:
        """Return the molecules ``indices``."""
        adjacency = self.graphs.adjacency
        links = adjacency.take(self.node_ptr, indices)
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        bonds = self.bonds[ranges(adjacency.row_ptr[starts], adjacency.row_ptr[stops])]
        ptr, nodes = pointers(stops - starts), ranges(starts, stops)
        if self.positions is None:
            categories = self.links.categories(bonds, None)
        else:
            links, categories = self._complete(links, bonds, ptr, self.positions[nodes])
        return MoleculeBatch(
            self.node_features(nodes),
            torch.from_numpy(ptr).to(self.device),
            self.operator(links, ptr, diagonal=False),
            torch.from_numpy(categories).to(self.device),
        )

    def view(
        self, molecules: MoleculeBatch, indices: np.ndarray, view: Adjacency, bond: Name
    ) -> MoleculeBatch:
        """Return ``molecules``, made of these ``indices``, under the diffusion of one kind of bond.

        ``view``: a diffusion S of the whole set over bonds of the kind ``bond`` alone, as
        ``igsd.views.bond_types`` gives it. Its entries take the place of the links: every one
        counts as a bond of that kind, at the distance its atoms have, and S_ij multiplies its
        message.
        """
        taken = view.take(self.node_ptr, indices)
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        ptr = pointers(stops - starts)
        distances = None
        if self.positions is not None:
            positions = self.positions[ranges(starts, stops)]
            gaps = positions[taken.rows()] - positions[taken.global_columns(ptr)]
            distances = np.sqrt(np.einsum("pk,pk->p", gaps, gaps))
        bonds = np.full(taken.num_entries, self.links.bond_code(bond))
        return MoleculeBatch(
            molecules.x,
            molecules.ptr,
            self.operator(taken, ptr, diagonal=True),
            torch.from_numpy(self.links.categories(bonds, distances)).to(self.device),
        )

    def _complete(
        self, taken: Adjacency, bonds: np.ndarray, ptr: np.ndarray, positions: np.ndarray
    ) -> tuple[Adjacency, np.ndarray]:
        """Return every two atoms as linked, without a node's link to itself, and the categories."""
        blocks = complete_blocks(ptr)
        kinds = np.full(len(blocks.row), self.links.no_bond, np.int16)
        kinds[blocks.places(taken.rows(), taken.col)] = bonds
        distances = blocks.distances(positions)
        keep = blocks.row != blocks.col
        starts = np.repeat(ptr[:-1], np.diff(blocks.row_ptr[ptr]))
        complete = Adjacency(
            pointers(np.diff(blocks.row_ptr) - 1), (blocks.col - starts)[keep].astype(np.int32)
        )
        return complete, self.links.categories(kinds[keep], distances[keep])
