from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from igsd.cli.evaluate_values import value_rows
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs

KNOWN = [pair for pair in SETTINGS if not any(k in pair for k in ("head", "cache", "=batch_size"))]
OPTIONS = ["--protocol", "semi", "--method", "gin", "--seeds", 2, "--quiet", *KNOWN]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    graphs = make_graphs(30, name="toy")
    sizes = graphs.node_counts()[:, None] + 0.5
    replace(graphs, targets=sizes, target_names=("size",)).save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


def test_errors_over_splits(igsd: Run, data: Path, tmp_path: Path) -> None:
    options = [*OPTIONS, "--targets", "size", "--label-rate", 0.3, "--records", "rec"]
    code, out, err = igsd("evaluate", data, *options, "--json", "table.json")
    assert code == 0, err
    assert "mean absolute error" in out
    assert out.splitlines()[-1] == "note: errors are in the unit of size"
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["gin", "mean"]
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert rows[1]["mae"] == pytest.approx(sum(rows[1]["all"]) / 2)
    code, _, err = igsd("evaluate", data, *options)
    assert code == 0
    assert err.count("skipped") == 2


def test_one_split_has_no_deviation() -> None:
    records = [{"rows": [{"method": "gin", "mae": 0.5}]}]
    assert value_rows(records) == [{"method": "gin", "mae": 0.5, "std": None, "all": [0.5]}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--targets", "sise"], "has no target 'sise'"),
        (["--targets", "size", "--method", "igsd-supcon"], "'igsd-supcon' needs classes"),
        (["--targets", "size", "--method", "gin+self-training"], "there are mean-teacher"),
        (["--targets", "a,b"], "one target at a time"),
        (["--targets", "size", "--protocol", "semi-paper"], "semi-paper is for classes"),
        (["--targets", "size", "--label-rate", "0.01"], "Take a larger share"),
    ],
)
def test_bad_input(igsd: Run, data: Path, options: list[str], message: str) -> None:
    code, _, err = igsd("evaluate", data, *OPTIONS, *options)
    assert code == 2
    assert message in err
