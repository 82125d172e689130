"""Alike nodes: nodes of a graph that no encoder and no diffusion can tell apart, merged into one.

One row with a count gives the same result from far fewer entries.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from igsd.batches.batch import Collator
from igsd.batches.features import NodeFeatures
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.colours import neighbour_sums, splitmix64

WORTH = 0.8
"""Merging pays off with at most this many groups per node."""

_CHUNK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class NodeGroups:
    """N nodes in M groups of alike ones, in the order of their graphs.

    ``group`` [N]: the group of each node. ``first`` [M]: one node of each group. ``counts`` [M]:
    its number of nodes. ``node_ptr`` [G + 1]: where the groups of each graph begin.
    """

    group: np.ndarray
    first: np.ndarray
    counts: np.ndarray
    node_ptr: np.ndarray

    @property
    def are_worth_it(self) -> bool:
        """Whether merging alike nodes saves enough work."""
        return len(self.first) <= WORTH * len(self.group)


def alike_nodes(adjacency: Adjacency, node_ptr: np.ndarray, features: NodeFeatures) -> NodeGroups:
    """Return the groups of nodes with equal features and, apart from each other, equal neighbours.

    Of linked nodes, only those with a link of weight 1 are found.
    """
    names = splitmix64(np.arange(node_ptr[-1]).astype(np.uint64))
    linked = splitmix64(names ^ _weight_bits(np.ones(1, np.float32)))
    sums = np.empty_like(names)
    for start, stop in _spans(adjacency, node_ptr):
        part = adjacency.take(node_ptr, np.arange(start, stop))
        own = slice(node_ptr[start], node_ptr[stop])
        columns = part.global_columns(node_ptr[start : stop + 1] - own.start)
        if part.weight is None:
            neighbours = linked[own][columns]
        else:
            neighbours = splitmix64(names[own][columns] ^ _weight_bits(part.weight))
        sums[own] = neighbour_sums(neighbours, part.row_ptr)
    keys = _own_keys(features, node_ptr)
    apart = splitmix64(keys ^ splitmix64(sums))
    # With a self loop, a node has the same neighbours as its linked twin.
    together = splitmix64(~keys ^ splitmix64(sums + linked))
    _, place, sizes = np.unique(together, return_inverse=True, return_counts=True)
    return _grouped(np.where(sizes[place] > 1, together, apart), node_ptr)


def merge_adjacency(adjacency: Adjacency, node_ptr: np.ndarray, groups: NodeGroups) -> Adjacency:
    """Return the symmetric matrix N [M, M] such that N diag(counts) acts on groups as A on nodes.

    A group's vector is that of any of its nodes. Between groups an entry is that of A; a group's
    own entry is the mean of those between its nodes.
    """
    spans = _spans(adjacency, node_ptr)
    parts = [_merge_rows(adjacency, node_ptr, groups, *span) for span in spans]
    lengths, columns, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Adjacency(pointers(lengths), columns, weights)


def _merge_rows(
    adjacency: Adjacency, node_ptr: np.ndarray, groups: NodeGroups, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (entries per row, local columns, weights) of the groups of graphs start..stop-1."""
    low, high = groups.node_ptr[start], groups.node_ptr[stop]
    nodes = groups.first[low:high]
    begins, ends = adjacency.row_ptr[nodes], adjacency.row_ptr[nodes + 1]
    entries, row = ranges(begins, ends), np.repeat(np.arange(low, high), ends - begins)
    sizes = np.diff(groups.node_ptr[start : stop + 1])
    node = adjacency.col[entries] + np.repeat(node_ptr[start:stop], sizes)[row - low]
    weight = np.ones(len(entries)) if adjacency.weight is None else adjacency.weight[entries]
    column = groups.group[node]
    inside = column == row
    own = np.bincount(row[inside] - low, weight[inside], high - low) / groups.counts[low:high]
    kept = (node == groups.first[column]) & ~inside
    row, column, weight = row[kept], column[kept], weight[kept]
    # Insert a group's own entry in ascending order.
    has_own = np.flatnonzero(own)
    lengths = np.bincount(row - low, minlength=high - low)
    before = np.bincount(row[column < row] - low, minlength=high - low)
    places = (np.cumsum(lengths) - lengths + before)[has_own]
    lengths[has_own] += 1
    column = np.insert(column, places, has_own + low)
    local = column - np.repeat(np.repeat(groups.node_ptr[start:stop], sizes), lengths)
    weight = np.insert(weight, places, own[has_own])
    return lengths, local.astype(np.int32), weight.astype(np.float32)


def _spans(adjacency: Adjacency, node_ptr: np.ndarray) -> list[tuple[int, int]]:
    """Return ranges of whole graphs with a bounded number of entries each."""
    filled = adjacency.row_ptr[node_ptr[1:]] // _CHUNK_ENTRIES
    return list(pairwise([0, *(np.flatnonzero(np.diff(filled)) + 1).tolist(), len(node_ptr) - 1]))


def _grouped(keys: np.ndarray, node_ptr: np.ndarray) -> NodeGroups:
    """Return the groups of equal keys [N], numbered in the order of their first nodes."""
    _, first, place, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    number, first = np.empty_like(order), first[order]
    number[order] = np.arange(len(order))
    return NodeGroups(number[place], first, counts[order], np.searchsorted(first, node_ptr))


def _own_keys(features: NodeFeatures, node_ptr: np.ndarray) -> np.ndarray:
    """Return a key of each node's graph and features, [N]."""
    columns = [np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr)), *features.codes.T]
    if features.dense is not None:
        columns += list(features.dense.astype(np.float32).view(np.int32).T)
    keys = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        keys = splitmix64(keys + column.astype(np.int64).view(np.uint64))
    return keys


def _weight_bits(weight: np.ndarray) -> np.ndarray:
    """Return the bits of float32 weights as uint64, mixed."""
    return splitmix64(np.ascontiguousarray(weight).view(np.uint32).astype(np.uint64))


def merged(collator: Collator, edges: Adjacency) -> tuple[Collator, Adjacency, NodeGroups | None]:
    """Return (collator, edges, groups) with a row per group, or unchanged ones and no groups."""
    groups = alike_nodes(edges, collator.node_ptr, collator.features)
    if not groups.are_worth_it:
        return collator, edges, None
    dense, first = collator.features.dense, groups.first
    dense = None if dense is None else dense[first]
    features = replace(collator.features, codes=collator.features.codes[first], dense=dense)
    smaller = Collator(groups.node_ptr, features, collator.device, groups.counts)
    return smaller, merge_adjacency(edges, collator.node_ptr, groups), groups
