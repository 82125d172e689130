from __future__ import annotations

import re
import sys

import pytest

from igsd.report.aligned import plain_table, print_rows, print_table


def test_plain_tables_are_aligned() -> None:
    shown = plain_table(["name", "n"], [["a", "1"], ["long", "100"]], "title")
    assert shown == "title\nname    n\na       1\nlong  100"
    assert plain_table(["n", "what"], [["1", "x"]], left=(0, 1)) == "n  what\n1  x"
    assert plain_table(["a", "b"], []) == "a  b"


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_a_terminal_shows_every_letter_and_whole_numbers(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 80 columns names ended in an ellipsis, and 86.4 ± 1.3 stood on two lines."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    header = ["method", "accuracy %", "std over folds", "seeds", "CPU seconds", "peak MiB"]
    name = "IGSD, recipe molecules, view edge-drop"
    print_table(header, [[name, "86.4 ± 1.3", "5.2", "2", "0.045", "471"]], "A title")
    out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= width
    if width >= 80:
        assert "86.4 ± 1.3" in out
    assert (name in out) is (width == 160)


def test_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(
        [{"id": "a", "distance": 0.25, "rank": 1}, {"id": None, "distance": 1.0, "rank": 2}],
        "title",
    )
    print_rows([], "nothing")
    out = capsys.readouterr().out
    assert (
        out == "title\nid  distance  rank\na      0.250     1\n-      1.000     2\nnothing\ngraph\n"
    )
