from __future__ import annotations

import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from igsd.errors import StorageError
from igsd.files.atomic import (
    atomic_file,
    check_writable,
    known_suffix,
    write_json,
    write_text,
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "thing"
    path.write_text("old")
    return path


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "message"), [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "quota")]
)
def test_full_disk_keeps_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch, step: str, code: int, message: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    before = saved.read_bytes()
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StorageError, match=message):
        write_text(saved, "new")
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def _write_half_and_raise(path: Path, error: BaseException) -> None:
    with atomic_file(path) as file:
        file.write(b"half")
        raise error


def test_full_disk_while_writing(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(StorageError, match="disk is full"):
        _write_half_and_raise(saved, OSError(errno.ENOSPC, "No space left on device"))
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_interrupted_write_leaves_nothing(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        _write_half_and_raise(saved, KeyboardInterrupt())
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_target_that_is_a_folder_or_below_a_file(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is a folder"):
        write_text(tmp_path, "x")
    for path in (saved / "below", saved / "far" / "below"):
        for write in (check_writable, lambda path: write_text(path, "x")):
            with pytest.raises(StorageError, match="thing is a file"):
                write(path)


@pytest.mark.parametrize("name", ["x" * 300, "ä" * 150, "a\0b"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    for write in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(StorageError, match="at most 240 bytes, none of them zero"):
            write(tmp_path / name)


def test_a_path_below_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_text("~/own/thing", "x")
    assert (tmp_path / "own" / "thing").read_text() == "x"


def test_a_check_before_the_work_leaves_nothing(saved: Path, tmp_path: Path) -> None:
    before = saved.read_bytes()
    for path in (saved, tmp_path / "new", tmp_path / "deep" / "deeper" / "new"):
        check_writable(path)
    assert [path.name for path in tmp_path.iterdir()] == ["thing"]
    assert saved.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StorageError, match="may not write there"):
            write_text(tmp_path / "x", "x")
    finally:
        tmp_path.chmod(0o755)


def test_unwritable_by_error_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with pytest.raises(StorageError, match="may not write there"):
        write_text(tmp_path / "x", "x")
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    with pytest.raises(StorageError, match="may not write there"):
        check_writable(tmp_path / "x")


def test_text_and_json(tmp_path: Path) -> None:
    write_json(tmp_path / "deep" / "x.json", {"é": 1})
    assert json.loads((tmp_path / "deep" / "x.json").read_text()) == {"é": 1}
    assert (tmp_path / "deep" / "x.json").stat().st_mode & 0o400


def test_links_are_followed_and_devices_left_alone(tmp_path: Path) -> None:
    # Once a rename put a regular file in the place of a device or of a link.
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="not an ordinary file"):
        write_text(pipe, "new")
    assert pipe.is_fifo()


def test_the_suffix_says_how_a_file_is_written() -> None:
    assert known_suffix("a/B.CSV", (".csv", ".parquet"), "predictions") == ".csv"
    with pytest.raises(StorageError, match=r"'x\.txt'.*for predictions. Use one of \.csv, \.par"):
        known_suffix("x.txt", (".csv", ".parquet"), "predictions")
