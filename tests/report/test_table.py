from __future__ import annotations

import pytest

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.rows import Row
from igsd.report.table import plain_table, print_scores


def test_plain_tables_are_aligned() -> None:
    text = plain_table(["name", "n"], [["a", "1"], ["long", "100"]], "title")
    assert text == "title\nname    n\na       1\nlong  100"


def test_left_columns() -> None:
    assert plain_table(["n", "what"], [["1", "x"]], left=(0, 1)) == "n  what\n1  x"


def test_a_table_may_be_empty() -> None:
    assert plain_table(["a", "b"], []) == "a  b"


def row(protocol: str, *means: float) -> Row:
    results = tuple(ProtocolResult(protocol, s, (m, m)) for s, m in enumerate(means))
    return Row("igsd", protocol, results)


def test_scores_are_per_cent(capsys: pytest.CaptureFixture[str]) -> None:
    print_scores([row("nested", 0.5, 0.7), Row("untrained", "nested", ())])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == "method"
    assert lines[1].split() == ["igsd", "60.0", "10.0", "10.0"]
    assert lines[2].split() == ["untrained", "-", "-", "-"]


def test_optimistic_scores_stand_beside_honest_ones(capsys: pytest.CaptureFixture[str]) -> None:
    print_scores([row("paper", 0.9)], [row("nested", 0.8)])
    lines = capsys.readouterr().out.splitlines()
    assert "optimistic" in lines[0]
    assert lines[1].split() == ["igsd", "80.0", "-", "0.0", "90.0", "-", "0.0"]
