from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from igsd.experiments.protocol_base import NestedTuning
from igsd.experiments.records import Record
from tests.cli.conftest import SETTINGS, Run

needs_optuna = pytest.mark.skipif(find_spec("optuna") is None, reason="needs igsd[tune]")

BASE = [text for text in SETTINGS if "epochs" not in text and "head_dim" not in text]
GRID = ["--recipe", "social", "--grid", "epochs=1,2", "--grid", "head_dim=4,8", *BASE]
GRID += ["--set=learning_rate=0.001"]
SEMI = ["--protocol", "semi", "--seeds", "1", "--set=pretraining_epochs=0", "--set=epochs=1"]


@needs_optuna
def test_a_search_leaves_a_recipe_that_train_takes(igsd: Run, toy: Path, tmp_path: Path) -> None:
    code, out, err = igsd("tune", toy, "-o", "t", "--trials", 3, "--jobs", 1, *GRID)
    assert code == 0, err
    assert "trial 0 (the recipe, within --grid): epochs=1 head_dim=4:" in err
    assert len([line for line in err.splitlines() if line.startswith("trial ")]) == 3
    assert out.splitlines()[0] == "TOY, nested, best of 3 trials"
    assert f"igsd train {quote(str(toy))} --config t/recipe.toml" in out
    assert len((tmp_path / "t" / "trials.csv").read_text().splitlines()) == 4
    again = igsd("tune", toy, "-o", "t", "--trials", 3, "--jobs", 1, *GRID)
    assert again == (0, out, "3 trials in t\n")
    recipe = ["--config", "t/recipe.toml", "--set", "epochs=1", "--quiet"]
    assert igsd("train", toy, *recipe, "-o", "r")[0] == 0
    code, _, err = igsd("tune", toy, "-o", "t", "--jobs", 1, *GRID, "--seed", "1")
    assert (code, "holds another search: protocol search seed is 0" in err) == (2, True)


@needs_optuna
def test_few_labels(igsd: Run, toy: Path, tmp_path: Path) -> None:
    grid = ["--grid", "self_training_threshold=0.6,0.9", "--trials", "2", "--quiet"]
    code, out, err = igsd("tune", toy, *BASE, *SEMI, *grid)
    assert (code, "trial" in err) == (0, False)
    assert (tmp_path / "runs" / "tune-TOY-semi" / "recipe.toml").exists()
    assert "--labels class --config runs/tune-TOY-semi/recipe.toml" in out


@needs_optuna
def test_stopped_by_the_user_and_by_time(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> Record:
        if (tmp_path / "t" / "trials.csv").exists():
            raise KeyboardInterrupt
        return {"score": 0.5}

    monkeypatch.setattr(NestedTuning, "work", stop)
    code, out, err = igsd("tune", toy, "-o", "t", *GRID)
    assert (code, out) == (130, "")
    assert "Stopped. 1 trial kept in t; the same command continues." in err
    code, out, err = igsd("tune", toy, "-o", "t", *GRID, "--timeout", "0")
    assert (code, out.splitlines()[0]) == (0, "TOY, nested, best of 1 trial")
    assert "The time is used up; 29 trials left" in err


@needs_optuna
def test_no_trial_with_a_score(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Record:
        raise FloatingPointError("no number")

    monkeypatch.setattr(NestedTuning, "work", fail)
    code, out, err = igsd("tune", toy, "-o", "t", "--quiet", "--trials", "2", *GRID)
    assert (code, out) == (1, "")
    assert "FloatingPointError: no number" in err
    assert "there is no recipe" in err
    assert not (tmp_path / "t" / "recipe.toml").exists()


def test_dry_run_lists_the_grid(igsd: Run, toy: Path, tmp_path: Path) -> None:
    code, out, _ = igsd("tune", toy, "--dry-run", "--grid", "epochs=1,2")
    assert code == 0
    assert "num_layers: 2, 8, 12 (the recipe has 4)" in out
    assert "epochs: 1, 2 (the recipe has 60)" in out
    assert "288 combinations, of which 30 trials" in out
    assert not (tmp_path / "runs").exists()


def test_without_optuna(igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, _, err = igsd("tune", toy)
    assert (code, 'pip install "igsd[tune]"' in err) == (2, True)


def test_wrong_questions(igsd: Run, toy: Path, unlabelled: Path, tmp_path: Path) -> None:
    for arguments, text in (
        ([unlabelled], "no class labels"),
        ([toy, "--grid", "epoch=1,2"], "no setting 'epoch'. Did you mean 'epochs'"),
        ([toy, "--grid", "epochs"], "given as key=a,b,c"),
        ([toy, "--grid", "epochs=1,x"], "must be a whole number"),
        ([toy, "--grid", "epochs=1", "--set", "epochs=2"], "give one of them"),
        ([toy, "--set", "seed=1"], "seed cannot be set"),
        ([toy, "--set", "wrong=1"], "no setting 'wrong'"),
        ([toy, "--recipe", "sociable"], "no recipe"),
        ([toy, "--trials", "0"], "--trials must be at least 1"),
        ([toy, "--seeds", "0"], "--seeds must be at least 1"),
        ([toy, "--seed", "-1"], "--seed must be at least 0"),
        ([toy, "--timeout", "soon"], "--timeout takes a time such as 30m"),
        ([toy, "--method", "gin"], "--method is for --protocol semi"),
        ([toy, "--label-rate", "0.1"], "--label-rate is for --protocol semi"),
        ([toy, "--protocol", "semi", "--method", "gim"], "no method 'gim'"),
        ([toy, "--protocol", "semi", "--label-rate", "2"], "label_rate must be a share"),
        ([toy, "--protocol", "semi", "--grid", "embed_views=graph"], "no setting 'embed_views'"),
        (["nothing"], "nothing"),
    ):
        code, _, err = igsd("tune", *arguments, "--dry-run")
        assert (code, text in err) == (2, True), err


@needs_optuna
def test_a_folder_of_something_else(igsd: Run, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    code, _, err = igsd("tune", toy, "-o", "mine", "--force")
    assert (code, "holds no search of `igsd tune`" in err) == (2, True)
