"""The table about seeds on other instruction sets is that of the record."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.instruction_sets import RECORD, SETS, rendered, table

ROOT = Path(__file__).parents[1]


def test_the_page_shows_the_record() -> None:
    page = ROOT / "docs" / "evaluating.md"
    assert rendered(page, ROOT / RECORD) == page.read_text()


def test_the_record_has_every_set() -> None:
    record = json.loads((ROOT / RECORD).read_text())
    assert [row["name"] for row in record["rows"]] == list(SETS)
    assert all(len(row["accuracies"]) == record["seeds"] for row in record["rows"])
    assert table(record).count("\n") == len(SETS) + 3
