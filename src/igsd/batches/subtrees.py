"""``SubtreeTargets``: which Weisfeiler-Lehman subtrees a graph holds, as a target of training."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.colours import Keys, wl_colours
from igsd.graphs.graphset import GraphSet
from igsd.limits import reserve

FEWEST_GRAPHS = 5
"""A subtree in fewer graphs is not a target: it would identify a graph, not describe it."""

MOST = 8192
"""The most targets; the subtrees that occur in the most graphs are taken."""


class _Rows(NamedTuple):
    """Sparse rows: row g holds ``weights`` in ``columns``, from ``row_ptr[g]`` to the next."""

    row_ptr: np.ndarray
    columns: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class SubtreeTargets:
    """The tf-idf weights of the subtrees of each graph, as rows that sum to 1.

    ``keys`` [P]: the subtrees that are targets, ascending; ``rarity`` [P]: log(G / df) of each.
    ``stored``: the rows of all graphs; None for a large set, whose rows are computed when needed.
    A graph that holds none of the targets has an empty row.
    """

    graphs: GraphSet
    height: int
    keys: Keys
    rarity: np.ndarray
    stored: _Rows | None

    @classmethod
    def count(cls, graphs: GraphSet, height: int, most_nodes: int = 10**12) -> Self:
        """Return the targets of a set: subtrees of height 0 to ``height``.

        They start from node labels, or from degrees if there are no labels. A subtree that occurs
        at n_g nodes of a graph and in df of G graphs has the weight (1 + log n_g) log(G / df),
        divided by the sum over the graph. A subtree of all graphs says nothing and is left out. If
        the set has more than ``most_nodes``, df is counted in a sample spread evenly over it.
        """
        is_large, sample = graphs.num_nodes > most_nodes, graphs
        if is_large:
            size = max(2, len(graphs) * most_nodes // graphs.num_nodes)
            sample = graphs.take(np.linspace(0, len(graphs) - 1, size).astype(np.int64))
        _, held, _ = _counted(sample, height)
        keys, held_by = np.unique(held, return_counts=True)
        kept = _chosen(held_by, len(sample))
        keys, rarity = keys[kept], np.log(len(sample) / held_by[kept])
        stored = None if is_large else _weighted(graphs, height, keys, rarity)
        return cls(graphs, height, keys, rarity, stored)

    @property
    def width(self) -> int:
        """The number of subtrees that are targets."""
        return len(self.keys)

    def rows(self, indices: np.ndarray, device: torch.device) -> Tensor:
        """Return the targets of some graphs, [n, width]."""
        found, places = self.stored, indices
        if found is None:
            some, places = self.graphs.take(indices), np.arange(len(indices))
            found = _weighted(some, self.height, self.keys, self.rarity)
        starts, ends = found.row_ptr[places], found.row_ptr[places + 1]
        taken = ranges(starts, ends)
        table = np.zeros((len(places), self.width), np.float32)
        row = np.repeat(np.arange(len(places)), ends - starts)
        table[row, found.columns[taken]] = found.weights[taken]
        return torch.from_numpy(table).to(device)


def _counted(graphs: GraphSet, height: int) -> tuple[np.ndarray, Keys, np.ndarray]:
    """Return (graph, subtree, how often) of all subtrees, by graph and then by subtree."""
    source = "degree" if graphs.node_labels is None else "label"
    reserve(48.0 * (height + 1) * graphs.num_nodes, f"subtrees of height {height}")
    names, column = np.unique(wl_colours(graphs, source, height).ravel(), return_inverse=True)
    graph = np.tile(graphs.graph_of_node(), height + 1)
    pairs, counts = np.unique(graph * len(names) + column, return_counts=True)
    graph, column = np.divmod(pairs, len(names))
    return graph, names[column], counts


def _weighted(graphs: GraphSet, height: int, keys: Keys, rarity: np.ndarray) -> _Rows:
    """Return the weights of the subtrees ``keys`` in each graph."""
    graph, held, counts = _counted(graphs, height)
    place = np.minimum(np.searchsorted(keys, held), len(keys) - 1)
    known = keys[place] == held
    graph, place, counts = graph[known], place[known], counts[known]
    weights = (1.0 + np.log(counts)) * rarity[place]
    total = np.bincount(graph, weights, minlength=len(graphs))
    weights = weights / np.where(total > 0, total, 1.0)[graph]
    sizes = np.bincount(graph, minlength=len(graphs))
    return _Rows(pointers(sizes), place, weights.astype(np.float32))


def _chosen(held_by: np.ndarray, num_graphs: int) -> np.ndarray:
    """Return which subtrees are targets, ascending; ``held_by`` [P]: the graphs that hold each.

    If a small set has none that are frequent enough, all that tell graphs apart are targets.
    """
    tells = held_by < num_graphs
    for fewest in (FEWEST_GRAPHS, 1):
        found = np.flatnonzero(tells & (held_by >= fewest))
        if len(found):
            return np.sort(found[np.argsort(-held_by[found], kind="stable")[:MOST]])
    return np.arange(min(len(held_by), MOST))
