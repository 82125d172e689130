from __future__ import annotations

from pathlib import Path

import pytest

from igsd.cli.run_place import claimed_folder, run_in, stored_recipe
from igsd.config import Config
from igsd.errors import ConfigError, StorageError
from igsd.experiments.run_folder import RunFolder
from tests.cli.test_train_job import arguments
from tests.small_graphs import make_graphs


def test_a_folder_is_claimed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    graphs = make_graphs(2, name="net")
    made = claimed_folder(arguments(tmp_path), graphs, "social")
    assert str(made.path) == "runs/net-social-1"
    args = arguments(tmp_path, output="r")
    claimed_folder(args, graphs, "social").create({}, Config())
    with pytest.raises(StorageError, match=r"--resume goes on with it, --force"):
        claimed_folder(args, graphs, "social")


def test_only_a_run_can_go_on(tmp_path: Path) -> None:
    assert run_in(str(tmp_path)) is None
    RunFolder(tmp_path / "r").create({}, Config())
    assert run_in(str(tmp_path / "r")) is not None


def test_the_recipe_is_that_of_the_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "r")
    folder.create({}, Config())
    assert stored_recipe(arguments(tmp_path, recipe="auto"), folder) is None
    assert stored_recipe(arguments(tmp_path, recipe="paper"), folder) == "paper"
    folder.create({"recipe": "social"}, Config())
    for asked in (None, "auto", "social"):
        assert stored_recipe(arguments(tmp_path, recipe=asked), folder) == "social"
    with pytest.raises(ConfigError, match="recipe 'social', and 'paper' was given"):
        stored_recipe(arguments(tmp_path, recipe="paper"), folder)
