from __future__ import annotations

import sys

import pytest

from igsd.errors import ConfigError
from igsd.experiments.tuning_grid import Grid
from igsd.experiments.tuning_sampler import require_optuna, suggest
from igsd.experiments.tuning_trial import Trial

GRID: Grid = {"epochs": (1, 2, 3), "view": ("ppr", "heat"), "learning_rate": (0.1, 0.5)}


def searched(count: int, seed: int, grid: Grid = GRID) -> list[Trial]:
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
    assert all(list(trial.settings) == list(GRID) for trial in trials)


def test_a_seed_decides_and_going_on_changes_nothing() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    whole = searched(8, 3)
    assert searched(8, 3) == whole
    assert suggest(GRID, whole[:5], 3) == whole[5].settings
    assert searched(8, 4) != whole


def test_it_learns_from_good_trials() -> None:
    pytest.importorskip("optuna", reason="needs igsd[tune]")
    wide: Grid = GRID | {"batch_size": tuple(range(2, 42))}
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


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r'pip install "igsd\[tune\]"'):
        require_optuna()
