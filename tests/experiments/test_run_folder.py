from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.config import Config
from igsd.errors import StorageError
from igsd.estimators import IGSD
from igsd.experiments.run_folder import (
    RunFolder,
    check_place,
    claim,
    discard,
    latest_run_folder,
    new_run_folder,
)
from igsd.graphs.graphset import GraphSet
from igsd.settings_text import read_settings
from tests.small_graphs import TINY


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
        with pytest.raises(StorageError, match=f"run folder {place} cannot be made: afile is no f"):
            check_place(place)
    with pytest.raises(StorageError, match="afile exists and is not a run folder"):
        check_place("afile")
    Path("gone").symlink_to("nowhere")
    with pytest.raises(StorageError, match="run folder gone/x cannot be made"):
        check_place("gone/x")
    with pytest.raises(StorageError, match="run folder afile/MUTAG-paper-1 cannot be made: afile"):
        new_run_folder("afile", "MUTAG", "paper")
    check_place("new/run")
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
        claim(folder, force=False, way_out="The way out.")
    claim(folder, force=True, way_out="")
    assert folder.state == "empty"


def test_another_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StorageError, match="not a run folder"):
        claim(RunFolder(tmp_path), force=True, way_out="")
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
    for fill in (False, True):
        folder = new_run_folder(tmp_path / "runs", "a", "b")
        if fill:
            folder.create({}, Config())
        discard(folder, tmp_path / "runs")
        assert list(tmp_path.iterdir()) == []
    first, second = (new_run_folder(tmp_path / "runs", "a", "b") for _ in range(2))
    (second / "thesis.tex").write_text("x")
    discard(second, tmp_path / "runs")
    discard(first, tmp_path / "runs")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["a-b-2"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="Cannot make the run folder"):
        RunFolder(tmp_path / "file" / "run").create({}, Config())
    with pytest.raises(StorageError, match="a-b-1 cannot be made"):
        new_run_folder(tmp_path / "file", "a", "b")
