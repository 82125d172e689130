from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from igsd.errors import StorageError
from igsd.files.locks import Lock, owned, working_folder

HOLD = """
import sys
from pathlib import Path
from igsd.files.locks import owned

with owned(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r"
    with owned(folder, tmp_path / "runs"):
        (folder / "x").write_text("x")
        rule = f"r is in use: process {os.getpid()} is writing there. Wait"
        with pytest.raises(StorageError, match=rule), owned(folder):
            pass
    assert [path.name for path in folder.iterdir()] == ["x"]
    (folder / "x").unlink()
    with owned(folder, tmp_path / "runs"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_owner_is_free(tmp_path: Path) -> None:
    command: Any = [sys.executable, "-c", HOLD, tmp_path / "r"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.read(5) == b"held\n"
        with pytest.raises(StorageError, match=f"process {process.pid} "), owned(tmp_path / "r"):
            pass
        process.kill()
    assert (tmp_path / "r" / ".lock").exists()
    with owned(tmp_path / "r"):
        pass
    assert not (tmp_path / "r").exists()


def test_a_folder_that_vanishes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The owner before removes its empty folder, perhaps just now.
    real, folder = FileLock.acquire, tmp_path / "r"

    def acquire(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        folder.rmdir()
        return real(*args, **kwargs)

    monkeypatch.setattr(FileLock, "acquire", acquire)
    lock = Lock(folder / ".lock")
    assert lock.acquire()
    lock.release()


def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def acquire(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(FileLock, "acquire", acquire)
    with pytest.raises(StorageError, match=r"Read-only file system\. Choose another folder"):
        Lock(tmp_path / "x").acquire()


WORK = """
import os, signal, sys
from pathlib import Path
from igsd.files.locks import working_folder

with working_folder(Path(sys.argv[1]), ".work-", ["a", "b"]) as folder:
    (folder / "a").write_text("a")
    print(folder.name, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_working_folders_of_killed_processes_are_removed(tmp_path: Path) -> None:
    other = tmp_path / ".work-12345678"
    other.mkdir()
    (other / "thesis.txt").write_text("precious")
    command = [sys.executable, "-c", WORK, str(tmp_path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        with working_folder(tmp_path, ".work-", ["a", "b"]) as own:
            assert (tmp_path / name / "a").exists()  # its owner is alive
        assert not own.exists()
        process.communicate("")
    assert (tmp_path / name / "a").exists()
    with working_folder(tmp_path, ".work-", ["a", "b"]) as own:
        (own / "b").write_text("b")
        assert not (tmp_path / name).exists()
    assert list(tmp_path.iterdir()) == [other]
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    def write() -> None:
        with working_folder(tmp_path, ".work-", ["a"]) as folder:
            (folder / "a").write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match=r"Cannot write .*\.work-.*: No space .* disk is full"):
        write()
    assert not any(tmp_path.iterdir())
