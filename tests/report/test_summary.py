from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.exhibits import Printed
from igsd.experiments.run import Run
from igsd.report.summary import (
    FAILED,
    LIMIT,
    METRICS,
    NONE,
    NOT_RUN,
    OK,
    STALE,
    Cell,
    difference,
    mean_and_std,
    paired_by_folds,
    row_names,
    row_values,
    summarise,
    unsaved_records,
)
from igsd.report.tables import belongs_to
from tests.report.record_files import make_record

RUN = Run("nested", "MUTAG", "igsd", "molecules", 0)


def cell(*records: Any, method: str = "igsd", **shown: Any) -> Cell:
    """Return the summary of records of ``RUN``, of which two seeds are wanted."""
    paths = [f"seed-{record['seed']}.json" for record in records]
    options: dict[str, Any] = {"method": method, "protocol": "nested", "wanted": 2} | shown
    return summarise(records, same=partial(belongs_to, RUN), paths=paths, **options)


def run(seed: int, mean: float = 0.9, **changes: Any) -> Any:
    return make_record("MUTAG", "molecules", seed, {"igsd": mean}, **changes)


def test_mean_and_deviation_over_seeds() -> None:
    made = cell(run(0, 0.88), run(1, 0.9), printed=Printed(90.2, 0.7))
    assert (made.status, made.text, made.printed_text) == (OK, "89.0 ± 1.0", "90.2 ± 0.7")
    assert made.difference == pytest.approx(-1.2)
    assert made.beside == "90.2 ± 0.7 (ours −1.2)"
    assert made.num_seeds == 2
    assert made.records == ("seed-0.json", "seed-1.json")


def test_both_deviations() -> None:
    folds = {0: [0.5, 0.7], 1: [0.9, 0.9]}
    made = Cell(folds=folds)
    assert made.mean == pytest.approx(75)
    assert made.std_over_seeds == pytest.approx(100 * np.std([0.6, 0.9]))
    assert made.std_over_folds == pytest.approx(100 * np.std([0.5, 0.7, 0.9, 0.9]))
    assert made.best == pytest.approx(90)
    alone = Cell(folds={0: [0.5, 0.7]})
    assert (alone.std_over_seeds, alone.std_over_folds) == (None, pytest.approx(10))
    assert (Cell().mean, Cell().std_over_folds, Cell().best) == (None, None, None)


def test_the_best_seed_is_shown_on_request() -> None:
    records = run(0, 0.88), run(1, 0.9)
    assert cell(*records, shows_best=True).text == "89.0 ± 1.0 (best 90.0)"
    assert cell(*records).by_seed == {0: 88.0, 1: 90.0}
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


@pytest.mark.parametrize(
    ("records", "status", "text"),
    [
        (
            [run(0), run(1, status="failed", error="E", rows=[])],
            OK,
            "90.0 (1 of 2 seeds, 1 failed)",
        ),
        ([run(0, status="failed", error="E", rows=[])], FAILED, "failed"),
        (
            [run(0, status="limit", word="OMR", rows=[]), run(1, status="failed", rows=[])],
            LIMIT,
            "OMR",
        ),
        ([run(0, 0.5, algorithm=0), run(1, 0.6, algorithm=0)], STALE, "55.0 ± 5.0 (stale)"),
        ([run(0, 0.5, algorithm=0), run(1)], OK, "90.0 (1 more stale, 1 of 2 seeds)"),
    ],
)
def test_words_and_notes(records: list[Any], status: str, text: str) -> None:
    made = cell(*records)
    assert (made.status, made.text) == (status, text)


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
    made = cell(run(0), method="igsd, twins removed")
    assert (made.status, made.text) == (NONE, "-")


def test_what_runs_took() -> None:
    seconds = {"train": 2.0, "embed": 0.5, "evaluate": 90.0, "processor": 4.0}
    first = run(0, seconds=seconds, peak_memory_mib=400.0, notes=["degrees"])
    made = summarise([first, run(1, seconds={"train": 1.5}, peak_memory_mib=300.0)])
    assert (made.seconds, made.run_seconds) == (2.0, 47.0)
    assert (made.cpu_seconds, made.peak, made.remarks) == (4.0, 400.0, ("degrees",))
    assert summarise([run(0)]).cpu_seconds is None
    # A reference row was scored inside the run of another method.
    record = make_record("MUTAG", "molecules", 0, {"igsd": 0.9, "majority": 0.6}, seconds=seconds)
    assert summarise([record], method="majority").seconds is None


def test_other_metrics() -> None:
    rows = [{"method": "gin", "protocol": "semi", "mae": {"mu": 0.5}, "roc_auc": 0.8}]
    record = make_record("A", "gin", 0, {}, rows=rows, method="gin")
    assert summarise([record], "mae", target="mu").figure == "0.500"
    assert summarise([record], "roc_auc").figure == "0.800"
    assert summarise([record], "mae", target="gap").status == NONE


def test_differences_by_folds() -> None:
    ours = Cell(folds={0: [0.9, 0.8], 1: [0.7, 0.7], 2: [1.0, 1.0]})
    theirs = Cell(folds={0: [0.8, 0.8], 1: [0.7, 0.5], 3: [0.0, 0.0]})
    found = paired_by_folds(ours, theirs)
    apart = [10.0, 0.0, 0.0, 20.0]
    assert found == pytest.approx((7.5, np.std(apart, ddof=1) / 2))
    # Other folds, or a single one, cannot be compared.
    assert paired_by_folds(ours, Cell(folds={0: [0.8, 0.8, 0.8]})) is None
    assert paired_by_folds(ours, Cell(folds={4: [0.8, 0.8]})) is None
    assert paired_by_folds(Cell(folds={0: [0.8]}), Cell(folds={0: [0.7]})) is None


def test_differences_count_the_seeds_of_both() -> None:
    """Differences 1, 3 and 2: their mean is 2, their deviation 1, the error 1 over root 3."""
    ours = Cell(folds={0: [0.71], 1: [0.73], 2: [0.72], 3: [0.9]}, records=("a",))
    theirs = Cell(folds={0: [0.7], 1: [0.7], 2: [0.7], 4: [0.01]}, records=("b",))
    assert difference(ours, theirs).text == "+2.0 ± 0.6"
    assert difference(theirs, ours).text == "−2.0 ± 0.6"
    assert difference(ours, theirs).records == ("b", "a")
    assert difference(Cell(folds={3: [0.89]}), ours).text == "−1.0 (1 split)"
    apart = difference(Cell(folds={0: [0.7]}), Cell(folds={1: [0.7]}))
    assert (apart.status, apart.text) == (NOT_RUN, NOT_RUN)


def test_results_that_no_run_stored() -> None:
    first = ProtocolResult("nested", 0, (0.5, 0.7), notes=("n",))
    second = ProtocolResult("paper", 0, (0.9, 0.9), optimistic=True)
    records = unsaved_records([[("igsd", first), ("igsd", second)]])
    assert row_names(records) == ["igsd"]
    values = row_values(records, "igsd", "nested")
    assert values == {
        "method": "igsd",
        "protocol": "nested",
        "optimistic": False,
        "mean": first.mean,
        "std_over_seeds": None,
        "std_over_folds": first.std,
        "seeds": [first.to_dict()],
    }
    assert row_values(records, "igsd", "paper")["optimistic"]
    assert row_values(records, "wl", "nested")["mean"] is None


def test_texts() -> None:
    assert mean_and_std(90.24, 0.68) == "90.2 ± 0.7"
    assert mean_and_std(90.24, None) == "90.2"
    assert mean_and_std(0.804, 0.1, METRICS["ratio"]) == "0.80 ± 0.10"
    assert METRICS["accuracy"].text(None) == "-"
