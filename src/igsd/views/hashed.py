"""Numbers in [0, 1) that are a hash of a seed and of what they belong to.

As in ``edge_drop`` nothing is drawn from a stream: a node, a graph or a step of a walk gets the
same number whatever batch it stands in, so a resumed run sees the views that it would have seen.
"""

from __future__ import annotations

import numpy as np

from igsd.hashing import splitmix64


def hashed_uniform(seed: int, *keys: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1) for each tuple of keys, float64, of the keys' common shape.

    ``keys``: whole numbers, at least 0, that broadcast against each other. Another seed gives other
    numbers, and so does another order of the keys.
    """
    bits = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    for key in keys:
        bits = splitmix64(bits ^ splitmix64(np.asarray(key).astype(np.uint64)))
    return (bits >> np.uint64(11)) * 2.0**-53


def node_uniform(node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each node of a batch, [n] float64.

    ``node_ptr`` [B + 1]: where the nodes of each graph begin. ``graph_ids`` [B]: which graph of the
    whole set each one is; the same graph twice in a batch gets the same numbers twice.
    """
    sizes = np.diff(node_ptr)
    local = np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], sizes)
    return hashed_uniform(seed, np.repeat(np.asarray(graph_ids, dtype=np.int64), sizes), local)
