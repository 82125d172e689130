from __future__ import annotations

import errno
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save_file

from igsd import storage
from igsd.errors import StorageError

ARRAYS = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.array([0.5, np.nan])}
HEADER = {"kind": "thing", "version": 1, "text": "é"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "thing"
    storage.write_arrays(path, ARRAYS, HEADER)
    return path


def test_round_trip(saved: Path) -> None:
    arrays, header = storage.read_arrays(saved, "thing")
    assert header == HEADER
    assert isinstance(arrays["a"], np.memmap)
    for key, value in ARRAYS.items():
        np.testing.assert_array_equal(arrays[key], value)
        assert arrays[key].dtype == value.dtype


def test_file_is_plain_safetensors(saved: Path) -> None:
    np.testing.assert_array_equal(load_file(saved)["a"], ARRAYS["a"])


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    array=hnp.arrays(
        st.sampled_from([np.bool_, np.uint8, np.int16, np.int64, np.float16, np.float64]),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    ),
    padding=st.text(max_size=700),
)
def test_any_array_and_any_header_length(tmp_path: Path, array: np.ndarray, padding: str) -> None:
    path = tmp_path / "any"
    storage.write_arrays(path, {"x": array}, {"kind": "thing", "padding": padding})
    arrays, header = storage.read_arrays(path, "thing")
    np.testing.assert_array_equal(arrays["x"], array)
    assert header["padding"] == padding


@pytest.mark.parametrize("length", [640, 896, 1152, 1408])
def test_header_whose_length_looks_like_a_pickle(tmp_path: Path, length: int) -> None:
    """The length 0x0280 is written as the bytes 80 02, which also begin a pickle."""
    path = tmp_path / "odd"
    storage.write_arrays(path, {}, {"kind": "thing", "padding": ""})
    padding = "x" * (length - int.from_bytes(path.read_bytes()[:8], "little"))
    storage.write_arrays(path, {}, {"kind": "thing", "padding": padding})
    assert path.read_bytes()[:8] == length.to_bytes(8, "little")
    assert storage.read_arrays(path, "thing")[1]["padding"] == padding


def test_every_truncation_is_an_error(saved: Path) -> None:
    whole = saved.read_bytes()
    for size in range(0, len(whole), 7):
        saved.write_bytes(whole[:size])
        with pytest.raises(StorageError, match=r"not a thing|damaged"):
            storage.read_arrays(saved, "thing")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a thing written by igsd"),
        (b"hello, this is some text file", "not a thing written by igsd"),
        ((2).to_bytes(8, "little") + b"[]", "not a thing written by igsd"),
        (pickle.dumps({"a": 1}), "is a pickle"),
    ],
)
def test_foreign_bytes(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=message):
        storage.read_arrays(path, "thing")
    assert storage.read_header(path) is None


def test_foreign_safetensors(tmp_path: Path) -> None:
    save_file({"a": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(StorageError, match="not a thing written by igsd"):
        storage.read_arrays(tmp_path / "other.safetensors", "thing")


@pytest.mark.parametrize(
    "entry", [{}, 3, {"dtype": "X", "shape": [1], "data_offsets": [0, 1]}, {"dtype": "U8"}]
)
def test_array_that_is_not_described(tmp_path: Path, entry: Any) -> None:
    table = {"__metadata__": {"igsd": json.dumps({"kind": "thing"})}, "a": entry}
    head = json.dumps(table).encode()
    (tmp_path / "odd").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(StorageError, match="array 'a' is not described"):
        storage.read_arrays(tmp_path / "odd", "thing")


def test_another_kind_missing_file_and_folder(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="holds a thing, but a model was expected"):
        storage.read_arrays(saved, "model")
    with pytest.raises(StorageError, match="There is no model at"):
        storage.read_arrays(tmp_path / "absent", "model")
    with pytest.raises(StorageError, match="is a folder"):
        storage.read_arrays(tmp_path, "model")


def test_dtype_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="'x' has dtype complex128"):
        storage.write_arrays(tmp_path / "x", {"x": np.zeros(2, complex)}, HEADER)
    assert list(tmp_path.iterdir()) == []


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
    monkeypatch.setattr(storage.os, step, fail)
    with pytest.raises(StorageError, match=message):
        storage.write_arrays(saved, {"a": np.zeros(9)}, HEADER)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def _write_half_and_raise(path: Path, error: BaseException) -> None:
    with storage.atomic_file(path) as file:
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
        storage.write_text(tmp_path, "x")
    for path in (saved / "below", saved / "far" / "below"):
        for write in (storage.check_writable, lambda path: storage.write_text(path, "x")):
            with pytest.raises(StorageError, match="thing is a file, no folder"):
                write(path)


def test_a_check_before_the_work_leaves_nothing(saved: Path, tmp_path: Path) -> None:
    before = saved.read_bytes()
    for path in (saved, tmp_path / "new", tmp_path / "deep" / "deeper" / "new"):
        storage.check_writable(path)
    assert [path.name for path in tmp_path.iterdir()] == ["thing"]
    assert saved.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StorageError, match="may not write there"):
            storage.write_text(tmp_path / "x", "x")
    finally:
        tmp_path.chmod(0o755)


def test_unwritable_by_error_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(storage.tempfile, "mkstemp", fail)
    with pytest.raises(StorageError, match="may not write there"):
        storage.write_text(tmp_path / "x", "x")
    monkeypatch.setattr(storage.tempfile, "TemporaryFile", fail)
    with pytest.raises(StorageError, match="may not write there"):
        storage.check_writable(tmp_path / "x")


def test_text_and_json(tmp_path: Path) -> None:
    storage.write_json(tmp_path / "deep" / "x.json", {"é": 1})
    assert json.loads((tmp_path / "deep" / "x.json").read_text()) == {"é": 1}
    assert (tmp_path / "deep" / "x.json").stat().st_mode & 0o400


def test_links_are_followed_and_devices_left_alone(tmp_path: Path) -> None:
    # Once a rename put a regular file in the place of a device or of a link.
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    storage.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="no ordinary file"):
        storage.write_text(pipe, "new")
    assert pipe.is_fifo()
