from __future__ import annotations

import pytest

from benchmarks.wl import grakel_side, ours_side


@pytest.mark.parametrize("kernel", ["wl", "wl-oa"])
def test_both_sides_give_the_same_matrix(kernel: str) -> None:
    pytest.importorskip("grakel")
    given = {"kernel": kernel, "data": "MUTAG", "num_graphs": 20}
    assert ours_side(**given)()() == grakel_side(**given)()()
