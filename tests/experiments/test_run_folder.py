from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import StorageError, TrainingError
from igsd.estimators import IGSD
from igsd.experiments.run_folder import RunFolder, SeedFolders, latest_run_folder, new_run_folder
from igsd.experiments.trained import Trained, train_model
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from igsd.settings.text import read_settings
from tests.small_graphs import TINY, make_graphs


def test_states(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    assert folder.state == "absent"
    folder.path.mkdir()
    assert folder.state == "empty"
    folder.create({}, Config())
    assert folder.state == "unfinished"
    folder.finish({"seed": 0})
    assert folder.state == "finished"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    assert RunFolder(tmp_path / "other").state == "foreign"
    assert RunFolder(tmp_path / "other" / "thesis.tex").state == "foreign"


def test_places_where_no_run_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("afile").touch()
    for place in ("afile/x", "afile/x/y"):
        with pytest.raises(
            StorageError, match=f"run folder {place} cannot be created: afile is not a f"
        ):
            RunFolder(place).check()
    with pytest.raises(StorageError, match="afile exists and is not a run folder"):
        RunFolder("afile").check()
    Path("gone").symlink_to("nowhere")
    with pytest.raises(StorageError, match="run folder gone/x cannot be created"):
        RunFolder("gone/x").check()
    with pytest.raises(StorageError, match="afile/MUTAG-paper-1 cannot be created: afile"):
        new_run_folder("afile", "MUTAG", "paper")
    RunFolder("new/run").check()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["afile", "gone"]


def test_what_a_finished_run_holds(tmp_path: Path, graphs: GraphSet) -> None:
    config = Config().updated(TINY)
    model = IGSD.from_config(config).fit(graphs)
    folder = RunFolder(tmp_path / "run")
    folder.create({}, config)
    (folder / "checkpoint.safetensors").write_bytes(b"x")
    (folder / ".checkpoint.safetensors.k3j2").write_bytes(b"killed while writing")
    folder.write_model(model, model.transform(graphs))
    folder.finish({"seed": 0})
    names = {"config.toml", "embeddings.npy", "history.csv", "metrics.json", "model.safetensors"}
    assert {path.name for path in folder.path.iterdir()} == names
    assert Config().updated(read_settings(folder / "config.toml")) == config
    stored = np.load(folder / "embeddings.npy", allow_pickle=False)
    assert np.array_equal(stored, IGSD.load(folder / "model.safetensors").transform(graphs))
    lines = (folder / "history.csv").read_text().splitlines()
    assert lines[0].startswith("epoch,")
    assert len(lines) == 1 + config.epochs


def test_clear_takes_nothing_that_is_not_ours(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create({}, Config())
    RunFolder(folder / "seed-1").create({}, Config())
    (folder / "seed-2").mkdir()
    (folder / "seed-2" / "mine").write_text("x")
    (folder / "notes.txt").write_text("x")
    folder.clear()
    assert sorted(path.name for path in folder.path.iterdir()) == ["notes.txt", "seed-2"]
    folder.clear()
    assert (folder / "notes.txt").exists()


def test_a_run_is_replaced_only_by_force(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create({}, Config())
    with pytest.raises(StorageError, match=r"already holds a run \(unfinished\). The way out"):
        folder.claim(force=False, way_out="The way out.")
    folder.claim(force=True, way_out="")
    assert folder.state == "empty"


def test_another_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StorageError, match="not a run folder"):
        RunFolder(tmp_path).check()
    assert (tmp_path / "thesis.tex").exists()


def test_new_folders_have_the_first_free_number(tmp_path: Path) -> None:
    first = new_run_folder(tmp_path / "runs", "MU TAG", "social")
    second = new_run_folder(tmp_path / "runs", "MU TAG", "social")
    assert [first.path.name, second.path.name] == ["MU_TAG-social-1", "MU_TAG-social-2"]
    assert latest_run_folder(tmp_path / "runs", "MU TAG", "social") is None
    for folder in (first, second):
        folder.create({}, Config())
    (tmp_path / "runs" / "MU_TAG-social-x").mkdir()
    latest = latest_run_folder(tmp_path / "runs", "MU TAG", "social")
    assert latest is not None
    assert latest.path == second.path


def test_what_is_not_worth_keeping_goes_away(tmp_path: Path) -> None:
    runs = str(tmp_path / "runs")
    for fill in (False, True):
        folder = new_run_folder(runs, "a", "b")
        with folder.owned(runs):
            if fill:
                folder.create({}, Config())
            folder.clear()
        assert list(tmp_path.iterdir()) == []
    first, second = (new_run_folder(runs, "a", "b") for _ in range(2))
    (second / "thesis.tex").write_text("x")
    for folder in (second, first):
        with folder.owned(runs):
            folder.discard()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["a-b-2"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="Cannot create the run folder"):
        RunFolder(tmp_path / "file" / "run").create({}, Config())
    with pytest.raises(StorageError, match="a-b-1 cannot be created"):
        new_run_folder(tmp_path / "file", "a", "b")


def begun(path: Path, *, checkpoint: bool = False) -> RunFolder:
    folder = RunFolder(path / "runs" / "r")
    folder.create({}, Config())
    if checkpoint:
        (folder / "checkpoint.safetensors").touch()
    return folder


def train(folder: RunFolder, error: BaseException, *, is_new: bool = True) -> None:
    parent = str(folder.path.parent)
    with folder.owned(parent), folder.training("igsd train X --resume", is_new=is_new):
        raise error


def test_a_stop_says_how_to_go_on(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    with pytest.raises(KeyboardInterrupt, match="To continue: igsd train X"):
        train(folder, KeyboardInterrupt())
    assert folder.state == "unfinished"


def test_what_has_no_checkpoint_is_removed_if_it_is_new(tmp_path: Path) -> None:
    full = StorageError("The disk is full.")
    with pytest.raises(StorageError, match=r"full\.$"):
        train(begun(tmp_path), full)
    assert not (tmp_path / "runs").exists()
    for foreign in (ValueError("from a user's encoder"), SystemExit(3)):
        with pytest.raises(type(foreign)):
            train(begun(tmp_path), foreign)
        assert not (tmp_path / "runs").exists()
    old = begun(tmp_path)
    with pytest.raises(StorageError, match=r"full\.$"):
        train(old, full, is_new=False)
    assert old.state == "unfinished"


def test_a_checkpoint_is_kept(tmp_path: Path) -> None:
    folder = begun(tmp_path, checkpoint=True)
    with pytest.raises(TrainingError, match=r"^No\.$"):
        train(folder, TrainingError("No."))
    with pytest.raises(StorageError, match=r"kept. To continue: igsd train X"):
        train(folder, StorageError("The disk is full."))
    assert folder.state == "unfinished"


GRAPHS = make_graphs(8, classes=True, name="toy")
UNTRAINED = Config(**(TINY | {"epochs": 0}))


def seed_folders(folder: RunFolder) -> SeedFolders:
    def write(folder: RunFolder, trained: Trained) -> None:
        folder.write_model(trained.model, trained.vectors)

    return SeedFolders(folder, {"recipe": "molecules"}, UNTRAINED, write)


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = seed_folders(new_run_folder("runs", "toy", "molecules"))
    for seed in (0, 1):
        folders(train_model(GRAPHS, UNTRAINED.updated({"seed": seed})))
    folders.finish({"rows": []})
    top = tmp_path / "runs" / "toy-molecules-1"
    for folder, seed in ((top, 0), (top / "seed-1", 1)):
        assert (folder / "model.safetensors").exists()
        metrics = json.loads((folder / "metrics.json").read_text())
        assert (metrics["seed"], metrics["status"]) == (seed, "finished")


def test_a_full_disk_at_the_first_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder, trained = new_run_folder("runs", "toy", "molecules"), train_model(GRAPHS, UNTRAINED)
    with folder.owned("runs"):
        folders = seed_folders(folder)
        fill_the_disk(monkeypatch, 2000)
        with pytest.raises(StorageError, match="disk is full"):
            folders(trained)
        folders.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_at_the_second_model_keeps_the_first(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folders = seed_folders(RunFolder(tmp_path / "r"))
    folders(train_model(GRAPHS, UNTRAINED))
    trained = train_model(GRAPHS, UNTRAINED.updated({"seed": 1}))
    fill_the_disk(monkeypatch, 2000)
    with pytest.raises(StorageError, match="disk is full"):
        folders(trained)
    folders.discard()
    assert (tmp_path / "r" / "model.safetensors").exists()
    assert not (tmp_path / "r" / "seed-1").exists()
    assert "not finished" in capsys.readouterr().err


def test_a_full_disk_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill_the_disk(monkeypatch, 0)
    folder = new_run_folder("runs", "toy", "molecules")
    with pytest.raises(StorageError, match="disk is full"), folder.owned("runs"):
        seed_folders(folder)
    assert list(tmp_path.iterdir()) == []


def test_data_written_after_a_run(tmp_path: Path) -> None:
    """A finished run was called so, whatever its table held by then."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.json").write_text("{}")
    (tmp_path / "t.csv").write_text("")
    os.utime(tmp_path / "run" / "metrics.json", (9.0, 9.0))
    folder = RunFolder(tmp_path / "run")
    assert folder.older_than(str(tmp_path / "t.csv"))
    assert not folder.older_than(str(tmp_path))
    assert not folder.older_than("MUTAG")
    (tmp_path / "nets").mkdir()
    for name in ("a.edgelist", "b.edgelist", "notes.log"):
        (tmp_path / "nets" / name).write_text("0 1\n")
        os.utime(tmp_path / "nets" / name, (8.0, 8.0))
        assert folder.older_than(str(tmp_path / "nets")) is None
    (tmp_path / "nets" / "notes.log").touch()  # is not read
    assert folder.older_than(str(tmp_path / "nets")) is None
    (tmp_path / "nets" / "b.edgelist").touch()
    assert folder.older_than(str(tmp_path / "nets")) == tmp_path / "nets" / "b.edgelist"
