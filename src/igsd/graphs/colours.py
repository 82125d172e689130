"""One round of colour refinement (Weisfeiler and Lehman), on 64-bit hashes as colours."""

from __future__ import annotations

import numpy as np

from igsd.hashing import splitmix64

_OWN = np.uint64(0x9FB21C651E98DF25)


def refined_keys(own: np.ndarray, neighbours: np.ndarray, row_ptr: np.ndarray) -> np.ndarray:
    """Return new keys [N] uint64 from each node's key and the multiset of its neighbours' keys.

    ``own`` [N]; ``neighbours`` [E], well mixed, those of node v at ``row_ptr[v]:row_ptr[v + 1]``. A
    sum is a hash of a multiset: it knows no order and counts repeats.
    """
    return splitmix64(own * _OWN + neighbour_sums(neighbours, row_ptr))


def neighbour_sums(neighbours: np.ndarray, row_ptr: np.ndarray) -> np.ndarray:
    """Return the sum of the keys of each row, modulo 2^64, [N] uint64."""
    running = np.zeros(len(neighbours) + 1, dtype=np.uint64)
    np.cumsum(neighbours, out=running[1:])
    return running[row_ptr[1:]] - running[row_ptr[:-1]]
