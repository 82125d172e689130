from __future__ import annotations

from pathlib import Path

import pytest

from igsd.baselines.registry import configure
from igsd.config import Config
from igsd.errors import ConfigError, StorageError
from igsd.experiments.identity import Identity
from igsd.experiments.tuning_folder import TuningFolder, recipe_toml
from igsd.experiments.tuning_trial import Trial
from igsd.settings_text import read_settings

IDENTITY = Identity(Config(), "abc", {"name": "nested", "grid epochs": [1, 2]})
TRIALS = [Trial(0, {"epochs": 1}, 0.5, 1.5), Trial(1, {"epochs": 2}, None, 0.25, "Error: odd, so")]


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    folder = TuningFolder(tmp_path / "deep" / "run")
    assert folder.read(IDENTITY) == []
    folder.write(IDENTITY, TRIALS, "epochs = 1\n")
    assert folder.read(IDENTITY) == TRIALS
    assert folder.recipe.read_text() == "epochs = 1\n"
    table = (folder.path / "trials.csv").read_text().splitlines()
    assert table == [
        "trial,score,seconds,epochs,error",
        "0,0.5,1.5,1,",
        '1,,0.25,2,"Error: odd, so"',
    ]


def test_another_search_is_refused(tmp_path: Path) -> None:
    folder = TuningFolder(tmp_path)
    folder.write(IDENTITY, TRIALS, None)
    other = Identity(Config(), "abc", {"name": "nested", "grid epochs": [1, 2, 3]})
    text = r"protocol grid epochs is \[1, 2\] there and \[1, 2, 3\] here. Give another folder"
    with pytest.raises(ConfigError, match=text):
        folder.read(other)
    with pytest.raises(ConfigError, match=r"temperature is 0\.2 there and 1\.0 here"):
        folder.read(Identity(Config(temperature=1.0), "abc", IDENTITY.protocol))
    assert folder.read(other, force=True) == []


@pytest.mark.parametrize("text", ["{}", "no json", "[]", '{"kind": "igsd run"}'])
def test_a_damaged_search_is_named_and_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "tuning.json").write_text(text)
    with pytest.raises(StorageError, match="is damaged, so the search cannot go on"):
        TuningFolder(tmp_path).read(IDENTITY, force=True)


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(StorageError, match="holds no search of `igsd tune`"):
        TuningFolder(tmp_path).read(IDENTITY, force=True)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="holds no search"):
        TuningFolder(tmp_path / "file").read(IDENTITY)


def test_a_recipe_is_read_as_a_configuration(tmp_path: Path) -> None:
    config = Config(epochs=7, view="heat", seed=3, accelerator="auto", learning_rate=1e-4)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_toml(config, "Found on 'two\nlines'"))
    assert path.read_text().startswith("# Found on 'two lines'\n\n# The run\nepochs = 7")
    settings = read_settings(path)
    runtime = {e.name for e in Config.settings() if e.metadata["group"] == "runtime"}
    assert settings.keys() == {e.name for e in Config.settings()} - runtime - {"seed"}
    assert configure("igsd", "paper", settings) == config.updated({"seed": 0})
