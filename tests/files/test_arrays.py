from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save_file

from igsd.errors import IGSDError, StorageError
from igsd.files import arrays as storage
from igsd.files.arrays import refuse_pickle
from igsd.files.columns import read_vectors
from igsd.files.models import read_model
from igsd.graphs.open import open_data

ran: list[str] = []


class Payload:
    """Notes that it was executed when it is unpickled."""

    def __reduce__(self) -> Any:
        return ran.append, ("executed",)


def _write_torch(path: Path, new: bool) -> None:
    torch.save({"a": Payload()}, path, _use_new_zipfile_serialization=new)


def _write_objects(path: Path) -> None:
    with open(path, "wb") as file:
        np.save(file, np.array([Payload()], dtype=object), allow_pickle=True)


def _write_npz(path: Path) -> None:
    with open(path, "wb") as file:
        np.savez(file, a=np.array([Payload()], dtype=object))


WRITERS: dict[str, Callable[[Path], Any]] = {
    **{
        f"protocol {p}": partial(lambda path, p: path.write_bytes(pickle.dumps(Payload(), p)), p=p)
        for p in range(6)
    },
    **{
        compress.__module__: partial(
            lambda path, pack: path.write_bytes(pack(pickle.dumps(Payload()))), pack=compress
        )
        for compress in (gzip.compress, bz2.compress, lzma.compress)
    },
    "joblib": lambda path: joblib.dump({"weights": Payload()}, path),
    "torch": partial(_write_torch, new=True),
    "old torch": partial(_write_torch, new=False),
    "objects": _write_objects,
    "npz of objects": _write_npz,
}
READERS: dict[str, Callable[[Path], Any]] = {
    "model.safetensors": read_model,
    "data.graphs": open_data,
    "data.csv": open_data,
    "data.csv.gz": open_data,
    "data.zip": open_data,
    "vectors.npy": read_vectors,
    "vectors.csv": read_vectors,
    "vectors.parquet": read_vectors,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_pickles_are_refused_and_never_executed(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    WRITERS[kind](path)
    ran.clear()
    with pytest.raises(IGSDError):
        READERS[name](path)
    assert ran == []


@pytest.mark.parametrize("kind", ["protocol 2", "protocol 5", "torch", "old torch", "objects"])
def test_a_pickle_is_called_one(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "model.safetensors"
    WRITERS[kind](path)
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 a zip of something else",
        b"I am text.\n",
        # The length of a safetensors header may look like the mark of protocol 2 to 5.
        (640).to_bytes(8, "little") + b"{" + b" " * 639,
        (1408).to_bytes(8, "little") + b"{" + b" " * 1407,
    ],
)
def test_other_files_pass(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    refuse_pickle(path)


def test_numpy_numbers_and_missing_files_pass(tmp_path: Path) -> None:
    np.save(tmp_path / "numbers.npy", np.arange(4))
    refuse_pickle(tmp_path / "numbers.npy")
    refuse_pickle(tmp_path / "absent")
    refuse_pickle(tmp_path)


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


def test_no_flipped_bit_is_accepted(tmp_path: Path) -> None:
    """A damaged file used to be loaded with other numbers, in a third of all cases."""
    rng = np.random.default_rng(0)
    path, arrays = tmp_path / "thing", {"a": np.arange(12.0), "b": np.arange(5, dtype=np.int8)}
    storage.write_arrays(path, arrays, HEADER)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        storage._verified.clear()
        try:
            found, header = storage.read_arrays(path, "thing", 1)
        except StorageError:
            continue
        # Only the marks that say where the checksums are can change without being noticed.
        assert header == HEADER
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


def test_blocks_are_verified_whatever_their_size(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(storage, "_BLOCK", 16)
    for size in (0, 1, 15, 16, 17, 32, 100):
        path = tmp_path / str(size)
        storage.write_arrays(path, {"a": np.arange(size, dtype=np.uint8)}, HEADER)
        assert len(storage.read_arrays(path, "thing")[0]["a"]) == size
        if size:
            path.write_bytes(path.read_bytes()[:-1] + b"\xff")
            with pytest.raises(StorageError, match="another checksum"):
                storage.read_arrays(path, "thing")


LIES = {
    "infinite shape": {"shape": [float("inf")]},
    "negative shape": {"shape": [-6]},
    "huge shape": {"shape": [2**70]},
    "many dimensions": {"shape": [1] * 70},
    "fraction": {"data_offsets": [0, 48.0]},
    "true": {"data_offsets": [False, 48]},
    "gap": {"data_offsets": [8, 56]},
    "text": {"shape": "66"},
    "dtype": {"dtype": "F99"},
    "dtype of the same size": {"dtype": "I64"},
}


@pytest.mark.parametrize("name", LIES)
def test_lies_in_the_table_are_refused(tmp_path: Path, name: str) -> None:
    entry = {"dtype": "F64", "shape": [6], "data_offsets": [0, 48]} | LIES[name]
    table = {"__metadata__": {"igsd": json.dumps(HEADER)}, "a": entry}
    head = json.dumps(table).encode()
    path = tmp_path / "thing"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(48))
    with pytest.raises(StorageError, match="damaged"):
        storage.read_arrays(path, "thing", schema={"a": ("float64", 1)})


def test_deep_json_is_refused(tmp_path: Path) -> None:
    head = b"[" * 100_000
    (tmp_path / "thing").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(StorageError, match="not a thing"):
        storage.read_arrays(tmp_path / "thing", "thing")


def test_a_file_of_too_many_arrays_is_refused(tmp_path: Path) -> None:
    entry = b'{"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}'
    head = b"{" + b", ".join(b'"a%d": %s' % (i, entry) for i in range(60_001)) + b"}"
    path = tmp_path / "many.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(StorageError, match="more than 60000 arrays"):
        storage.read_arrays(path, "model")
