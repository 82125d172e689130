"""What the tables look like."""

from __future__ import annotations

import doctest

from benchmarks import table
from benchmarks.row import Row

ROWS = [
    Row("epoch / plain PyG", "NCI1", 1.5, 4.5, 3.0, 2.4, "s", "same loss"),
    Row("memory", "COLLAB", 1234.5, 6144.0, 0.2009, 1.0, "MiB", "a|b", at_most=True),
    Row.skipped("pygcl", "-", "no network"),
]


def test_text() -> None:
    lines = table.text_table(ROWS).splitlines()
    assert " ".join(lines[0].split()) == " ".join(table.HEADER)
    assert lines[1].split()[-4:] == ["at", "least", "2.4", "ok"]
    assert lines[2].split()[-5:] == ["0.20", "at", "most", "1", "ok"]
    assert lines[3].split()[-1] == "skipped"
    assert lines[-1] == "pygcl, -: no network"


def test_markdown() -> None:
    lines = table.markdown_table(ROWS).splitlines()
    assert lines[2] == (
        "| epoch / plain PyG | NCI1 | 1.50 | 4.50 | s | 3.00 | at least 2.4 | ok | same loss |"
    )
    assert lines[3].endswith("| a\\|b |")
    assert len(lines) == 5


def test_numbers() -> None:
    assert doctest.testmod(table).failed == 0
