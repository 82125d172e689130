"""Random walks with restart, and the subgraphs that they visit: the views of GCC."""

import numpy as np

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.views.random import Induced, hashed_uniform


def restart_walks(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    starts: np.ndarray,
    walk_ids: np.ndarray,
    *,
    num_steps: int,
    restart: float,
    seed: int,
) -> np.ndarray:
    """Return the nodes that random walks visit, [W, num_steps + 1] int64, the start first.

    ``starts`` [W]: nodes counted over the whole batch. ``walk_ids`` [W]: walks with equal ids and
    starts are equal. In each step a walk returns to its start with probability ``restart``, else
    moves to a random neighbour; it stays at a node without neighbours.
    """
    columns, degrees = adjacency.global_columns(node_ptr), adjacency.degrees()
    steps = np.arange(num_steps)[:, None]
    returns = hashed_uniform(seed, walk_ids[None, :], steps, np.array([0])) < restart
    choices = hashed_uniform(seed, walk_ids[None, :], steps, np.array([1]))
    walks = np.empty((num_steps + 1, len(starts)), dtype=np.int64)
    walks[0] = here = np.asarray(starts, dtype=np.int64)
    if not len(columns):
        return np.repeat(walks[:1], num_steps + 1, axis=0).T
    for step in range(num_steps):
        degree = degrees[here]
        entry = adjacency.row_ptr[here] + (choices[step] * degree).astype(np.int64)
        # A node without neighbours has no entry of its own; whatever is read here is not used.
        neighbour = columns[np.minimum(entry, len(columns) - 1)]
        moved = np.where(degree > 0, neighbour, here)
        walks[step + 1] = here = np.where(returns[step], starts, moved)
    return walks.T


def walked_subgraphs(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: np.ndarray, walks: np.ndarray
) -> Induced:
    """Return the subgraph that the nodes of each walk induce, one graph per walk.

    ``graph`` [W]: the graph of the batch that each walk is in. ``walks`` [W, t]: nodes, counted
    over the whole batch. The nodes of a subgraph are in the order of the batch.
    """
    ordered = np.sort(walks, axis=1)
    first = np.ones(ordered.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    walk, nodes = np.nonzero(first)[0], ordered[first]
    ptr = pointers(first.sum(axis=1))
    offsets = node_ptr[graph]
    # The index of each node of a graph in the subgraph of a walk, -1 if it was not visited.
    places = np.full((len(walks), int(np.diff(node_ptr).max())), -1, dtype=np.int32)
    places[walk, nodes - offsets[walk]] = np.arange(len(nodes)) - ptr[walk]
    degrees = adjacency.degrees()[nodes]
    starts = adjacency.row_ptr[nodes]
    columns = adjacency.col[ranges(starts, starts + degrees)]
    seen = places[np.repeat(walk, degrees), columns]
    stays = seen >= 0
    row_ptr = pointers(stays)[pointers(degrees)]
    return Induced(nodes, ptr, Adjacency(row_ptr, seen[stays]))
