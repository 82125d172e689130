from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.experiments import trained as training
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from tests.cli.conftest import SETTINGS, Run

LAST = ["igsd", "untrained", "histogram", "majority"]
FAST = ["--quiet", "--standardise", "no", "--jobs", "1"]


def first_words(out: str) -> list[str]:
    return [line.split()[0] for line in out.splitlines()]


def test_a_model(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    options = [*FAST, "--seeds", 2, "--json", "t.json"]
    code, out, _ = igsd("evaluate", trained, toy, *options)
    assert code == 0
    assert [word for word in first_words(out) if word in LAST] == LAST
    table = json.loads((tmp_path / "t.json").read_text())
    assert [row["method"] for row in table["rows"][-4:]] == LAST
    row = table["rows"][0]
    assert [seed["seed"] for seed in row["seeds"]] == [0, 1]
    assert {"mean", "std_over_seeds", "std_over_folds"} <= row.keys()


def test_a_cluster_is_for_methods(igsd: Run, trained: Path, toy: Path) -> None:
    """It was accepted, and the runs could not be sent."""
    pytest.importorskip("distributed")
    for inputs in ([trained, toy], ["--recipe", "molecules", toy]):
        code, _, err = igsd("evaluate", *inputs, "--backend", "dask", "--scheduler", "127.0.0.1:1")
        assert (code, "--backend dask needs --methods NAME" in err) == (2, True)


def test_embeddings(igsd: Run, trained: Path, toy: Path) -> None:
    source = trained / "embeddings.npy"
    code, out, _ = igsd("evaluate", source, toy, *FAST, "--seeds", 1, "--json", "-")
    table = json.loads(out)
    assert code == 0
    assert [row["method"] for row in table["rows"]] == ["vectors", *LAST[1:]]
    assert table["rows"][1]["mean"] is None
    assert len(table["notes"]) == 1
    out = igsd("evaluate", source, toy, *FAST, "--seeds", 1)[1]
    assert "untrained           -" in out


def test_paper_stands_beside_nested(igsd: Run, trained: Path, toy: Path) -> None:
    options = [*FAST, "--seeds", 1, "--protocol", "paper"]
    code, out, _ = igsd("evaluate", trained, toy, *options)
    assert code == 0
    assert "nested %" in out
    assert "optimistic" in out
    table = json.loads(igsd("evaluate", trained, toy, *options, "--json", "-")[1])
    assert table["rows"][0]["optimistic"]
    assert [row["protocol"] for row in table["beside"]] == ["nested"] * 4


def test_data_that_cannot_be_scored(
    igsd: Run, trained: Path, toy_graphs: GraphSet, unlabelled: Path, tmp_path: Path
) -> None:
    one_class = replace(toy_graphs, classes=np.zeros(8, np.int64))
    one_class.save(tmp_path / "one.graphs")
    small = replace(toy_graphs, classes=np.array([0] * 6 + [1] * 2), class_names=("no", "yes"))
    small.save(tmp_path / "small.graphs")
    for data, text in (
        (unlabelled, "no class labels"),
        ("one.graphs", "two classes"),
        ("small.graphs", "Class 'yes' has 2. Leave the graphs of such a class out"),
    ):
        for source in ([trained], ["--recipe", "molecules"]):
            code, _, err = igsd("evaluate", *source, data, *FAST)
            assert (code, text in err) == (2, True), err
    assert not (tmp_path / "runs").exists()


def test_graphs_without_a_class_are_left_out(
    igsd: Run, trained: Path, toy_graphs: GraphSet, tmp_path: Path
) -> None:
    some = replace(toy_graphs, classes=np.array([0, 1, 0, 1, 0, 1, 0, -1]))
    some.save(tmp_path / "some.graphs")
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(8, 3)))
    for source in (trained, "v.npy"):
        code, _, err = igsd("evaluate", source, "some.graphs", *FAST)
        assert code == 0, err
        assert "1 of 8 graphs of 'TOY' have no label: the score is of the other 7." in err


def test_classes_from_a_file(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("no\nyes\n" * 4)
    command = ["evaluate", trained, toy, *FAST, "--seeds", 1, "--json", "-"]
    own, named = (json.loads(igsd(*command, *more)[1]) for more in ([], ["--labels", "labels.txt"]))
    assert named["rows"] == own["rows"]
    assert named["data"]["checksum"] != own["data"]["checksum"]


def test_wrong_questions(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.ones((7, 2)))
    np.save(tmp_path / "nan.npy", np.full((8, 2), np.nan))
    (tmp_path / "seed.toml").write_text("seed = 3")
    for arguments, text in (
        ([toy], "or --method NAME"),
        ([trained, toy, toy], "takes MODEL"),
        (["--recipe", "molecules", trained, toy], "DATA alone"),
        ([trained, toy, "--records", "r"], "--records applies to training"),
        ([trained, toy, "--set", "epochs=1"], "--set applies to training"),
        ([trained, toy, "--seeds", "0"], "at least 1"),
        ([trained, toy, "--json", str(tmp_path)], "is a folder"),
        ([trained, toy, "--protocol", "gckn"], "published folds"),
        (["--recipe", "molecules", toy, "--set", "seed=3"], "seed cannot be set"),
        (["--recipe", "molecules", toy, "--config", "seed.toml"], "seed cannot be set"),
        (["--recipe", "nonsense", toy], "no recipe"),
        (["--recipe", "molecules", toy, "--set", "devices=2"], "devices=1"),
        (["--recipe", "molecules", toy, "--protocol", "gckn"], "published folds"),
        (["v.npy", toy], "7 vectors"),
        (["nan.npy", toy], "nan.npy must hold finite numbers"),
        ([trained, toy, "--labels", "active"], "no labels of that name"),
    ):
        code, _, err = igsd("evaluate", *arguments, *FAST)
        assert (code, text in err) == (2, True), err
    assert not (tmp_path / "runs").exists()


def test_a_recipe_under_both_protocols_is_trained_once(
    igsd: Run, toy: Path, tmp_path: Path
) -> None:
    options = [*SETTINGS, "--records", "r", "--seeds", 2, "--protocol", "paper", "--json", "-"]
    code, out, _ = igsd("evaluate", "--recipe", "molecules", toy, *FAST, *options)
    assert code == 0
    table = json.loads(out)
    assert (len(table["rows"][0]["seeds"]), len(table["beside"][0]["seeds"])) == (2, 2)
    # The first seed's model is in the folder itself.
    (further,) = (tmp_path / "runs" / "TOY-molecules-1").glob("seed-*")
    assert further.name == "seed-1"
    for seed in range(2):
        paths = [tmp_path / "r" / name / "TOY" / "molecules" for name in ("nested", "paper")]
        nested, paper = (json.loads((p / f"seed-{seed}.json").read_text()) for p in paths)
        assert nested["seconds"]["train"] == paper["seconds"]["train"]
        assert nested["history"] == paper["history"]


def test_a_recipe_over_seeds_with_records(igsd: Run, toy: Path, tmp_path: Path) -> None:
    options = [*FAST, *SETTINGS, "--records", "results"]
    command = ["evaluate", "--recipe", "molecules", toy]
    code, out, _ = igsd(*command, *options, "--seeds", 1)
    assert code == 0
    assert [word for word in first_words(out) if word in LAST] == LAST
    code, out, err = igsd(*command, *[o for o in options if o != "--quiet"], "--seeds", 2)
    assert code == 0
    assert "1 run has a record, skipped" in err
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
    real = training.train_model

    def train(graphs: GraphSet, config: Config, **others: Any) -> Any:
        if config.seed == 0:
            raise RuntimeError("broken")
        return real(graphs, config, **others)

    monkeypatch.setattr(training, "train_model", train)
    options = [*FAST, *SETTINGS, "--seeds", 2, "--records", "results"]
    code, out, err = igsd("evaluate", "--recipe", "molecules", toy, *options)
    assert code == 1
    assert "molecules on TOY, seed 0: RuntimeError: broken" in err
    assert "1 seed" in out
    record = json.loads((tmp_path / "results/nested/TOY/molecules/seed-0.json").read_text())
    assert record["status"] == "failed"


def test_a_recipe_stopped_by_the_user(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(*args: Any, **others: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train_model", train)
    code, _, err = igsd("evaluate", "--recipe", "molecules", toy, *FAST, *SETTINGS)
    assert (code, "same command continues" in err) == (130, True)
    assert not Path("runs").exists()
