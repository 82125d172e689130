"""``SubtreeTargets``: which Weisfeiler-Lehman subtrees a graph holds, as a target of training."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.colours import wl_colours
from igsd.graphs.graphset import GraphSet
from igsd.limits import reserve

FEWEST_GRAPHS = 5
"""A subtree of fewer graphs is not a target: it would say which graph this is, not what it is."""

MOST = 8192
"""So many subtrees are targets at most, those of the most graphs."""


@dataclass(frozen=True, eq=False)
class SubtreeTargets:
    """The tf-idf weights of the subtrees of each graph, as sparse rows that sum to 1.

    Row g holds ``columns[row_ptr[g]:row_ptr[g + 1]]`` and the ``weights`` there; ``width``: the
    number of subtrees that are targets. A graph that holds none of them has an empty row.
    """

    row_ptr: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    width: int

    @classmethod
    def count(cls, graphs: GraphSet, height: int) -> Self:
        """Return the targets of a set: subtrees of height 0 to ``height``.

        They start from node labels, or from degrees if there are none. The weight of a subtree that
        n_g nodes of a graph have, and df of G graphs: (1 + log n_g) log(G / df), divided by the sum
        over the graph. One that all graphs have says nothing and is left out.
        """
        source = "degree" if graphs.node_labels is None else "label"
        reserve(48.0 * (height + 1) * graphs.num_nodes, f"subtrees of height {height}")
        keys = wl_colours(graphs, source, height).ravel()
        names, column = np.unique(keys, return_inverse=True)
        graph = np.tile(graphs.graph_of_node(), height + 1)
        pairs, counts = np.unique(graph * len(names) + column, return_counts=True)
        graph, column = np.divmod(pairs, len(names))
        held_by = np.bincount(column, minlength=len(names))
        kept = _chosen(held_by, len(graphs))
        place = np.full(len(names), -1)
        place[kept] = np.arange(len(kept))
        known = place[column] >= 0
        graph, column, counts = graph[known], column[known], counts[known]
        rarity = np.log(len(graphs) / held_by[column])
        weights = (1.0 + np.log(counts)) * rarity
        total = np.bincount(graph, weights, minlength=len(graphs))
        weights = weights / np.where(total > 0, total, 1.0)[graph]
        sizes = np.bincount(graph, minlength=len(graphs))
        return cls(pointers(sizes), place[column], weights.astype(np.float32), len(kept))

    def rows(self, indices: np.ndarray, device: torch.device) -> Tensor:
        """Return the targets of some graphs, [n, width]."""
        starts, ends = self.row_ptr[indices], self.row_ptr[indices + 1]
        taken = ranges(starts, ends)
        table = np.zeros((len(indices), self.width), np.float32)
        table[np.repeat(np.arange(len(indices)), ends - starts), self.columns[taken]] = (
            self.weights[taken]
        )
        return torch.from_numpy(table).to(device)


def _chosen(held_by: np.ndarray, num_graphs: int) -> np.ndarray:
    """Return which subtrees are targets, ascending; ``held_by`` [P]: the graphs that hold each.

    Very small sets have no subtree of several graphs; then all count that tell graphs apart.
    """
    tells = held_by < num_graphs
    for fewest in (FEWEST_GRAPHS, 1):
        found = np.flatnonzero(tells & (held_by >= fewest))
        if len(found):
            return np.sort(found[np.argsort(-held_by[found], kind="stable")[:MOST]])
    return np.arange(min(len(held_by), MOST))
