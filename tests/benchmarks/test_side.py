"""A side in a process of its own: built once, run as asked, and heard when it breaks."""

from __future__ import annotations

import pytest

from benchmarks.side import Side, SideError, run_once
from benchmarks.timing import alternate

HERE = "tests.benchmarks.some_work"


@pytest.mark.slow
def test_sides_alternate_and_count() -> None:
    with Side(f"{HERE}:counter", start=5) as one, Side(f"{HERE}:counter", start=9) as two:
        measured = alternate({"one": one, "two": two}, 2)
    assert [run.result for run in measured["one"].runs] == [5, 6, 7]
    assert measured["two"].first == 9
    assert len(measured["two"].timed) == 2
    assert measured["one"].cpu > 0
    assert measured["one"].peak > 10


@pytest.mark.slow
def test_a_side_that_breaks(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SideError, match="exit code 1"):
        run_once(f"{HERE}:broken")
    assert "no such luck" in capfd.readouterr().err
