from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.registry import configure
from igsd.errors import ConfigError, StorageError
from igsd.experiments import tune
from igsd.experiments.protocol_base import NestedTuning
from igsd.experiments.records import Record
from igsd.experiments.run import Options, Run
from igsd.experiments.tune import (
    PAPER_GRID,
    PAPER_LABEL_GRID,
    Grid,
    Search,
    Trial,
    make_grid,
    num_choices,
    paper_grid,
    parse_grid,
    ranked,
    recipe_toml,
    require_optuna,
    run_trials,
    suggest,
)
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from igsd.settings.text import read_settings
from igsd.workers.pools import Workers
from tests.experiments.small_exhibit import write_data

pytest.importorskip("optuna", reason="needs igsd[tune]")

GRID: Grid = {"epochs": (1, 2, 3, 4), "num_layers": (1, 2)}
WIDE: Grid = {"epochs": (1, 2, 3), "view": ("ppr", "heat"), "learning_rate": (0.1, 0.5)}


@pytest.fixture(autouse=True)
def made_up_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trials have a score that is known without training."""

    def work(self: Any, run: Run, graphs: GraphSet, options: Options) -> Record:
        config = run.config()
        if config.epochs == 3:
            raise ArithmeticError("The loss is not finite.")
        return {"score": config.epochs / 1000 + config.num_layers / 100}

    monkeypatch.setattr(NestedTuning, "work", work)


def search(folder: Path, num_trials: int = 6, **changes: Any) -> Search:
    folder.parent.mkdir(parents=True, exist_ok=True)
    source = write_data(folder.parent)
    fixed = tuple(({"epochs": 20} | changes).items())
    run = Run("tune-nested", "toy", "igsd", "molecules", 100, fixed=fixed, source=source)
    return Search(run, run.graphs(), GRID, 1, num_trials, 0, folder)


def run(made: Search, workers: int = 1, budget: float | None = None) -> list[Trial]:
    finished = made.read()
    at_once = Workers(workers)
    return finished + list(run_trials(made, finished, Options(), at_once, budget))


def plain(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.settings, t.score, t.error) for t in trials]


def test_the_recipe_comes_first_and_all_is_tried(tmp_path: Path) -> None:
    made = search(tmp_path / "s", 100)
    trials = run(made)
    assert trials[0].settings == {"epochs": 20, "num_layers": made.run.config().num_layers}
    assert [trial.number for trial in trials] == list(range(9))
    failed = [trial for trial in trials if trial.score is None]
    assert len(failed) == 2
    assert failed[0].error == "ArithmeticError: The loss is not finite."
    assert search(tmp_path / "s").read() == trials


def test_the_first_trial_keeps_to_what_the_user_listed(tmp_path: Path) -> None:
    """With --grid epochs=1,2 the recipe's 20 was tried all the same, and could be chosen."""
    made = replace(search(tmp_path / "s"), given=frozenset({"epochs"}))
    layers = made.run.config().num_layers
    assert made.first() == {"epochs": 1, "num_layers": layers}
    inside = replace(search(tmp_path / "s", epochs=3), given=frozenset({"epochs"}))
    assert inside.first() == {"epochs": 3, "num_layers": layers}


def test_the_best_becomes_a_recipe(tmp_path: Path) -> None:
    made = search(tmp_path / "s", temperature=0.7)
    best = ranked(run(made))[0]
    settings = read_settings(made.recipe)
    assert {key: settings[key] for key in GRID} == best.settings
    assert settings["temperature"] == 0.7
    lines = (made.folder / "trials.csv").read_text().splitlines()
    assert lines[0] == "trial,score,seconds,epochs,num_layers,error"
    assert len(lines) == 7


def test_continuing_gives_the_same_trials(tmp_path: Path) -> None:
    whole = run(search(tmp_path / "whole"))
    assert run(search(tmp_path / "parts"), budget=0.0) == []
    assert len(run(search(tmp_path / "parts", 2))) == 2
    assert len(run(search(tmp_path / "parts", 4))) == 4
    assert plain(run(search(tmp_path / "parts"))) == plain(whole)


def test_several_trials_are_chosen_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one = tune.execute_runs
    monkeypatch.setattr(
        tune,
        "execute_runs",
        lambda batches, options, workers: one_by_one(batches, options, Workers()),
    )
    trials = run(search(tmp_path / "s", 8), workers=3)
    assert [trial.number for trial in trials] == list(range(8))
    assert len({tuple(trial.settings.values()) for trial in trials}) == 8


def test_an_interruption_loses_the_trial_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, made = run(search(tmp_path / "whole")), search(tmp_path / "parts")
    real = NestedTuning.work

    def stopped(self: Any, *arguments: Any) -> Record:
        if made.folder.exists() and len(made.read()) == 3:
            raise KeyboardInterrupt
        return real(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(NestedTuning, "work", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(made)
    assert plain(made.read()) == plain(whole[:3])
    assert plain(run(made)) == plain(whole)


def test_a_first_trial_that_cannot_be_written_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its recipe alone once made the folder one that igsd tune would not touch.
    def full(*args: Any) -> None:
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(tune.columns, "write_columns", full)
        with pytest.raises(StorageError, match="full"):
            run(search(tmp_path / "s"))
    assert len(run(search(tmp_path / "s"))) == 6


def test_another_search_is_refused(tmp_path: Path) -> None:
    run(search(tmp_path / "s", 1))
    other = replace(search(tmp_path / "s"), grid={"epochs": (1, 2)})
    text = r"grid epochs is \[1, 2, 3, 4\] there and \[1, 2\] here, and 1 more. Give another folder"
    with pytest.raises(ConfigError, match=text):
        other.read()
    with pytest.raises(ConfigError, match=r"temperature is 0\.2 there and 1\.0 here"):
        search(tmp_path / "s", temperature=1.0).read()
    assert other.read(force=True) == []
    assert list((tmp_path / "s").iterdir()) == []


def test_a_search_of_an_older_version_is_named(tmp_path: Path) -> None:
    made = search(tmp_path / "s")
    made.folder.mkdir()
    (made.folder / "tuning.json").write_text("{}")
    with pytest.raises(StorageError, match=r"older version of igsd.*trials\.csv.*--force"):
        made.read()
    assert made.read(force=True) == []


def test_a_damaged_search_is_named_and_left_alone(tmp_path: Path) -> None:
    made = search(tmp_path / "s")
    made.folder.mkdir()
    (made.folder / tune.JOURNAL).write_text("no journal\n")
    with pytest.raises(StorageError, match="is damaged, so the search cannot continue"):
        made.read()


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    made = search(tmp_path / "s")
    made.folder.mkdir()
    (made.folder / "thesis.txt").write_text("years of work")
    with pytest.raises(StorageError, match="holds no search of `igsd tune`"):
        made.read(force=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="holds no search"):
        replace(made, folder=tmp_path / "file").read()


def test_a_recipe_is_read_as_a_configuration(tmp_path: Path) -> None:
    config = Config(epochs=7, view="heat", seed=3, accelerator="auto", learning_rate=1e-4)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_toml(config, "Found on 'two\nlines'"))
    assert path.read_text().startswith("# Found on 'two lines'\n\n# The run\n")
    settings = read_settings(path)
    runtime = {e.name for e in Config.settings() if e.metadata["group"] == "runtime"}
    assert settings.keys() == {e.name for e in Config.settings()} - runtime - {"seed"}
    assert configure("igsd", "paper", settings) == config.updated({"seed": 0})


def test_best_first_and_earlier_first() -> None:
    scores = [0.5, None, 0.75, 0.75]
    trials = [Trial(number, {}, score, 0.0) for number, score in enumerate(scores)]
    assert [trial.number for trial in ranked(reversed(trials))] == [2, 3, 0]
    assert str(Trial(0, {"epochs": 20, "view": "ppr"}, 0.5, 1.0)) == "epochs=20 view=ppr"


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r'pip install "igsd\[tune\]"'):
        require_optuna()


def test_the_grids_of_the_paper() -> None:
    assert num_choices(paper_grid(Config())) == 3 * 6 * 3 * 2 * 2 * 2
    labelled = configure("igsd-supcon+self-training", "molecules", {}, "classes")
    assert paper_grid(labelled) == PAPER_LABEL_GRID
    assert num_choices(PAPER_LABEL_GRID) == 2**7


def test_what_a_method_has_no_use_for_is_not_searched() -> None:
    without = paper_grid(configure("igsd-self", "molecules", {}, "classes"))
    assert not any(key.startswith("self_training") for key in without)
    # A method that has no pseudo-labels at all.
    teacher = paper_grid(configure("mean-teacher", "molecules", {}, "classes"))
    assert teacher.keys() == without.keys() - {"head_dim", "head_hidden_dim"}
    gin = paper_grid(configure("gin+self-training", "molecules", {}, "classes"))
    assert "head_dim" not in gin
    assert "self_training_rounds" in gin


def test_grids_of_the_user() -> None:
    given = parse_grid(["epochs = 2, 4,2", "learning_rate=1,0.5", "view=ppr,heat"])
    grid = make_grid(Config(), given, {"num_layers"})
    assert grid["epochs"] == (2, 4)
    assert grid["learning_rate"] == (1.0, 0.5)
    assert grid["view"] == ("ppr", "heat")
    assert grid["head_dim"] == PAPER_GRID["head_dim"]
    assert "num_layers" not in grid


@pytest.mark.parametrize(
    ("texts", "fixed", "text"),
    [
        (["epochs"], [], "given as key=a,b,c"),
        (["epochs=,"], [], "given as key=a,b,c"),
        (["epoch=1,2"], [], "There is no setting 'epoch'. Did you mean 'epochs'"),
        (["epochs=1,x"], [], "'epochs' parameter of IGSD must be a whole number. Got 'x'"),
        (["epochs=1,-2"], [], "must be at least 0"),
        (["seed=1,2"], [], "Leave it out of the grid"),
        (["epochs=1,2"], ["epochs"], "set to a value and in the grid"),
        ([], list(PAPER_GRID), "nothing to search"),
    ],
)
def test_wrong_grids(texts: list[str], fixed: list[str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        make_grid(Config(), parse_grid(texts), fixed)


def searched(count: int, seed: int, grid: Grid = WIDE) -> list[Trial]:
    """Return trials of a score that grows with epochs and likes heat; every fifth fails."""
    trials: list[Trial] = []
    while len(trials) < count:
        found = suggest(grid, trials, seed)
        if found is None:
            break
        good = found["epochs"] / 4 + (found["view"] == "heat") / 4
        trials.append(Trial(len(trials), found, None if len(trials) % 5 == 4 else good, 0.0))
    return trials


def test_everything_is_tried_once() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    trials = searched(100, 0)
    assert len(trials) == 12
    assert len({tuple(trial.settings.values()) for trial in trials}) == 12
    assert all(list(trial.settings) == list(WIDE) for trial in trials)


def test_a_seed_decides_and_going_on_changes_nothing() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    whole = searched(8, 3)
    assert searched(8, 3) == whole
    assert suggest(WIDE, whole[:5], 3) == whole[5].settings
    assert searched(8, 4) != whole


def test_it_learns_from_good_trials() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    wide: Grid = WIDE | {"batch_size": tuple(range(2, 42))}
    late = [trial.settings["epochs"] for trial in searched(40, 0, wide)[20:]]
    assert sum(late) / len(late) > 2.2  # 2 by chance


def test_trials_outside_the_grid_are_passed_over() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    recipe = Trial(0, {"epochs": 60, "view": "ppr", "learning_rate": 0.1}, 0.9, 1.0)
    assert suggest({"epochs": (1,), "view": ("ppr",), "learning_rate": (0.1,)}, [recipe], 0) == {
        "epochs": 1,
        "view": "ppr",
        "learning_rate": 0.1,
    }


def test_optuna_keeps_its_own_voice(capfd: pytest.CaptureFixture[str]) -> None:
    optuna = pytest.importorskip("optuna", reason="needs igsd[tune]")
    before = optuna.logging.get_verbosity()
    searched(2, 0)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")
