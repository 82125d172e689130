from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from igsd.cli import data
from igsd.cli.output import in_plain_words, open_graphs, shown_opening, warnings_as_notes
from igsd.errors import IGSDError, IGSDWarning, ParameterError, StorageError
from igsd.graphs import open as open_data
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs


def test_warnings_become_notes_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_as_notes():
        for _ in range(2):
            warnings.warn("the cache is full", IGSDWarning, stacklevel=1)
        warnings.warn("the other one", IGSDWarning, stacklevel=1)
    err = capsys.readouterr().err
    assert err == "igsd: note: the cache is full\nigsd: note: the other one\n"


def test_shown_by_the_command_line_without_source_code(
    igsd: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn(args: object) -> int:
        warnings.warn("something odd", IGSDWarning, stacklevel=1)
        return 0

    monkeypatch.setattr(data, "run_list", warn)
    assert igsd("data", "list") == (0, "", "igsd: note: something odd\n")


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


@pytest.mark.parametrize(
    ("error", "plain"),
    [
        (ParameterError("epochs", "IGSD", "must be"), "The setting 'epochs' must be"),
        (ParameterError("random_state", "IGSD", "must"), "The setting 'seed' must"),
        (StorageError("The disk is full."), "The disk is full."),
    ],
)
def test_the_words_of_the_command_line(error: IGSDError, plain: str) -> None:
    assert in_plain_words(error) == plain


TABLE = "smiles,active\n" + "CC,1\nCO,0\nCN,\n"


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
    monkeypatch.setattr(open_data, "open_data", slowly(20, 20))
    assert len(open_graphs("QM9")) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "igsd: note: QM9 is downloaded or read for the first time, then cached."
    assert (len(lines), lines[-1].strip()) == (11, "QM9: 20/20")
    open_graphs("QM9", quiet=True)
    assert capsys.readouterr().err == ""


def test_a_size_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(open_data, "open_data", slowly(20, None))
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


def test_a_column_becomes_the_classes(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text(TABLE)
    graphs = open_graphs(str(tmp_path / "m.csv"), "active")
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([1, 0, -1], ("0", "1"))
