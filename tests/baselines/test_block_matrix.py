from __future__ import annotations

import numpy as np

from igsd.baselines.block_matrix import block_matrix, walk_matrix
from igsd.graphs.graphset import GraphSet


def test_a_block_for_each_graph(odd: GraphSet) -> None:
    A = block_matrix(odd).toarray()
    expected = np.zeros((10, 10))
    for u, v in ((4, 5), (7, 8), (8, 9), (7, 9)):
        expected[u, v] = expected[v, u] = 1
    np.testing.assert_array_equal(A, expected)
    alone = np.diag((expected.sum(axis=1) == 0).astype(float))
    np.testing.assert_array_equal(walk_matrix(odd).toarray(), expected + alone)
