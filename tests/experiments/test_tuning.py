from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from igsd.config import Config
from igsd.errors import StorageError, TrainingError
from igsd.experiments import tuning_folder
from igsd.experiments.tuning import Search, run_trials
from igsd.experiments.tuning_folder import TuningFolder
from igsd.experiments.tuning_grid import Grid
from igsd.experiments.tuning_score import TuningTask
from igsd.experiments.tuning_trial import Trial
from igsd.settings_text import read_settings
from tests.small_graphs import make_graphs

pytest.importorskip("optuna", reason="needs igsd[tune]")

GRID: Grid = {"epochs": (1, 2, 3, 4), "num_layers": (1, 2)}


class MadeUpScore(TuningTask):
    """A score that is known without training."""

    def protocol(self) -> dict[str, Any]:
        return {"name": "made up"}

    def check(self, config: Config) -> None:
        pass

    def score_seed(self, config: Config, seed: int) -> float:
        if config.epochs == 3:
            raise TrainingError("The loss is not finite.")
        return config.epochs / 10 + config.num_layers / 100


def search(folder: Path, num_trials: int = 6, **changes: Any) -> Search:
    task = MadeUpScore(make_graphs(4), 1)
    return Search(task, Config(epochs=20, **changes), GRID, num_trials, 0, TuningFolder(folder))


def run(made: Search, may_start: Any = lambda number: True) -> list[Trial]:
    finished = made.folder.read(made.identity())
    return finished + list(run_trials(made, finished, may_start))


def plain(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.settings, t.score, t.error) for t in trials]


def test_the_recipe_comes_first_and_all_is_tried(tmp_path: Path) -> None:
    trials = run(search(tmp_path, 100))
    assert trials[0].settings == {"epochs": 20, "num_layers": Config().num_layers}
    assert [trial.number for trial in trials] == list(range(9))
    failed = [trial for trial in trials if trial.score is None]
    assert len(failed) == 2
    assert failed[0].error == "TrainingError: The loss is not finite."
    assert search(tmp_path).folder.read(search(tmp_path).identity()) == trials


def test_the_first_trial_keeps_to_what_the_user_listed(tmp_path: Path) -> None:
    """With --grid epochs=1,2 the recipe's 20 was tried all the same, and could be chosen."""
    made = replace(search(tmp_path), given=frozenset({"epochs"}))
    assert made.first() == {"epochs": 1, "num_layers": Config().num_layers}
    inside = replace(made, config=Config(epochs=3))
    assert inside.first() == {"epochs": 3, "num_layers": Config().num_layers}


def test_the_best_becomes_a_recipe(tmp_path: Path) -> None:
    trials = run(search(tmp_path, temperature=0.7))
    best = max(trials, key=lambda trial: trial.score or 0)
    settings = read_settings(tmp_path / "recipe.toml")
    assert {key: settings[key] for key in GRID} == best.settings
    assert settings["temperature"] == 0.7


def test_going_on_gives_the_same_trials(tmp_path: Path) -> None:
    whole = run(search(tmp_path / "whole"))
    assert len(run(search(tmp_path / "parts"), lambda number: number < 2)) == 2
    assert len(run(search(tmp_path / "parts", 4))) == 4
    assert plain(run(search(tmp_path / "parts"))) == plain(whole)


def test_an_interruption_loses_the_trial_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, made = run(search(tmp_path / "whole")), search(tmp_path / "parts")
    real = MadeUpScore.score_seed

    def stopped(self: MadeUpScore, config: Config, seed: int) -> float:
        if len(made.folder.read(made.identity())) == 3:
            raise KeyboardInterrupt
        return real(self, config, seed)

    monkeypatch.setattr(MadeUpScore, "score_seed", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(made)
    assert plain(made.folder.read(made.identity())) == plain(whole[:3])
    monkeypatch.undo()
    assert plain(run(made)) == plain(whole)


def test_a_place_that_cannot_be_written_ends_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    made = search(tmp_path / "file" / "run")
    with pytest.raises(StorageError, match="Cannot write"):
        list(run_trials(made, [], lambda number: True))


def test_a_first_trial_that_cannot_be_written_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its recipe alone once made the folder one that igsd tune would not touch.
    def full(*args: Any) -> None:
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(tuning_folder, "write_columns", full)
        with pytest.raises(StorageError, match="full"):
            run(search(tmp_path))
    assert (tmp_path / "recipe.toml").exists()
    assert len(run(search(tmp_path))) == 6


def test_nothing_of_a_search_that_is_replaced_stays(tmp_path: Path) -> None:
    run(search(tmp_path))
    list(run_trials(search(tmp_path, temperature=0.7), [], lambda number: False))
    assert {path.name for path in tmp_path.iterdir()} == {"tuning.json"}
    assert len(run(search(tmp_path))) == 6  # an empty search is in nobody's way
