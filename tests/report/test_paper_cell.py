from __future__ import annotations

from typing import Any

import pytest

from igsd.experiments.exhibit import Printed
from igsd.experiments.runs import Run
from igsd.report.paper_cell import (
    FAILED,
    LIMIT,
    NONE,
    NOT_RUN,
    OK,
    STALE,
    PaperCell,
    make_cell,
    row_figures,
)
from tests.report.record_files import make_record

RUN = Run("nested", "MUTAG", "igsd", "molecules", 0)


def cell(*records: dict[str, Any], shows: str = "igsd", **about: Any) -> PaperCell:
    found = [(f"seed-{record['seed']}.json", record) for record in records]
    values = {r["seed"]: row_figures(r, shows, "nested", "accuracy") for r in records}
    known = {seed: folds for seed, folds in values.items() if folds is not None}
    return make_cell(found, RUN, known, **{"wanted": 2} | about)


def run(seed: int, mean: float = 0.9, **changes: Any) -> dict[str, Any]:
    return make_record("MUTAG", "molecules", seed, {"igsd": mean}, **changes)


def test_mean_and_deviation_over_seeds() -> None:
    made = cell(run(0, 0.88), run(1, 0.9), printed=Printed(90.2, 0.7))
    assert made.status == OK
    assert made.text == "89.0 ± 1.0"
    assert made.printed_text == "90.2 ± 0.7"
    assert made.difference == pytest.approx(-1.2)
    assert made.num_seeds == 2
    assert made.records == ("seed-0.json", "seed-1.json")


def test_the_best_seed_is_told_where_it_is_asked_for() -> None:
    records = run(0, 0.88), run(1, 0.9)
    assert cell(*records, shows_best=True).text == "89.0 ± 1.0 (best 90.0)"
    assert cell(*records).by_seed == ((0, 88.0), (1, 90.0))
    assert cell(run(0, 0.88), shows_best=True).text == "88.0 (1 of 2 seeds)"


def test_deviation_over_folds() -> None:
    record = run(0)
    record["rows"][0]["accuracies"] = [0.8, 1.0]
    made = cell(record, wanted=1, spread="folds")
    assert made.text == "90.0 ± 10.0"
    assert made.std_over_seeds is None


def test_without_a_run() -> None:
    made = cell(printed=Printed(word="OMR"))
    assert (made.status, made.text, made.printed_text) == (NOT_RUN, "not run", "OMR")
    assert made.difference is None


def test_fewer_seeds_and_failed_ones_are_noted() -> None:
    made = cell(run(0), run(1, status="failed", error="E", rows=[]), wanted=5)
    assert made.text == "90.0 (1 of 5 seeds, 1 failed)"


def test_failed() -> None:
    made = cell(run(0, status="failed", error="E", rows=[]))
    assert (made.status, made.text) == (FAILED, "failed")


def test_limits() -> None:
    made = cell(run(0, status="limit", word="OMR", rows=[]), run(1, status="failed", rows=[]))
    assert (made.status, made.text) == (LIMIT, "OMR")


def test_stale_records_count_only_alone() -> None:
    made = cell(run(0, 0.5, algorithm=0), run(1, 0.6, algorithm=0))
    assert (made.status, made.text) == (STALE, "55.0 ± 5.0 (stale)")
    made = cell(run(0, 0.5, algorithm=0), run(1, 0.9))
    assert (made.status, made.text) == (OK, "90.0 (1 more stale, 1 of 2 seeds)")


def test_other_settings() -> None:
    record = run(0)
    record["config"]["epochs"] = 1
    assert cell(record, wanted=1).text == "90.0 (other settings)"
    other = run(1, data={"name": "MUTAG", "checksum": "def", "graphs": 10})
    assert cell(run(0), other).notes == ("1 more of other settings", "1 of 2 seeds")
    # Two ways to score are not mixed in one mean; those of now count.
    plain = run(0)
    plain["protocol"] = plain["protocol"] | {"standardise": "no"}
    assert cell(plain, wanted=1).notes == ("other settings",)
    made = cell(plain, run(1), wanted=2)
    assert made.by_seed == cell(run(1), wanted=2).by_seed
    assert made.notes == ("1 more of other settings", "1 of 2 seeds")
    without_twins = run(1)
    without_twins["protocol"] = without_twins["protocol"] | {"twins": False}
    assert cell(run(0), without_twins).notes == cell(run(0), run(1)).notes


def test_nothing_to_measure() -> None:
    made = cell(run(0), shows="igsd, twins removed")
    assert (made.status, made.text) == (NONE, "-")
