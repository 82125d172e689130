"""``DistinctBatch``: graphs as counts of their distinct neighbourhoods, each computed once.

After l rounds of message passing, the vector of a node depends only on its neighbourhood of l
edges, which most nodes share with others: of NCI1's 122,747 nodes, 994 differ after one round and
36,099 after three. This is the colour refinement of Weisfeiler and Lehman, level by level. Links
that have categories, such as bonds, are part of a neighbourhood.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch

from igsd.batches.batch import CHUNK_NODES, Collator
from igsd.batches.operator import runs_of_equal_size
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.colours import refined_keys, splitmix64

BLOCK = 2_000
"""Neighbourhoods with categories that are computed at a time: few, for the processor's cache."""


@dataclass(frozen=True)
class LinkBlock:
    """Some neighbourhoods of a level whose links have categories: rows ``start`` to ``stop``.

    ``own``: the row of the node itself in the level before. Each pair of a sender and a category is
    computed once: ``sender`` [P] are rows of the level before, sorted by category, ``counts`` [T]
    how many each category has, and the CSR matrix ``arrive`` [stop - start, P] sums the messages.
    """

    start: int
    stop: int
    own: torch.Tensor
    sender: torch.Tensor
    counts: list[int]
    arrive: torch.Tensor


@dataclass(frozen=True)
class Level:
    """The U distinct neighbourhoods of l edges, as CSR matrices.

    ``gather`` [U, U of the level before] sums the vectors of a node's neighbours and its own; where
    links have categories, ``blocks`` stand in its place. ``members`` [B, U] counts how often each
    occurs in each graph; its columns are the kinds of the nodes, in their order.
    """

    gather: torch.Tensor | None
    members: torch.Tensor
    blocks: tuple[LinkBlock, ...] = ()


@dataclass(frozen=True, eq=False)
class DistinctBatch:
    """B graphs of ``sizes`` [B] nodes: distinct node features ``x`` [U, d], one level per layer.

    ``used`` [T]: the categories of links that occur, None for links without categories.
    """

    x: torch.Tensor
    levels: list[Level]
    sizes: torch.Tensor
    used: torch.Tensor | None = None

    @property
    def num_graphs(self) -> int:
        """Number of graphs B."""
        return len(self.sizes)

    @cached_property
    def runs(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Graphs of equal size n, few at a time: the graphs [b], and their nodes [b * n]."""
        sizes = self.sizes.cpu().numpy()
        order, starts = np.argsort(sizes, kind="stable"), pointers(sizes)
        runs, found, done = runs_of_equal_size(sizes[order]), [], 0
        for count, size in zip(runs.counts.tolist(), runs.sizes.tolist(), strict=True):
            step = max(1, CHUNK_NODES // max(size, 1))
            for begin in range(done, done + count, step):
                graphs = order[begin : min(begin + step, done + count)]
                nodes = ranges(starts[graphs], starts[graphs] + size)
                found.append((self._on_device(graphs), self._on_device(nodes)))
            done += count
        return found

    def _on_device(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.sizes.device)


def distinct_batch(collator: Collator, adjacency: Adjacency, num_levels: int) -> DistinctBatch:
    """Return all graphs of a collator, whose node features are one-hot, under unweighted edges.

    The probability that 64-bit hashes merge two different neighbourhoods is below U^2 / 2^65.
    """
    node_ptr, device = collator.node_ptr, collator.device
    columns, categories = adjacency.global_columns(node_ptr), collator.categories
    keys = np.zeros(len(adjacency.row_ptr) - 1, dtype=np.uint64)
    for part in collator.features.codes.T:
        keys = splitmix64(keys ^ part.astype(np.uint64))
    keys, first, kind = _kinds(keys)
    x, levels, used, codes = collator.node_features(first), [], None, None
    factors: np.ndarray | np.uint64 = np.uint64(1)
    if categories is not None:
        present = np.bincount(categories) > 0
        used, codes = np.flatnonzero(present), (np.cumsum(present) - 1)[categories]
        # A sum over products with odd numbers of their own tells links of two categories apart.
        factors = (splitmix64(used.astype(np.uint64)) | np.uint64(1))[codes]
    for _ in range(num_levels):
        before, width = kind, len(keys)
        neighbours = splitmix64(keys)[kind][columns] * factors
        keys = refined_keys(keys[kind], neighbours, adjacency.row_ptr)
        keys, first, kind = _kinds(keys)
        members = _ones(node_ptr, kind, len(keys), device)
        if used is None or codes is None:
            gather = _ones(*_gather(adjacency, columns, first, before), width, device)
            levels.append(Level(gather, members))
        else:
            parts = _blocks(adjacency, columns, first, before, codes, (width, len(used)), device)
            levels.append(Level(None, members, tuple(parts)))
    return DistinctBatch(
        x,
        levels,
        torch.from_numpy(np.diff(node_ptr)).to(device),
        None if used is None else torch.from_numpy(used).to(device),
    )


def _kinds(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (different keys [U], one place of each [U], the number of every key's kind [N]).

    Like ``np.unique`` with a faster sort; kinds are numbered in the order of their places. The
    places take the last bits of the keys: two keys that differ there alone, which hardly ever
    happens, may be counted as more than one kind each.
    """
    order = _last_bits(np.sort(_with_places(keys, 0)), len(keys))
    ordered = keys[order]
    is_new = np.ones(len(keys), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    kinds = np.empty(len(keys), dtype=np.int64)
    kinds[order] = np.cumsum(is_new) - 1
    is_place = np.zeros(len(keys), dtype=bool)
    is_place[order[is_new]] = True
    number, places = np.cumsum(is_place) - 1, np.flatnonzero(is_place)
    return keys[places], places, number[order[is_new]][kinds]


def _order(numbers: np.ndarray) -> np.ndarray:
    """Return the order of numbers from 0 on, equal ones by place: sorting values is much faster."""
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > 64:
        return np.argsort(numbers, kind="stable")
    return _last_bits(np.sort(_with_places(numbers.astype(np.uint64), bits)), len(numbers))


def _with_places(keys: np.ndarray, shift: int) -> np.ndarray:
    """Return keys [N] uint64, shifted to the left, whose last bits are their places."""
    last = np.uint64((1 << len(keys).bit_length()) - 1)
    return ((keys << np.uint64(shift)) & ~last) | np.arange(len(keys), dtype=np.uint64)


def _last_bits(keys: np.ndarray, count: int) -> np.ndarray:
    """Return the places, below ``count``, in the last bits of keys."""
    return (keys & np.uint64((1 << count.bit_length()) - 1)).astype(np.int64)


def _gather(
    adjacency: Adjacency, columns: np.ndarray, nodes: np.ndarray, kind: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (pointers, columns) of ``nodes``: the kinds of their neighbours, then their own."""
    starts, stops = adjacency.row_ptr[nodes], adjacency.row_ptr[nodes + 1]
    row_ptr = pointers(stops - starts + 1)
    kinds = np.empty(row_ptr[-1], dtype=np.int64)
    kinds[row_ptr[1:] - 1] = kind[nodes]
    kinds[ranges(row_ptr[:-1], row_ptr[1:] - 1)] = kind[columns[ranges(starts, stops)]]
    return row_ptr, kinds


def _blocks(
    adjacency: Adjacency,
    columns: np.ndarray,
    nodes: np.ndarray,
    kind: np.ndarray,
    codes: np.ndarray,
    shape: tuple[int, int],
    device: torch.device,
) -> Iterator[LinkBlock]:
    """Yield the blocks of ``nodes``; ``shape``: rows of the level before, and categories."""
    width, num_categories = shape
    starts, stops = adjacency.row_ptr[nodes], adjacency.row_ptr[nodes + 1]
    entries, row_ptr = ranges(starts, stops), pointers(stops - starts)
    bounds = np.append(np.arange(0, len(nodes), BLOCK), len(nodes))
    ends = row_ptr[bounds]
    block = np.repeat(np.arange(len(bounds) - 1), np.diff(ends))
    pairs = (block * num_categories + codes[entries]) * width + kind[columns[entries]]
    # The pairs of each block once, sorted by category, and the place of each entry's pair.
    order = _order(pairs)
    ordered = pairs[order]
    is_new = np.ones(len(pairs), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    place = np.empty(len(pairs), dtype=np.int64)
    place[order] = np.cumsum(is_new) - 1
    groups, senders = np.divmod(ordered[is_new], width)
    counts = np.bincount(groups, minlength=(len(bounds) - 1) * num_categories)
    counts = counts.reshape(len(bounds) - 1, num_categories)
    begins = pointers(counts.sum(axis=1))
    own, sender = (torch.from_numpy(rows).to(device) for rows in (kind[nodes], senders))
    for number, (start, stop) in enumerate(pairwise(bounds.tolist())):
        low, high = begins[number], begins[number + 1]
        rows = row_ptr[start : stop + 1] - row_ptr[start]
        column = place[ends[number] : ends[number + 1]] - low
        arrive = _ones(rows, column, int(high - low), device)
        found = counts[number].tolist()
        yield LinkBlock(start, stop, own[start:stop], sender[low:high], found, arrive)


def _ones(row_ptr: np.ndarray, col: np.ndarray, width: int, device: torch.device) -> torch.Tensor:
    """Return a CSR matrix of ones; repeated columns count repeatedly."""
    rows, columns = (torch.from_numpy(array.astype(np.int32)) for array in (row_ptr, col))
    size, ones = (len(row_ptr) - 1, width), torch.ones(len(col))
    return torch.sparse_csr_tensor(rows, columns, ones, size, check_invariants=False).to(device)
