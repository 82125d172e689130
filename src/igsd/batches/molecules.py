"""``MoleculeBatch``: molecules as tensors, with a category on every link for an MPNN."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from igsd.batches.batch import Batch, Collator
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.operator import AdjacencyOperator
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.graphset import GraphSet, Name


@dataclass(frozen=True)
class CompleteBlocks:
    """The ordered pairs (i, j) of the nodes of each graph: a block [n_b, n_b] per graph, by rows.

    Blocks follow each other without padding, P pairs in total. ``row`` and ``col`` [P] int64:
    the nodes, counted over the batch. ``row_ptr`` [n + 1] int64: where each node's pairs begin.
    """

    row: np.ndarray
    col: np.ndarray
    row_ptr: np.ndarray

    def places(self, rows: np.ndarray, local_columns: np.ndarray) -> np.ndarray:
        """Return the positions of pairs, rows counted over the batch, columns in their graph."""
        return self.row_ptr[rows] + local_columns


def pair_distances(positions: np.ndarray, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """Return the distance of nodes ``row[p]`` and ``col[p]``, [P], at ``positions`` [n, 3]."""
    gaps = positions[row] - positions[col]
    return np.sqrt(np.einsum("pk,pk->p", gaps, gaps))


def complete_blocks(ptr: np.ndarray) -> CompleteBlocks:
    """Return all pairs of nodes of each graph, each node with itself included; ``ptr`` [B + 1]."""
    sizes = np.diff(ptr)
    per_node = np.repeat(sizes, sizes)
    starts = np.repeat(ptr[:-1], sizes)
    row = np.repeat(np.arange(int(ptr[-1])), per_node)
    return CompleteBlocks(row, ranges(starts, starts + per_node), pointers(per_node))


class CategoryOperator:
    """Computes sum_j w_ij x_j Theta[t_ij] for every node i, where t_ij is the link's category.

    Each pair (category, sender) is multiplied by its Theta once, all senders of a category in one
    product, and a sparse matrix sums the messages.

    ``edge_index`` [2, E] int64: receiver i, in ascending order, and sender j of every link;
    ``weight`` [E], ``category`` [E] int64. ``used`` [T] int64: the categories that occur, the order
    of the matrices. ``row_sums`` [n]: the sum of w_ij over j.
    """

    def __init__(
        self, edge_index: Tensor, weight: Tensor, category: Tensor, num_nodes: int
    ) -> None:
        receiver, sender = edge_index
        present = category.bincount() > 0  # most categories do not occur
        self.used = present.nonzero().squeeze(1)
        key = (present.cumsum(0) - 1)[category] * num_nodes + sender
        occurs = torch.zeros(len(self.used), num_nodes, dtype=torch.bool, device=key.device)
        occurs.view(-1)[key] = True
        place = occurs.view(-1).cumsum(0, dtype=torch.int32) - 1
        self.counts: list[int] = occurs.sum(1).tolist()
        self.sender = occurs.nonzero()[:, 1]
        self.row_sums = weight.new_zeros(num_nodes).index_add_(0, receiver, weight)
        # The sparse matrices of the sums; ``pair`` [E]: the message of each link.
        pair, n, num_pairs = place[key], num_nodes, len(self.sender)
        self.arrive = _rows(_bounds(receiver, n), pair, weight, (n, num_pairs))
        # The gradient is a product with the transposed matrices.
        order, bounds = pair.argsort(stable=True), _bounds(pair, num_pairs)
        self.arrive_back = _rows(bounds, receiver[order], weight[order], (num_pairs, n))
        ones = torch.ones_like(self.sender, dtype=weight.dtype)
        own, bounds = self.sender.argsort(stable=True), _bounds(self.sender, n)
        self.send_back = _rows(bounds, own, ones, (n, num_pairs))

    def messages(self, x: Tensor, matrices: Tensor) -> Tensor:
        """Return the sums [n, e] of node vectors x [n, d] through ``matrices`` [T, d, e]."""
        with torch.autocast(x.device.type, enabled=False):
            dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
            return _Messages.apply(x.to(dtype), matrices.to(dtype), self)


class _Messages(torch.autograd.Function):
    """The products category by category, then the sparse sum; no gradient to the links."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, matrices: Tensor, links: CategoryOperator) -> Tensor:
        ctx.save_for_backward(x, matrices)
        ctx.links = links
        sent = _by_category(x.index_select(0, links.sender), matrices, links.counts)
        return links.arrive.to(x.dtype) @ sent

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        x, matrices = ctx.saved_tensors
        links: CategoryOperator = ctx.links
        arrived = links.arrive_back.to(x.dtype) @ gradients[0].contiguous()
        to_sent = _by_category(arrived, matrices.transpose(1, 2), links.counts)
        to_matrices = torch.empty_like(matrices)
        sent = x.index_select(0, links.sender).split(links.counts)
        for category, (a, b) in enumerate(zip(sent, arrived.split(links.counts), strict=True)):
            torch.mm(a.T, b, out=to_matrices[category])
        return links.send_back.to(x.dtype) @ to_sent, to_matrices, None


def _by_category(rows: Tensor, matrices: Tensor, counts: list[int]) -> Tensor:
    """Return the rows of each category, sorted by category, times its matrix."""
    result = rows.new_empty(len(rows), matrices.shape[2])
    chunks = zip(rows.split(counts), matrices, result.split(counts), strict=True)
    for chunk, matrix, out in chunks:
        torch.mm(chunk, matrix, out=out)
    return result


def _bounds(index: Tensor, size: int) -> Tensor:
    counts = index.bincount(minlength=size)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _rows(row_ptr: Tensor, col: Tensor, weight: Tensor, size: tuple[int, int]) -> Tensor:
    return torch.sparse_csr_tensor(row_ptr.int(), col.int(), weight, size, check_invariants=False)


Keep = Callable[[Adjacency, np.ndarray], np.ndarray]
"""From links and the first atoms of molecules [B + 1] to which links are kept, [E] bool."""


class MoleculeBatch(Batch):
    """B molecules with n atoms: a ``Batch`` with a ``category`` [E] int64 for each link."""

    def __init__(
        self, x: Tensor, ptr: Tensor, adjacency: AdjacencyOperator, category: Tensor
    ) -> None:
        super().__init__(x, ptr, adjacency)
        self.category = category

    @cached_property
    def links(self) -> CategoryOperator:
        """The operator that sums over links by category."""
        return CategoryOperator(self.edge_index, self.edge_weight, self.category, len(self.x))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> "MoleculeBatch":
        """Return one batch with the molecules of all, in order; all must be ``MoleculeBatch``."""
        parts = [batch for batch in batches if isinstance(batch, MoleculeBatch)]
        if len(parts) < len(batches):
            raise TypeError("MoleculeBatch.joined only takes batches with categories.")
        if len(parts) == 1:
            return parts[0]
        plain = Batch.joined([Batch(part.x, part.ptr, part.adjacency) for part in parts])
        category = torch.cat([part.category for part in parts])
        return cls(plain.x, plain.ptr, plain.adjacency, category)


def make_collator(graphs: GraphSet, features: FeatureMap, device: torch.device) -> Collator:
    """Return the collator of these graphs, one of molecules if ``features`` includes links."""
    if features.links is not None:
        return MoleculeCollator(graphs, features, features.links, device)
    return Collator(graphs.node_ptr, features.transform(graphs), device)


class MoleculeCollator(Collator):
    """Makes batches of one set of molecules, and of its views, taken out by index.

    With distance bins in ``links``, a molecule is a complete graph: every two atoms are linked,
    bonded or not. Otherwise its links are its bonds.
    """

    def __init__(
        self, graphs: GraphSet, features: FeatureMap, links: LinkFeatures, device: torch.device
    ) -> None:
        super().__init__(graphs.node_ptr, features.transform(graphs), device)
        self.graphs, self.links = graphs, links
        codes = links.bond_codes(graphs)
        self.bonds = codes.astype(np.int16 if links.no_bond < 2**15 else np.int32)
        self.positions = links.positions(graphs)

    @property
    def categories(self) -> np.ndarray:
        """The category of every bond of the set, [E] int64, as far as it has no distances."""
        return self.links.categories(self.bonds, None)

    def batch(self, indices: np.ndarray, adjacency: Adjacency) -> MoleculeBatch:
        """Return the molecules ``indices``; raises ``TypeError`` for edges of another set."""
        if adjacency is not self.graphs.adjacency:
            raise TypeError("MoleculeCollator.batch only takes the edges of its own set.")
        return self.molecules(indices)

    def molecules(self, indices: np.ndarray) -> MoleculeBatch:
        """Return the molecules ``indices``."""
        ptr, nodes = self._nodes(indices)
        links, categories = self._links(indices, ptr, nodes)
        return self._batch(self.node_features(nodes), ptr, links, categories)

    def changed(
        self, x: Tensor, indices: np.ndarray, keep: np.ndarray, keep_links: Keep
    ) -> MoleculeBatch:
        """Return the molecules ``indices``, features x, with only some atoms and links.

        ``keep`` [n] bool: the atoms; ``keep_links``: which links stay if both their atoms do.
        """
        ptr, nodes = self._nodes(indices)
        links, categories = self._links(indices, ptr, nodes)
        stays = keep_links(links, ptr)
        if keep.all():
            return self._batch(x, ptr, links.only(stays), categories[stays])
        stays &= keep[links.rows()] & keep[links.global_columns(ptr)]
        before = pointers(keep)
        left, row_ptr = before[ptr], pointers(stays)[links.row_ptr]
        columns = before[links.global_columns(ptr)[stays]]
        rows = pointers(np.diff(row_ptr)[keep])
        starts = np.repeat(left[:-1], np.diff(rows[left]))
        weight = None if links.weight is None else links.weight[stays]
        edges = Adjacency(rows, (columns - starts).astype(np.int32), weight)
        kept = x[torch.from_numpy(np.flatnonzero(keep)).to(self.device)]
        return self._batch(kept, left, edges, categories[stays])

    def view(
        self, batch: Batch, indices: np.ndarray, taken: Adjacency, bond: Name | None = None
    ) -> MoleculeBatch:
        """Return ``batch``, which holds the molecules ``indices``, under a view.

        ``taken``: the view of these molecules, such as a diffusion S over bonds of the kind
        ``bond``, or over all bonds if it is None. Its entries replace the links: S_ij multiplies
        the message. An entry counts as a bond of that kind, or as the bond of its two atoms (as
        none if they have none), at their distance.
        """
        ptr, nodes = self._nodes(indices)
        distances = None
        if self.positions is not None:
            ends = taken.rows(), taken.global_columns(ptr)
            distances = pair_distances(self.positions[nodes], *ends)
        if bond is None:
            bonds = self._bonds_between(taken, *self._bonds(indices), ptr)
        else:
            bonds = np.full(taken.num_entries, self.links.bond_code(bond))
        categories = self.links.categories(bonds, distances)
        return self._batch(batch.x, ptr, taken, categories, diagonal=True)

    def _batch(
        self,
        x: Tensor,
        ptr: np.ndarray,
        links: Adjacency,
        categories: np.ndarray,
        *,
        diagonal: bool = False,
    ) -> MoleculeBatch:
        operator = self.operator(links, ptr, diagonal=diagonal)
        starts, codes = (torch.from_numpy(array).to(self.device) for array in (ptr, categories))
        return MoleculeBatch(x, starts, operator, codes)

    def _links(
        self, indices: np.ndarray, ptr: np.ndarray, nodes: np.ndarray
    ) -> tuple[Adjacency, np.ndarray]:
        """Return the links of the chosen molecules, bonds or all pairs, and their categories."""
        bonds, codes = self._bonds(indices)
        if self.positions is None:
            return bonds, self.links.categories(codes, None)
        return self._complete(bonds, codes, ptr, self.positions[nodes])

    def _nodes(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        return pointers(stops - starts), ranges(starts, stops)

    def _bonds(self, indices: np.ndarray) -> tuple[Adjacency, np.ndarray]:
        """Return the bonds of the chosen molecules and their codes, [E]."""
        adjacency = self.graphs.adjacency
        starts, stops = self.node_ptr[indices], self.node_ptr[indices + 1]
        entries = ranges(adjacency.row_ptr[starts], adjacency.row_ptr[stops])
        return adjacency.take(self.node_ptr, indices), self.bonds[entries]

    def _bonds_between(
        self, pairs: Adjacency, taken: Adjacency, bonds: np.ndarray, ptr: np.ndarray
    ) -> np.ndarray:
        """Return the bond code of each entry of ``pairs``, or that of no bond."""
        n = int(ptr[-1])
        keys = taken.rows() * n + taken.global_columns(ptr)
        wanted = pairs.rows() * n + pairs.global_columns(ptr)
        kinds = np.full(len(wanted), self.links.no_bond, bonds.dtype)
        if len(keys):
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = keys[place] == wanted
            kinds[found] = bonds[place[found]]
        return kinds

    def _kinds(self, blocks: CompleteBlocks, taken: Adjacency, bonds: np.ndarray) -> np.ndarray:
        """Return the bond code of every pair of atoms, or that of no bond."""
        kinds = np.full(len(blocks.row), self.links.no_bond, bonds.dtype)
        kinds[blocks.places(taken.rows(), taken.col)] = bonds
        return kinds

    def _complete(
        self, taken: Adjacency, bonds: np.ndarray, ptr: np.ndarray, positions: np.ndarray
    ) -> tuple[Adjacency, np.ndarray]:
        """Return links between every two different atoms, and their categories."""
        blocks = complete_blocks(ptr)
        kinds = self._kinds(blocks, taken, bonds)
        distances = pair_distances(positions, blocks.row, blocks.col)
        keep = blocks.row != blocks.col
        columns = blocks.col - np.repeat(ptr[:-1], np.diff(blocks.row_ptr[ptr]))
        row_ptr = pointers(np.diff(blocks.row_ptr) - 1)
        links = Adjacency(row_ptr, columns[keep].astype(np.int32))
        return links, self.links.categories(kinds[keep], distances[keep])
