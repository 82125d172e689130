"""Weisfeiler-Lehman colours of all nodes of a set at once, as 64-bit hashes.

A colour is a hash of the node's last colour and of the multiset of its neighbours' last colours, so
equal subtrees have equal colours in every set, without a dictionary that grows with training. Two
different subtrees share a hash with a probability of about (number of colours)^2 / 2^65, that is
1e-8 for a million of them.
"""

from __future__ import annotations

import numpy as np

from igsd.baselines.node_keys import Keys
from igsd.graphs.colours import refined_keys
from igsd.graphs.graphset import GraphSet
from igsd.hashing import splitmix64


def wl_colours(graphs: GraphSet, keys: Keys, iterations: int) -> Keys:
    """Return the colours of every node at every level, [iterations + 1, N] uint64.

    Level 0 are the keys [N] themselves, level t describes the subtree of height t. Neighbours'
    hashes are added, which is a hash of a multiset: it knows no order and counts repeats.
    """
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    levels = np.empty((iterations + 1, graphs.num_nodes), dtype=np.uint64)
    levels[0] = keys
    for t in range(iterations):
        neighbours = splitmix64(levels[t])[columns]
        levels[t + 1] = refined_keys(levels[t], neighbours, graphs.adjacency.row_ptr)
    return levels
