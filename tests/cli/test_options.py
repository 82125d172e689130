from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from igsd.baselines.registry import METHODS, defaults, method
from igsd.cli.options import (
    add_model_and_data,
    choose_recipe,
    method_settings,
    parse_time,
    prepare_output,
    settings_table,
)
from igsd.errors import ConfigError, StorageError
from tests.cli.conftest import Run
from tests.small_graphs import make_graphs


def test_model_and_data() -> None:
    parser = argparse.ArgumentParser()
    add_model_and_data(parser)
    args = parser.parse_args(["runs/a", "MUTAG"])
    assert (args.model, args.data) == ("runs/a", "MUTAG")


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    # The folder `new` is created before anything is written, and then `new/../a` is `a`.
    for output in (tmp_path / "a", tmp_path / "new" / ".." / "a"):
        with pytest.raises(StorageError, match="is the input"):
            prepare_output(str(output), "MUTAG", str(tmp_path / "." / "a"))


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(StorageError, match=r"a\.csv is a file\. Choose"):
        prepare_output(str(tmp_path / "a.csv" / "v.csv"))


def test_a_folder_that_was_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_output(str(tmp_path / "v.npy"))()
    assert capsys.readouterr().err == ""
    written = prepare_output(str(tmp_path / "a" / "b" / "v.npy"))
    assert capsys.readouterr().err == ""
    written()
    assert capsys.readouterr().err == f"igsd: note: created the folder {tmp_path / 'a' / 'b'}.\n"


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


def test_the_recipe_follows_the_data() -> None:
    assert choose_recipe(None, make_graphs()) == "molecules"
    assert choose_recipe("auto", make_graphs(labels=False, attributes=2)) == "networks"
    assert choose_recipe("auto", make_graphs(labels=False)) == "social"
    assert choose_recipe("paper", make_graphs(labels=False)) == "paper"


def test_the_table_says_that_recipes_change_defaults() -> None:
    header = settings_table().split("\n\n")[0]
    assert "the recipe changes some of them; without --recipe it is the one that suits" in header
    assert "config.toml" in header


def test_lines_of_the_table_fit_a_terminal() -> None:
    assert max(map(len, settings_table().splitlines())) <= 100


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_of_every_method_is_listed(name: str) -> None:
    lines = method_settings(name).splitlines()
    listed = [line.split()[0] for line in lines if line[4:5].strip() and " = " in line]
    task = "vectors" if METHODS[name].does("vectors") else "classes"
    settings = {*defaults(name, task).to_json()} - {*method(name, task).settings}
    assert {*listed} == settings
    assert max(map(len, lines)) <= 100


def test_help_after_a_method_is_about_its_settings(igsd: Run) -> None:
    code, out, _ = igsd("train", "--method", "wl", "--help")
    assert (code, "settings of wl" in out, "iterations = " in out) == (0, True, True)
    assert "igsd train --method NAME --help" in " ".join(igsd("train", "--help")[1].split())
    code, _, err = igsd("train", "--method", "wll", "-h")
    assert (code, "There is no method 'wll'" in err) == (2, True)


def test_an_output_is_never_a_part_of_an_input(tmp_path: Path) -> None:
    """A run's model was replaced by an index of its own vectors."""
    run, folder = tmp_path / "run", tmp_path / "networks"
    for place in (run, folder):
        place.mkdir()
    names = ("metrics.json", "model.safetensors", "mine.csv")
    for place in (*(run / name for name in names), folder / "a.gml"):
        place.write_text("")
    for place in (run / "model.safetensors", folder / "a.gml"):
        with pytest.raises(StorageError, match=f"-o {place} is or would be a part"):
            prepare_output(str(place), str(place.parent))
    with pytest.raises(StorageError, match="would be a part of the input"):  # read as a matrix
        prepare_output(str(folder / "vectors.npy"), str(folder))
    prepare_output(str(run / "mine.csv"), str(run))()
    prepare_output(str(folder / "new.csv"), str(folder))()
