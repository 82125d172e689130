from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
import zlib
from pathlib import Path
from typing import Any

import joblib
import networkx as nx
import numpy as np
import pytest
import torch

from igsd.errors import StorageError
from igsd.pickles import refuse_pickle

OBJECTS: dict[str, Any] = {
    "list": [1, 2, 3],
    "long list": list(range(5000)),
    "dict": {"a": 1},
    "tuple": (1, 2),
    "text": "abc",
    "number": 3,
    "none": None,
    "array": np.arange(10.0),
    "graphs": [nx.path_graph(3) for _ in range(200)],
    "range": range(3),
}


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("key", OBJECTS)
def test_pickle_of_every_protocol_is_refused(tmp_path: Path, protocol: int, key: str) -> None:
    path = tmp_path / "model.igsd"
    path.write_bytes(pickle.dumps(OBJECTS[key], protocol))
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress, bz2.compress, lzma.compress])
def test_compressed_pickle_is_refused(tmp_path: Path, compress: Any) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(compress(pickle.dumps(OBJECTS["graphs"])))
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


@pytest.mark.parametrize("level", [0, 3, ("gzip", 3), ("bz2", 3), ("xz", 3)])
def test_joblib_is_refused(tmp_path: Path, level: Any) -> None:
    path = tmp_path / "model.bin"
    joblib.dump({"weights": np.arange(100.0)}, path, compress=level)
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


@pytest.mark.parametrize("new", [True, False])
def test_torch_save_is_refused(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "model.safetensors"
    torch.save({"a": torch.zeros(3)}, path, _use_new_zipfile_serialization=new)
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


def test_numpy_object_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.npy"
    np.save(path, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    with pytest.raises(StorageError, match="is a pickle"):
        refuse_pickle(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1, 2\n2, 1\n",
        b"smiles,label\nCCO,1\nCC(C)O,0\n",
        b"canonical_smiles,label\nCCO,1\n",
        b"CCO\nc1ccccc1.[Na+]\n" * 500,
        b"name\nIbuprofen\n",
        b"N.\tname\n",
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


@pytest.mark.filterwarnings("error")
def test_chance_bytes_do_not_warn(tmp_path: Path) -> None:
    path = tmp_path / "model.igsd"
    path.write_bytes(b"S'\\q'\n(")  # begins like a text of protocol 0 with an unknown escape
    refuse_pickle(path)
