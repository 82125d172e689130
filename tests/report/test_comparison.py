from __future__ import annotations

import json
from typing import Any

import pytest

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.scoring import Scoring
from igsd.report.comparison import Comparison, compare_records, print_comparison
from tests.small_graphs import make_graphs

GRAPHS = make_graphs(8, classes=True, name="toy")


def record(method: str, seed: int, *scores: float, **others: Any) -> dict[str, Any]:
    """Return the record of a method with these accuracies under nested, majority at a half."""
    results = {method: scores, "majority": (0.5, 0.5)}
    rows = [
        {"method": name} | ProtocolResult("nested", seed, values).to_dict()
        for name, values in results.items()
    ]
    values = {"status": "ok", "method": method, "seed": seed, "rows": rows, "notes": []}
    values |= {"seconds": {"train": 1.0, "embed": 0.5}, "peak_memory_mib": 100.0 + seed}
    return values | others


def over(method: str, word: str = "OMR") -> dict[str, Any]:
    return {"status": "limit", "method": method, "seed": 0, "word": word, "error": f"{word}: much"}


def made() -> Comparison:
    records = {
        "wl": [record("wl", 0, 0.8, 0.9, notes=["degrees"]), record("wl", 1, 0.7, 0.8)],
        "mlg": [over("mlg")],
        "gcc": [{"status": "failed", "method": "gcc", "seed": 0, "error": "broken"}],
    }
    return compare_records(GRAPHS, Scoring(), records)


def test_figures_of_a_method() -> None:
    wl, mlg, gcc = made().lines
    assert wl.cell("nested") == "80.0 ± 5.0"
    assert (wl.seconds, wl.peak, wl.word, wl.notes) == (1.5, 101.0, None, ("degrees",))
    assert (mlg.cell("nested"), mlg.seconds) == ("OMR", None)
    assert (gcc.cell("nested"), gcc.reason) == ("failed", "broken")
    assert made().notes() == ["wl: degrees", "mlg: OMR: much"]


def test_a_method_of_which_some_seeds_ended_well() -> None:
    line = compare_records(GRAPHS, Scoring(), {"wl": [record("wl", 0, 0.5), over("wl")]}).lines[0]
    assert line.cell("nested") == "50.0 (OMR)"


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(made())
    assert capsys.readouterr().out == (
        "toy, protocol nested, 2 seeds\n"
        "method    accuracy %  std over folds  seconds  peak MiB\n"
        "wl        80.0 ± 5.0             7.1      1.5       101\n"
        "mlg              OMR               -        -         -\n"
        "gcc           failed               -        -         -\n"
        "majority  50.0 ± 0.0             0.0        -         -\n"
    )


def test_the_majority_needs_no_method(capsys: pytest.CaptureFixture[str]) -> None:
    over_all = compare_records(GRAPHS, Scoring("paper"), {"wl": [over("wl")]})
    assert not over_all.has_scores()
    assert made().has_scores()
    print_comparison(over_all)
    assert capsys.readouterr().out.splitlines()[-1].split()[:3] == ["majority", "50.0", "50.0"]


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(made(), as_json=True)
    table = json.loads(capsys.readouterr().out)
    assert [entry["method"] for entry in table["methods"]] == ["wl", "mlg", "gcc", "majority"]
    assert table["methods"][0]["rows"]["nested"]["mean"] == pytest.approx(0.8)
    assert (table["methods"][1]["word"], table["data"]["name"]) == ("OMR", "toy")


def test_columns_of_other_protocols() -> None:
    scoring = Scoring("paper", twins=True)
    assert list(compare_records(GRAPHS, scoring, {"wl": [over("wl")]}).columns().items()) == [
        ("nested", "nested %"),
        ("paper", "paper % (optimistic)"),
        ("nested, twins removed", "nested %, twins removed"),
        ("paper, twins removed", "paper % (optimistic), twins removed"),
    ]
