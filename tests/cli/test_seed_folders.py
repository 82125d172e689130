from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from igsd.cli.seed_folders import SeedFolders
from igsd.config import Config
from igsd.errors import StorageError
from igsd.experiments.recipe_plan import RecipePlan
from igsd.experiments.scoring import Scoring
from igsd.experiments.trained import train_model
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import TINY, make_graphs

FAST = ["--quiet", "--standardise", "no", "--jobs", "1", "--seeds", "2"]


@pytest.fixture
def plan() -> RecipePlan:
    graphs = make_graphs(8, classes=True, name="toy")
    return RecipePlan(graphs, "molecules", Config(**(TINY | {"epochs": 0})), Scoring(), 2)


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, largest: int, after: int = 0) -> None:
    """Let every file above ``largest`` bytes fail as on a full disk, the first ``after`` not."""
    real, seen = os.fsync, 0

    def fsync(handle: int) -> None:
        nonlocal seen
        if os.fstat(handle).st_size > largest:
            seen += 1
            if seen > after:
                raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


def test_the_first_model_at_the_top_the_others_below(
    plan: RecipePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = SeedFolders(None, plan)
    for seed in (0, 1):
        folders(train_model(plan.graphs, plan.config_of(seed)))
    folders.finish({"rows": []})
    top = tmp_path / "runs" / "toy-molecules-1"
    for folder, seed in ((top, 0), (top / "seed-1", 1)):
        assert (folder / "model.safetensors").exists()
        metrics = json.loads((folder / "metrics.json").read_text())
        assert (metrics["seed"], metrics["status"]) == (seed, "finished")


def test_a_full_disk_at_the_first_model(
    plan: RecipePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = SeedFolders(None, plan)
    trained = train_model(plan.graphs, plan.config)
    fill_the_disk(monkeypatch, 2000)
    with pytest.raises(StorageError, match="disk is full"):
        folders(trained)
    folders.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_at_the_second_model_keeps_the_first(
    plan: RecipePlan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folders = SeedFolders(str(tmp_path / "r"), plan)
    folders(train_model(plan.graphs, plan.config_of(0)))
    trained = train_model(plan.graphs, plan.config_of(1))
    fill_the_disk(monkeypatch, 2000)
    with pytest.raises(StorageError, match="disk is full"):
        folders(trained)
    folders.discard()
    assert (tmp_path / "r" / "model.safetensors").exists()
    assert not (tmp_path / "r" / "seed-1").exists()
    assert "not finished" in capsys.readouterr().err


def test_a_full_disk_from_the_start(
    plan: RecipePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill_the_disk(monkeypatch, 0)
    with pytest.raises(StorageError, match="disk is full"):
        SeedFolders(None, plan)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [[], ["-o", "r"], ["--records", "results"]])
def test_the_command_says_a_sentence_and_leaves_nothing(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[Any]
) -> None:
    # It once reported every seed as failed and left a folder without a model.
    fill_the_disk(monkeypatch, 2000)
    code, _, err = igsd("evaluate", "--recipe", "molecules", toy, *FAST, *SETTINGS, *options)
    assert code == 2
    assert err.startswith("igsd: Cannot write")
    assert "The disk is full: free some space" in err
    assert {path.name for path in tmp_path.iterdir()} <= {"TOY", "results"}
    assert not list(tmp_path.rglob("*.json"))
