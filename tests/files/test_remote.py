from __future__ import annotations

import doctest
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd import load_model, open_data
from igsd.errors import ConfigError, DataError, IGSDError, StorageError
from igsd.files import remote
from igsd.files.atomic import output_file
from igsd.files.columns import write_vectors
from igsd.files.remote import check_remote, local_path

fsspec = pytest.importorskip("fsspec", reason="the extra cluster is not installed")


@pytest.fixture
def memory() -> Iterator[Any]:
    """Return a file system in memory, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    remote._copied.cache_clear()
    yield system
    system.store.clear()


def test_doctests() -> None:
    assert doctest.testmod(remote).failed == 0


def test_paths_of_this_machine_stay(tmp_path: Path) -> None:
    for path in ("runs/first", tmp_path, "-", r"C:\data", None, 3):
        assert local_path(path) is path


def test_a_file_is_copied_once_and_keeps_its_name(memory: Any) -> None:
    memory.pipe("/bucket/some.csv", b"smiles\nCCO\n")
    path = local_path("memory://bucket/some.csv")
    assert Path(path).name == "some.csv"
    assert Path(path).read_bytes() == b"smiles\nCCO\n"
    assert local_path("memory://bucket/some.csv") == path
    memory.pipe("/bucket/some.csv", b"smiles\nCCC\n")  # the copy of before was returned
    assert Path(local_path("memory://bucket/some.csv")).read_bytes() == b"smiles\nCCC\n"


def test_a_file_of_this_machine_is_not_copied(tmp_path: Path) -> None:
    assert local_path(f"file://{tmp_path}/some.csv") == f"{tmp_path}/some.csv"


def test_what_is_not_there(memory: Any) -> None:
    with pytest.raises(StorageError, match="There is no file at memory://bucket/none"):
        local_path("memory://bucket/none")
    with pytest.raises(ConfigError, match="URLs of the kind nonsense:// cannot be opened here"):
        check_remote("nonsense://bucket/name")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_file_is_written_whole_or_not_at_all(memory: Any, tmp_path: Path, kind: str) -> None:
    url = "memory://out/v.npy" if kind == "memory" else f"file://{tmp_path}/new/v.npy"
    system = fsspec.filesystem(kind)
    chunks = [np.ones((2, 3), np.float32), np.zeros((1, 3), np.float32)]

    def failing() -> Iterator[np.ndarray]:
        yield chunks[0]
        raise DataError("Graph 2 is empty.")

    with pytest.raises(DataError, match="Graph 2 is empty"):
        write_vectors(url, failing(), (3, 3), ["a", "b", "c"])
    assert not system.exists(url)
    assert not list(tmp_path.glob("new/*"))
    write_vectors(url, iter(chunks), (3, 3), ["a", "b", "c"])
    assert np.array_equal(np.load(local_path(url), allow_pickle=False), np.concatenate(chunks))


def test_a_store_that_cannot_be_written(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(type(memory), "_open", refuse)
    with (
        pytest.raises(
            StorageError, match=r"Cannot write memory://a/b: Access Denied\. Nothing was"
        ),
        output_file("memory://a/b"),
    ):
        pass


@pytest.mark.parametrize(("name", "content"), [("model", b"{}"), ("data.csv", b"smiles\n")])
def test_an_error_names_the_url_and_not_its_copy(memory: Any, name: str, content: bytes) -> None:
    url = f"memory://bucket/{name}"
    memory.pipe(f"/bucket/{name}", content)
    open_it = load_model if name == "model" else open_data
    with pytest.raises(IGSDError, match=url) as caught:
        open_it(url)
    assert tempfile.gettempdir() not in str(caught.value)
