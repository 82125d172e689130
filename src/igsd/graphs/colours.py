"""Hashes of nodes and of multisets of neighbours, the same on every machine."""

import numpy as np


def splitmix64(x: np.ndarray) -> np.ndarray:
    """Return 64 well-mixed bits for each number, uint64: one step of the SplitMix64 generator."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_OWN = np.uint64(0x9FB21C651E98DF25)


def refined_keys(own: np.ndarray, neighbours: np.ndarray, row_ptr: np.ndarray) -> np.ndarray:
    """Return new keys [N] uint64 from each node's key and the multiset of its neighbours' keys.

    ``own`` [N]; ``neighbours`` [E], well mixed, those of node v at ``row_ptr[v]:row_ptr[v + 1]``. A
    sum is a hash of a multiset: order does not matter and repeats count.
    """
    return splitmix64(own * _OWN + neighbour_sums(neighbours, row_ptr))


def neighbour_sums(neighbours: np.ndarray, row_ptr: np.ndarray) -> np.ndarray:
    """Return the sum of the keys of each row, modulo 2^64, [N] uint64."""
    running = np.zeros(len(neighbours) + 1, dtype=np.uint64)
    np.cumsum(neighbours, out=running[1:])
    return running[row_ptr[1:]] - running[row_ptr[:-1]]
