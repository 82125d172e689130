from __future__ import annotations

import os
from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.files.shapes import MAX_MIB, read_json
from igsd.limits import MIB


def test_files_without_an_end_are_not_opened(tmp_path: Path) -> None:
    """A record that was a link to /dev/zero took all memory, and a pipe was waited for."""
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    for name in ("zero", "pipe", "."):
        with pytest.raises(StorageError, match=r"is not a record: it is not a regular file.* Move"):
            read_json(tmp_path / name, "a record", "Move it.")
    with pytest.raises(StorageError, match=r"Cannot read .*: No such file"):
        read_json(tmp_path / "nothing", "a record")


def test_only_so_much_is_read(tmp_path: Path) -> None:
    """A sparse file of 3 GB took 4 GB of memory before it was found not to be JSON."""
    path = tmp_path / "large"
    path.write_text("{}")
    os.truncate(path, 3 * 1024 * MIB)
    with pytest.raises(StorageError, match=rf"not a record: it has more than {MAX_MIB} MiB"):
        read_json(path, "a record")
    path.write_bytes(b"[1]".rjust(MAX_MIB * MIB))
    assert read_json(path, "a record") == [1]
