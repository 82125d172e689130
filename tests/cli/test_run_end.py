from __future__ import annotations

from pathlib import Path

import pytest

from igsd.cli.run_end import RunEnd
from igsd.config import Config
from igsd.errors import StorageError, TrainingError
from igsd.experiments.run_folder import RunFolder


def begun(path: Path, *, is_new: bool = True, checkpoint: bool = False) -> RunEnd:
    folder = RunFolder(path / "runs" / "r")
    folder.create({}, Config())
    if checkpoint:
        (folder / "checkpoint.safetensors").touch()
    return RunEnd(folder, "igsd train X --resume", is_new, str(path / "runs"))


def test_a_stop_says_how_to_go_on(tmp_path: Path) -> None:
    end = begun(tmp_path)
    with pytest.raises(KeyboardInterrupt, match="To go on: igsd train X"), end.while_training():
        raise KeyboardInterrupt
    assert end.folder.state == "unfinished"


@pytest.mark.parametrize("phase", ["while_training", "while_writing"])
def test_what_has_no_checkpoint_is_removed_if_it_is_new(tmp_path: Path, phase: str) -> None:
    end = begun(tmp_path)
    with pytest.raises(StorageError, match=r"full\.$"), getattr(end, phase)():
        raise StorageError("The disk is full.")
    assert not (tmp_path / "runs").exists()
    old = begun(tmp_path, is_new=False)
    with pytest.raises(StorageError, match=r"full\.$"), getattr(old, phase)():
        raise StorageError("The disk is full.")
    assert old.folder.state == "unfinished"


def test_a_checkpoint_is_kept(tmp_path: Path) -> None:
    end = begun(tmp_path, checkpoint=True)
    with pytest.raises(TrainingError, match=r"^No\.$"), end.while_training():
        raise TrainingError("No.")
    with pytest.raises(StorageError, match=r"kept. To go on: igsd train X"), end.while_writing():
        raise StorageError("The disk is full.")
    assert end.folder.state == "unfinished"
