from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from igsd.cli.arguments import add_model_and_data, parse_time, prepare_output
from igsd.errors import ConfigError, StorageError


def test_model_and_data() -> None:
    parser = argparse.ArgumentParser()
    add_model_and_data(parser)
    args = parser.parse_args(["runs/a", "MUTAG"])
    assert (args.model, args.data) == ("runs/a", "MUTAG")


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(StorageError, match="is the input"):
        prepare_output(str(tmp_path / "a"), "MUTAG", str(tmp_path / "." / "a"))


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(StorageError, match=r"a\.csv is a file, no folder"):
        prepare_output(str(tmp_path / "a.csv" / "v.csv"))


def test_a_folder_that_was_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_output(str(tmp_path / "v.npy"))()
    assert capsys.readouterr().err == ""
    written = prepare_output(str(tmp_path / "a" / "b" / "v.npy"))
    assert capsys.readouterr().err == ""
    written()
    assert capsys.readouterr().err == f"igsd: note: the folder {tmp_path / 'a' / 'b'} was made.\n"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1.5d", 129600)],
)
def test_a_time(text: str, seconds: float) -> None:
    assert parse_time(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "h", "2 hours", "-1", "1h x"])
def test_no_time(text: str) -> None:
    with pytest.raises(ConfigError, match="--budget takes a time"):
        parse_time(text, "--budget")
