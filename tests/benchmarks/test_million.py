"""The large set: copies whose nodes are renumbered, and a command that is watched."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.million import relabelled_copies, watch
from tests.small_graphs import make_graphs


def test_copies_are_the_same_graphs_in_another_order() -> None:
    graphs = make_graphs(5, labels=True, classes=True)
    copies = relabelled_copies(graphs, 12)
    assert len(copies) == 12
    assert copies.classes is None
    assert (copies.node_counts() == np.resize(graphs.node_counts(), 12)).all()
    assert not np.array_equal(copies.node_labels[: graphs.num_nodes], graphs.node_labels)
    for g in range(12):
        mine, other = copies.take([g]), graphs.take([g % 5])
        degrees, others = mine.adjacency.degrees(), other.adjacency.degrees()
        found = sorted(zip(mine.node_labels, degrees, strict=True))
        assert found == sorted(zip(other.node_labels, others, strict=True))
        A = np.zeros((len(degrees), len(degrees)))
        A[mine.adjacency.rows(), mine.adjacency.col] = 1
        B = np.zeros_like(A)
        B[other.adjacency.rows(), other.adjacency.col] = 1
        assert (A == A.T).all()
        np.testing.assert_allclose(np.linalg.eigvalsh(A), np.linalg.eigvalsh(B), atol=1e-9)
        for row in range(len(A)):
            part = mine.adjacency.col[slice(*mine.adjacency.row_ptr[row : row + 2])]
            assert (np.diff(part) > 0).all()


def test_a_command_is_watched(tmp_path: Path) -> None:
    output = tmp_path / "out.npy"
    text = f"import sys, numpy as np; np.save({str(output)!r}, [1.0]); print('x', file=sys.stderr)"
    _, seconds, whole, errors = watch([sys.executable, "-c", text], output)
    assert whole
    assert errors == "x\n"
    assert seconds > 0
    with pytest.raises(RuntimeError, match="exit code 3"):
        watch([sys.executable, "-c", "raise SystemExit(3)"], output)
