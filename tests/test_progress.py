from __future__ import annotations

import contextlib
import io
import sys
from types import ModuleType
from typing import Any

import pytest

from igsd.progress import progress_bar, raw, steady_streams


def test_a_line_at_every_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("training", 20, shown=True) as advance:
        for step in range(20):
            advance(1, f"loss {step}")
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert len(lines) == 10
    assert lines[0] == "training: 2/20 loss 1"
    assert lines[-1] == "training: 20/20 loss 19"


def test_goes_on_from_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("training", 10, shown=True, done=8) as advance:
        advance(1, "")
        advance(1, "")
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == ["9/10", "10/10"]


def test_nothing_when_it_is_not_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("training", 3, shown=False) as advance:
        advance(3, "done")
    assert capsys.readouterr() == ("", "")


def test_nothing_to_do_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("training", 0, shown=True):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_terminal_bar_lets_errors_through(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(error), progress_bar("training", 3, shown=True):
        raise error


def test_a_terminal_bar_moves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("training", 3, shown=True) as advance:
        advance(3, "loss 0.5")
    assert "training" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Ascii(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="ascii")


def test_escape_sequences_are_shown_on_a_terminal_and_in_a_pipe() -> None:
    for stream in (Terminal(), io.StringIO()):
        with contextlib.redirect_stdout(stream), steady_streams():
            print("id\x1b[2J\x9b1m\u202e\ud800\tend")
            print("own", end="\r", file=raw(sys.stdout))
        assert stream.getvalue() == "id\\x1b[2J\\x9b1m\\u202e\\ud800\tend\nown\r"


def test_an_encoding_that_lacks_a_letter_ends_nothing() -> None:
    stream = Ascii()
    with contextlib.redirect_stdout(stream), steady_streams() as out:
        print("90.2 ± 0.7")
        out.flush()
    assert stream.buffer.getvalue() == b"90.2 \\xb1 0.7\n"  # type: ignore[attr-defined]


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class ZMQInteractiveShell:
        pass

    class Handle:
        def update(self, content: str) -> None:
            shown.append(content)

    def display(content: str, display_id: bool) -> Handle:
        shown.append(content)
        return Handle()

    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    with progress_bar("a < b", 4, shown=True) as advance:
        advance(1)
        advance(3, note="loss <1>")
    first = 'a &lt; b <progress value="0" max="4"></progress> 0/4'
    last = 'a &lt; b <progress value="4" max="4"></progress> 4/4 loss &lt;1&gt;'
    assert (shown[0], shown[-1]) == (first, last)
    assert len(shown) == 2  # not redrawn for every step
