from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from igsd.cli import output
from igsd.cli.output import open_graphs, shown_opening
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs


def test_a_cache_that_cannot_be_written(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "file"))
    code, _, err = igsd("train", toy, "-o", "r", "--quiet", *SETTINGS, "--set", "cache_views=true")
    assert code == 0
    assert err.startswith("igsd: note: The view of 'TOY' could not be cached")
    assert "UserWarning" not in err
    assert ".py" not in err


def slowly(steps: int, total: int | None) -> Any:
    def open_data(text: str, *, progress: Any) -> GraphSet:
        if progress is not None:
            for done in range(steps + 1):
                progress(done, total)
        return make_graphs(2)

    return open_data


def test_the_first_time_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "open_data", slowly(20, 20))
    assert len(open_graphs("QM9")) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "igsd: note: QM9 is downloaded or read for the first time, then cached."
    assert (len(lines), lines[-1].strip()) == (11, "QM9: 20/20")
    open_graphs("QM9", quiet=True)
    assert capsys.readouterr().err == ""


def test_a_size_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "open_data", slowly(20, None))
    open_graphs("QM9")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_data_that_open_at_once_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_graphs(3).save(tmp_path / "g")
    assert len(open_graphs(str(tmp_path / "g"))) == 3
    assert capsys.readouterr().err == ""


def test_a_terminal_says_what_is_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with shown_opening("QM9", quiet=False):
        assert capsys.readouterr().err == "opening QM9 ...\r"
    assert capsys.readouterr().err == "\r\x1b[K"
    with shown_opening("QM9", quiet=True) as progress:
        assert progress is None
    assert capsys.readouterr().err == ""
