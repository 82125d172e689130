from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from igsd.cli.arguments import add_model_and_data, prepare_output
from igsd.errors import StorageError


def test_model_and_data() -> None:
    parser = argparse.ArgumentParser()
    add_model_and_data(parser)
    args = parser.parse_args(["runs/a", "MUTAG"])
    assert (args.model, args.data) == ("runs/a", "MUTAG")


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(StorageError, match="is the input"):
        prepare_output(str(tmp_path / "a"), "MUTAG", str(tmp_path / "." / "a"))


def test_a_folder_that_was_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_output(str(tmp_path / "v.npy"))()
    assert capsys.readouterr().err == ""
    written = prepare_output(str(tmp_path / "a" / "b" / "v.npy"))
    assert capsys.readouterr().err == ""
    written()
    assert capsys.readouterr().err == f"igsd: note: the folder {tmp_path / 'a' / 'b'} was made.\n"
