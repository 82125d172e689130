"""``block_matrix``: all graphs of a set as one sparse matrix, for products with node columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from igsd.baselines.limits import reserve
from igsd.graphs.graphset import GraphSet


def block_matrix(graphs: GraphSet) -> Any:
    """Return the adjacency of all graphs, a sparse [N, N] of 0 and 1 with a block for each."""
    num_nodes, entries = graphs.num_nodes, graphs.adjacency.num_entries
    reserve(32.0 * entries, f"a matrix with {entries} entries")
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    ones = np.ones(len(columns))
    return sparse.csr_array((ones, columns, graphs.adjacency.row_ptr), shape=(num_nodes, num_nodes))


def walk_matrix(graphs: GraphSet) -> Any:
    """Return the adjacency of all graphs [N, N]; a node without neighbours walks on the spot."""
    alone = (graphs.adjacency.degrees() == 0).astype(np.float64)
    return (block_matrix(graphs) + sparse.diags_array(alone)).tocsr()
