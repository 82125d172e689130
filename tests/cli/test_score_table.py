from __future__ import annotations

import json

import pytest

from igsd.cli.score_table import report_scores
from igsd.evaluation.result import ProtocolResult
from igsd.experiments.scoring import Scoring
from igsd.graphs.graphset import GraphSet

RESULT = ProtocolResult("nested", 0, (0.5, 0.7), notes=("2 folds instead of 10",))
SEEDS = [[("igsd", RESULT), ("majority", RESULT)]]


def test_a_table_for_people(graphs: GraphSet, capsys: pytest.CaptureFixture[str]) -> None:
    table = report_scores(graphs, Scoring(), SEEDS, {"model": "m"}, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "graphs, protocol nested, 1 seed"
    assert [line.split() for line in lines[2:4]] == [
        ["igsd", "60.0", "-", "10.0"],
        ["untrained", "-", "-", "-"],
    ]
    assert lines[-1] == "note: 2 folds instead of 10"
    assert table["model"] == "m"


def test_json_for_programs(graphs: GraphSet, capsys: pytest.CaptureFixture[str]) -> None:
    table = report_scores(graphs, Scoring(), SEEDS * 2, {}, as_json=True)
    assert json.loads(capsys.readouterr().out) == table
    assert table["data"]["graphs"] == len(graphs)
    assert table["rows"][0]["std_over_seeds"] == 0.0
    assert table["settings"]["name"] == "nested"
