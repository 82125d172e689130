from __future__ import annotations

from pathlib import Path

import pytest
import torch

from igsd.errors import StorageError
from igsd.model_file import VERSION, read_model, write_model
from igsd.storage import write_arrays


def test_comes_back_bit_for_bit(tmp_path: Path) -> None:
    tensors = {
        "weight": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).T,
        "count": torch.tensor(7),
        "empty": torch.zeros(0, 2),
    }
    write_model(tmp_path / "m", tensors, {"estimator": "X", "numbers": [1, 2.5, None]})
    found, header = read_model(tmp_path / "m")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[k], v) and found[k].dtype == v.dtype for k, v in tensors.items())
    assert header["numbers"] == [1, 2.5, None]
    assert header["version"] == VERSION


def test_loaded_weights_can_be_trained_on(tmp_path: Path) -> None:
    write_model(tmp_path / "m", {"w": torch.zeros(2)}, {})
    found, _ = read_model(tmp_path / "m")
    found["w"] += 1  # a memory-mapped, read-only array would fail here
    assert read_model(tmp_path / "m")[0]["w"].tolist() == [0.0, 0.0]


def test_another_kind_of_file_is_named(tmp_path: Path) -> None:
    write_arrays(tmp_path / "g", {}, {"kind": "graph set"})
    with pytest.raises(StorageError, match="holds a graph set, but a model was expected"):
        read_model(tmp_path / "g")


def test_another_version_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "m", {}, {"kind": "model", "version": VERSION + 1})
    with pytest.raises(StorageError, match=f"format {VERSION + 1}.*reads format {VERSION}"):
        read_model(tmp_path / "m")
