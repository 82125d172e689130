"""``Adjacency``: the edges of many graphs as one compressed-row table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Adjacency:
    """Rows of a symmetric block-diagonal matrix, one block per graph.

    ``row_ptr`` [N + 1] int64: the entries of node v are at ``row_ptr[v]:row_ptr[v + 1]``.
    ``col`` [E] int32: neighbours, counted from 0 inside their own graph, ascending in each row.
    ``weight`` [E] float32, or None if every entry is 1.

    Columns are local, so that graphs can be selected, repeated and reordered without changing an
    entry: a batch is a gather. Each undirected edge is two entries.
    """

    row_ptr: np.ndarray
    col: np.ndarray
    weight: np.ndarray | None = None

    @property
    def num_entries(self) -> int:
        """Number of stored entries: two for each undirected edge, one for a self loop."""
        return int(self.row_ptr[-1])

    def degrees(self) -> np.ndarray:
        """Return the number of entries per row, [N] int64."""
        return np.diff(self.row_ptr)

    def rows(self) -> np.ndarray:
        """Return the row of every entry, counted over all graphs, [E] int64."""
        return np.repeat(np.arange(len(self.row_ptr) - 1), self.degrees())

    def global_columns(self, node_ptr: np.ndarray) -> np.ndarray:
        """Return the columns counted over all graphs, [E] int64."""
        offsets = np.repeat(node_ptr[:-1], np.diff(self.row_ptr[node_ptr]))
        return self.col.astype(np.int64) + offsets

    def mirror(self, node_ptr: np.ndarray) -> np.ndarray:
        """Return the place of the entry (v, u) of every entry (u, v), [E]."""
        from scipy.sparse import csr_array

        places, size = np.arange(self.num_entries), len(self.row_ptr) - 1
        entries = (places, self.global_columns(node_ptr), self.row_ptr)
        return csr_array(entries, shape=(size, size)).tocsc().data

    def broken_part(self, node_ptr: np.ndarray) -> str | None:
        """Return the name of an array of a file that points at nothing, None if all are sound.

        Native code reads them unchecked. Weights must be finite.
        """
        row_ptr, col, weight = self.row_ptr, self.col, self.weight
        if not _is_pointer(node_ptr, len(row_ptr) - 1):
            return "node_ptr"
        if not _is_pointer(row_ptr, len(col)):
            return "row_ptr"
        if weight is not None and (len(weight) != len(col) or not np.isfinite(weight).all()):
            return "weight"
        starts = row_ptr[node_ptr]
        filled = np.flatnonzero(starts[1:] > starts[:-1])
        if not len(filled):
            return None
        # As unsigned numbers, negative ones are too large as well.
        largest = np.maximum.reduceat(np.asarray(col).view(np.uint32), starts[filled])
        return None if (largest < np.diff(node_ptr)[filled]).all() else "col"

    def take(self, node_ptr: np.ndarray, indices: np.ndarray) -> "Adjacency":
        """Return the rows of the chosen graphs, in the order of ``indices``."""
        nodes = ranges(node_ptr[indices], node_ptr[indices + 1])
        entries = ranges(self.row_ptr[node_ptr[indices]], self.row_ptr[node_ptr[indices + 1]])
        lengths = self.row_ptr[nodes + 1] - self.row_ptr[nodes]
        weight = None if self.weight is None else self.weight[entries]
        return Adjacency(pointers(lengths), self.col[entries], weight)

    def replaced(self, node_ptr: np.ndarray, indices: np.ndarray, part: "Adjacency") -> "Adjacency":
        """Return the same graphs, with the rows of graphs ``indices`` taken from ``part``."""
        sizes, places = np.diff(node_ptr), np.arange(len(node_ptr) - 1)
        places[indices] = len(places) + np.arange(len(indices))
        ptr = pointers(np.concatenate([sizes, sizes[indices]]))
        return Adjacency.joined([self, part]).take(ptr, places)

    def only(self, keep: np.ndarray) -> "Adjacency":
        """Return the same rows with the entries where ``keep`` [E] is true."""
        weight = None if self.weight is None else self.weight[keep]
        return Adjacency(pointers(keep)[self.row_ptr], np.asarray(self.col)[keep], weight)

    @staticmethod
    def joined(parts: Sequence["Adjacency"]) -> "Adjacency":
        """Return the rows of all parts, concatenated; missing weights are 1."""
        weights = (
            p.weight if p.weight is not None else np.ones(p.num_entries, "f4") for p in parts
        )
        is_weighted = any(part.weight is not None for part in parts)
        row_ptr = pointers(np.concatenate([part.degrees() for part in parts]))
        col = np.concatenate([part.col for part in parts])
        return Adjacency(row_ptr, col, np.concatenate(list(weights)) if is_weighted else None)


def ranges(starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return ``starts[0] .. stops[0]-1, starts[1] .. stops[1]-1, ...`` as one int64 array."""
    lengths = stops - starts
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(shifts, lengths)


def _is_pointer(values: np.ndarray, total: int) -> bool:
    is_full = values.ndim == 1 and len(values) > 0 and values[0] == 0 and values[-1] == total
    return bool(is_full) and bool((values[1:] >= values[:-1]).all())


def pointers(lengths: np.ndarray) -> np.ndarray:
    """Return the pointer array [n + 1] int64 of consecutive segments with these lengths."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result
