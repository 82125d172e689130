from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from igsd.cli import data
from igsd.cli.notes import in_plain_words, warnings_as_notes
from igsd.errors import IGSDError, IGSDWarning, ParameterError, StorageError
from tests.cli.conftest import SETTINGS, Run


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
