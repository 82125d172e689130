from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from igsd.config import Config
from igsd.experiments import recipe_plan
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run
from tests.cli.test_evaluate import FAST, LAST, first_words


def test_a_recipe_over_seeds_with_records(igsd: Run, toy: Path, tmp_path: Path) -> None:
    options = [*FAST, *SETTINGS, "--records", "results"]
    command = ["evaluate", "--recipe", "molecules", toy]
    code, out, _ = igsd(*command, *options, "--seeds", 1)
    assert code == 0
    assert [word for word in first_words(out) if word in LAST] == LAST
    code, out, err = igsd(*command, *options, "--seeds", 2)
    assert code == 0
    assert "seed 0: has a record, skipped" in err
    runs = tmp_path / "runs"
    assert {path.name for path in runs.iterdir()} == {"TOY-molecules-1", "TOY-molecules-2"}
    metrics = json.loads((runs / "TOY-molecules-2" / "metrics.json").read_text())
    assert (metrics["status"], metrics["seed"]) == ("finished", 1)
    assert [row["method"] for row in metrics["table"]["rows"][-4:]] == LAST
    assert len(metrics["table"]["rows"][0]["seeds"]) == 2
    records = sorted((tmp_path / "results").rglob("*.json"))
    assert [str(path.relative_to(tmp_path)) for path in records] == [
        "results/nested/TOY/molecules/seed-0.json",
        "results/nested/TOY/molecules/seed-1.json",
    ]
    code, again, _ = igsd(*command, *options, "--seeds", 2)
    assert (code, again) == (0, out)
    assert len(list(runs.iterdir())) == 2
    code, _, err = igsd(*command, *options, "--seeds", 2, "--set", "epochs=1")
    assert (code, "another run: epochs is 2 there and 1 here" in err) == (2, True)


def test_the_run_folder_holds_every_seed(igsd: Run, toy: Path, tmp_path: Path) -> None:
    options = [*FAST, *SETTINGS, "--set", "epochs=1", "--seeds", 2, "-o", "r"]
    assert igsd("evaluate", "--recipe", "auto", toy, *options)[0] == 0
    for folder in (tmp_path / "r", tmp_path / "r" / "seed-1"):
        for name in ("model.safetensors", "embeddings.npy", "config.toml", "embedding.png"):
            assert (folder / name).exists()
    assert not (tmp_path / "r" / "seed-0").exists()
    code, _, err = igsd("evaluate", "--recipe", "auto", toy, *options)
    assert (code, "already holds a run" in err) == (2, True)


def test_a_failed_seed(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = recipe_plan.train_model

    def train(graphs: GraphSet, config: Config, **others: Any) -> Any:
        if config.seed == 0:
            raise RuntimeError("broken")
        return real(graphs, config, **others)

    monkeypatch.setattr(recipe_plan, "train_model", train)
    options = [*FAST, *SETTINGS, "--seeds", 2, "--records", "results"]
    code, out, err = igsd("evaluate", "--recipe", "molecules", toy, *options)
    assert code == 1
    assert "seed 0 failed: RuntimeError: broken" in err
    assert "1 seed" in out
    record = json.loads((tmp_path / "results/nested/TOY/molecules/seed-0.json").read_text())
    assert record["status"] == "failed"


def test_stopped_by_the_user(igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*args: Any, **others: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(recipe_plan, "train_model", train)
    code, _, err = igsd("evaluate", "--recipe", "molecules", toy, *FAST, *SETTINGS)
    assert (code, "same command again" in err) == (130, True)
    assert not Path("runs").exists()
