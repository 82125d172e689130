from __future__ import annotations

import pytest

pytest.importorskip("torch_geometric")

from benchmarks.mpnn import TOLERANCE, difference, make_problem
from tests.small_molecules import make_molecules


def test_both_sides_agree() -> None:
    assert difference(make_problem(make_molecules(12), 6)) <= TOLERANCE
