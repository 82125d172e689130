"""Hashes of nodes and of multisets of neighbours, the same on every machine.

A colour is a hash of the node's last colour and of the multiset of its neighbours' last colours, so
equal subtrees have equal colours in every set, without a dictionary that grows during training. Two
different subtrees share a hash with a probability of about (number of colours)^2 / 2^65, that is
1e-8 for a million of them.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from igsd.errors import DataError
from igsd.graphs.graphset import GraphSet

Keys = NDArray[np.uint64]

_DEGREE_SALT = np.uint64(0x64656772)


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


def node_keys(graphs: GraphSet, source: str) -> Keys:
    """Return the key of every node, [N] uint64; raises ``DataError`` if labels are missing.

    Keys of labels are hashes of their names, so that sets with different codes for the same names
    agree, and a label that ``fit`` has not seen is just another key.
    """
    if source == "none":
        return np.zeros(graphs.num_nodes, dtype=np.uint64)
    if source == "degree":
        return splitmix64(graphs.adjacency.degrees().astype(np.uint64) ^ _DEGREE_SALT)
    if graphs.node_labels is None:
        raise DataError(
            f"The model was fitted on graphs with node labels, but {graphs.name!r} has none. "
            "Give the nodes the same kind of label, or fit on graphs without labels."
        )
    names = (*graphs.node_label_names, None)  # the last slot is the key of a missing label (-1)
    digests = [hashlib.blake2b(repr(name).encode(), digest_size=8).digest() for name in names]
    table = np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)
    return table[graphs.node_labels]


def wl_colours(graphs: GraphSet, source: str, iterations: int) -> Keys:
    """Return the colours of every node at every level, [iterations + 1, N] uint64.

    Level 0 is the keys of ``source`` ("label" or "degree"), level t the subtree of height t.
    """
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    levels = np.empty((iterations + 1, graphs.num_nodes), dtype=np.uint64)
    levels[0] = node_keys(graphs, source)
    for t in range(iterations):
        neighbours = splitmix64(levels[t])[columns]
        levels[t + 1] = refined_keys(levels[t], neighbours, graphs.adjacency.row_ptr)
    return levels
