from __future__ import annotations

from igsd.graphs.qm9 import QM9_TARGETS
from igsd.graphs.target_units import target_unit


def test_known_and_unknown_units() -> None:
    assert all(target_unit("QM9", name) for name in QM9_TARGETS)
    assert target_unit("B3DB", "logBB").startswith("log10 of")
    assert target_unit("B3DB", "class") == target_unit("molecules", "logBB") == ""
