from __future__ import annotations

import numpy as np

from igsd.views.pieces import Piece, join_pieces


def test_pieces_in_any_order_become_one_table() -> None:
    node_ptr = np.array([0, 2, 3, 5])
    last_and_first = Piece(
        graphs=np.array([2, 0]),
        counts=np.array([1, 0, 2, 1]),
        col=np.array([1, 0, 1, 0], np.int32),
        weight=np.array([0.1, 0.2, 0.3, 0.4], np.float32),
    )
    middle = Piece(
        np.array([1]), np.array([1]), np.array([0], np.int32), np.array([1.0], np.float32)
    )
    view = join_pieces([last_and_first, middle], node_ptr)
    assert view.row_ptr.tolist() == [0, 2, 3, 4, 5, 5]
    assert view.col.tolist() == [0, 1, 0, 0, 1]
    assert view.weight is not None
    np.testing.assert_allclose(view.weight, [0.2, 0.3, 0.4, 1.0, 0.1], rtol=1e-7)
