from __future__ import annotations

from typing import Any

import pytest

from igsd.config import load_recipe
from igsd.experiments import ALGORITHM
from igsd.report.result_cell import method_results, score_cell
from tests.report.record_files import make_record

FAILED: dict[str, Any] = {"status": "failed", "rows": []}
STALE: dict[str, Any] = {"algorithm": ALGORITHM + 1}


def runs(*means: float, first: int = 0, **changes: Any) -> list[dict[str, Any]]:
    return [
        make_record("MUTAG", "molecules", first + place, {"igsd": mean}, **changes)
        for place, mean in enumerate(means)
    ]


FIVE = runs(0.8, 0.8, 0.9, 1.0, 1.0)


@pytest.mark.parametrize(
    ("records", "text"),
    [
        ([], "-"),
        (FIVE, "90.0 ± 8.9"),
        (runs(0.5, 0.7), "60.0 ± 10.0 (2 seeds)"),
        (runs(0.5), "50.0 (1 seed)"),
        (runs(0.5, **FAILED), "failed"),
        (FIVE + runs(0.0, first=5, **FAILED), "90.0 ± 8.9 (1 failed)"),
        (runs(0.5) + runs(0.0, first=1, **FAILED), "50.0 (1 seed, 1 failed)"),
        (runs(0.5, 0.7, **STALE), "60.0 ± 10.0 (stale, 2 seeds)"),
        (runs(0.5, **STALE, **FAILED), "failed (stale)"),
        (FIVE + runs(0.1, first=5, **STALE), "90.0 ± 8.9 (1 more stale)"),
    ],
)
def test_cells(records: list[dict[str, Any]], text: str) -> None:
    assert score_cell(records, "igsd", "nested") == text


def test_only_the_asked_method_and_protocol_count() -> None:
    assert score_cell(FIVE, "untrained", "nested") == "-"
    assert score_cell(FIVE, "igsd", "paper") == "-"
    assert [r.mean for r in method_results(FIVE, "igsd", "nested")] == [0.8, 0.8, 0.9, 1.0, 1.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"config": load_recipe("molecules").updated({"epochs": 777, "seed": 1}).to_json()},
        {"data": {"name": "MUTAG", "checksum": "other"}},
    ],
)
def test_runs_that_are_not_the_shipped_recipe_are_marked(changes: dict[str, Any]) -> None:
    records = runs(0.5) + runs(0.7, first=1, **changes)
    assert score_cell(records, "igsd", "nested") == "60.0 ± 10.0 (other settings, 2 seeds)"


def test_a_recipe_of_ones_own_has_no_shipped_settings() -> None:
    record = make_record("MUTAG", "mine", 0, {"igsd": 0.5})
    assert score_cell([record], "igsd", "nested") == "50.0 (1 seed)"
