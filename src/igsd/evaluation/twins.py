"""Twins: indistinguishable graphs, whose colours are equal after colour refinement (1-WL)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from igsd.evaluation.inputs import IntArray
from igsd.graphs.graphset import GraphSet

ROUNDS = 4


def twin_groups(graphs: GraphSet) -> IntArray:
    """Return a group number per graph, [G]: equal numbers, equal colours after ROUNDS of 1-WL.

    Colours start as the node labels (one colour without labels) and are refined by the multiset of
    the neighbours' colours, compared by 128-bit sums of a random number for each colour. Self
    loops, edge labels and attributes are ignored. Groups are numbered by their first graph.
    """
    # Products with this adjacency [N, N], 0 for a self loop, sum hashes modulo 2^64 without a copy
    # for every entry: COLLAB has 25 million.
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    ones = (columns != graphs.adjacency.rows()).astype(np.uint64)
    shape = (graphs.num_nodes, graphs.num_nodes)
    neighbours = csr_array((ones, columns, graphs.adjacency.row_ptr), shape=shape)
    # A fixed stream: the groups must not depend on a seed.
    random = np.random.default_rng(20201120)
    colours = np.zeros(graphs.num_nodes, dtype=np.int64)
    if graphs.node_labels is not None:
        colours = np.unique(graphs.node_labels, return_inverse=True)[1].astype(np.int64)
    for _ in range(ROUNDS):
        around = neighbours @ _colour_hashes(colours, random)
        colours = _number_rows(np.column_stack([colours.astype(np.uint64), around]))
    # Sums over the nodes of each graph; unlike reduceat, 0 for a graph without nodes.
    running = np.zeros((graphs.num_nodes + 1, 2), dtype=np.uint64)
    np.cumsum(_colour_hashes(colours, random), axis=0, out=running[1:])
    numbers = _number_rows(np.diff(running[graphs.node_ptr], axis=0))
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _colour_hashes(colours: IntArray, random: np.random.Generator) -> np.ndarray:
    """Return 128 random bits for every node, the same for nodes of one colour, [N, 2]."""
    return random.integers(0, 2**64, size=(int(colours.max()) + 1, 2), dtype=np.uint64)[colours]


def _number_rows(keys: np.ndarray) -> IntArray:
    """Return a number per row of keys [n, k], equal for equal rows."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    is_new = np.zeros(len(keys), dtype=np.int64)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = np.cumsum(is_new)
    return numbers


@dataclass(frozen=True)
class Twins:
    """Figures of the groups that ``twin_groups`` finds.

    ``distinct``: groups. ``shared``: graphs that are not alone in their group. ``largest``: size of
    the largest group. ``ceiling``: the accuracy of always predicting the most frequent class of the
    group, None if a class is missing.
    """

    graphs: int
    distinct: int
    shared: int
    largest: int
    ceiling: float | None


def count_twins(graphs: GraphSet) -> Twins:
    """Return the figures of a set's twins, by colour refinement with its node labels."""
    groups, codes, ceiling = twin_groups(graphs), graphs.classes, None
    sizes = np.bincount(groups)
    if codes is not None and (codes >= 0).all():
        table = np.zeros((len(sizes), len(graphs.class_names)), np.int64)
        np.add.at(table, (groups, codes), 1)
        ceiling = float(table.max(axis=1).sum() / len(graphs))
    return Twins(len(graphs), len(sizes), int(sizes[sizes > 1].sum()), int(sizes.max()), ceiling)
