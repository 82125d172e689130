from __future__ import annotations

import json
from typing import Any

import pytest

from igsd.evaluation.result import ProtocolResult
from igsd.experiments import ALGORITHM
from igsd.experiments.scoring import Scoring
from igsd.report.render import show, text
from igsd.report.scores import (
    Comparison,
    compare_records,
    row_order,
    score_table,
    scores_to_dict,
)
from igsd.report.summary import unsaved_records
from tests.small_graphs import make_graphs

GRAPHS = make_graphs(8, classes=True, name="toy")
A = ProtocolResult("nested", 0, (0.5, 0.7))
B = ProtocolResult("paper", 0, (1.0,), optimistic=True)


def record(method: str, seed: int, *scores: float, **others: Any) -> Any:
    """Return the record of a method with these accuracies under nested, majority at a half."""
    results = {method: scores, "majority": (0.5, 0.5)}
    rows = [
        {"method": name} | ProtocolResult("nested", seed, values).to_dict()
        for name, values in results.items()
    ]
    values = {"status": "ok", "method": method, "seed": seed, "rows": rows, "notes": []}
    values |= {"seconds": {"train": 1.0, "embed": 0.5, "processor": 2.5}}
    return values | {"algorithm": ALGORITHM, "peak_memory_mib": 100.0 + seed} | others


def over(method: str, word: str = "OMR") -> Any:
    values = {
        "status": "limit",
        "method": method,
        "seed": 0,
        "word": word,
        "rows": [],
        "algorithm": ALGORITHM,
    }
    return values | {"error": f"{word}: much"}


def made() -> Comparison:
    failed = over("gcc") | {"status": "failed", "error": "broken", "word": None}
    records = {
        "wl": [record("wl", 0, 0.8, 0.9, notes=["degrees"]), record("wl", 1, 0.7, 0.8)],
        "mlg": [over("mlg")],
        "gcc": [failed],
    }
    return compare_records(GRAPHS, Scoring(), records)


def test_a_comparison_as_text() -> None:
    assert text(made().table()) == (
        "toy, protocol nested, 2 seeds\n"
        "method    accuracy %  std over folds  seeds  seconds  CPU seconds  peak MiB\n"
        "wl        80.0 ± 5.0             7.1      2      1.5          2.5       101\n"
        "mlg              OMR               -      -        -            -         -\n"
        "gcc           failed               -      -        -            -         -\n"
        "majority  50.0 ± 0.0             0.0      2        -            -         -"
    )


def test_notes_and_failures() -> None:
    assert made().notes() == ["wl: degrees", "mlg: OMR: much"]
    assert made().failed()
    only_limits = compare_records(GRAPHS, Scoring(), {"wl": [record("wl", 0, 0.5), over("wl")]})
    assert not only_limits.failed()
    assert only_limits.cells[0].text == "50.0 (1 OMR)"


def test_the_majority_needs_no_method() -> None:
    comparison = compare_records(GRAPHS, Scoring("paper"), {"wl": [over("wl")]})
    assert not comparison.has_scores()
    assert made().has_scores()
    last = text(comparison.table()).splitlines()[-1]
    assert last.split()[:3] == ["majority", "50.0", "50.0"]


def test_a_comparison_as_json() -> None:
    values = json.loads(json.dumps(made().to_dict()))
    assert [entry["method"] for entry in values["methods"]] == ["wl", "mlg", "gcc", "majority"]
    assert values["methods"][0]["rows"]["nested"]["mean"] == pytest.approx(0.8)
    assert (values["methods"][1]["word"], values["data"]["name"]) == ("OMR", "toy")
    assert values["settings"]["name"] == "nested"
    assert values["methods"][2]["reason"] == "broken"


def test_columns_of_other_protocols() -> None:
    comparison = compare_records(GRAPHS, Scoring("paper", twins=True), {"wl": [over("wl")]})
    assert [column.title for column in comparison.table().columns][:4] == [
        "nested %",
        "paper % (optimistic)",
        "nested %, twins removed",
        "paper % (optimistic), twins removed",
    ]


def test_the_four_rows_come_last_and_in_order() -> None:
    seed = [("majority", A), ("igsd", A), ("igsd, twins removed", A), ("histogram", A)]
    names = ["igsd, twins removed", "igsd", "untrained", "histogram", "majority"]
    assert row_order(unsaved_records([seed, seed]), "nested") == names
    others = unsaved_records([[("histogram", A), ("wl", A), ("majority", A)]])
    assert row_order(others, "nested") == ["wl", "untrained", "histogram", "majority"]


def test_scores_are_per_cent(capsys: pytest.CaptureFixture[str]) -> None:
    records = unsaved_records([[("igsd", A)], [("igsd", ProtocolResult("nested", 1, (0.8, 0.8)))]])
    show(score_table(records, ["nested"], ["igsd", "untrained"]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "method",
        "accuracy",
        "%",
        *["std", "over", "seeds"],
        *["std", "over", "folds"],
    ]
    assert lines[1].split() == ["igsd", "70.0", "10.0", "12.2"]
    assert lines[2].split() == ["untrained", "-", "-", "-"]


def test_optimistic_scores_stand_beside_honest_ones() -> None:
    records = unsaved_records([[("igsd", A), ("igsd", B)]])
    lines = text(score_table(records, ["nested", "paper"], ["igsd"])).splitlines()
    assert "paper % (optimistic)" in lines[0]
    assert lines[1].split() == ["igsd", "60.0", "-", "10.0", "100.0", "-", "0.0"]
    values: Any = scores_to_dict(records, ["paper", "nested"], ["igsd"])
    assert list(values) == ["protocol", "beside", "rows"]
    assert (values["rows"][0]["optimistic"], values["beside"][0]["mean"]) == (True, A.mean)


def test_errors_have_four_digits_and_no_folds() -> None:
    rows = [{"method": "gin", "protocol": "semi", "mae": 0.123456}]
    records: list[Any] = [
        {"seed": s, "status": "ok", "algorithm": ALGORITHM, "rows": rows} for s in (0, 1)
    ]
    table = score_table(records, ["semi"], ["gin"], metric="mae", over="splits", third="")
    assert text(table).splitlines()[1].split() == ["gin", "0.1235", "0"]
