from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from igsd.errors import StorageError
from igsd.files.columns import SUFFIXES, Columns, read_vectors, write_columns, write_vectors

COLUMNS: Columns = {"graph": [0, 1], "class": ["a,b", "c"], "p": [1 / 3, 1.0], "given": [None, "c"]}


def test_quotes_stand_only_where_they_are_needed(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.csv", COLUMNS)
    expected = 'graph,class,p,given\n0,"a,b",0.333333333,\n1,c,1,c\n'
    assert (tmp_path / "p.csv").read_text() == expected


def test_parquet(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.parquet", COLUMNS)
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pydict() == COLUMNS


VECTORS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
COLUMNS_vector_file = ["igsd0", "igsd1", "igsd2"]


def pieces() -> Iterator[np.ndarray]:
    yield VECTORS[:4]
    yield VECTORS[4:]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("names", [None, ['a,"b', "ü", "", "d", "e", "f", "g"]])
def test_every_kind_gives_back_the_same_numbers(
    tmp_path: Path, suffix: str, names: list[str] | None
) -> None:
    path = tmp_path / f"v{suffix}"
    write_vectors(path, pieces(), VECTORS.shape, COLUMNS_vector_file, names)
    assert np.array_equal(read_vectors(path).astype(np.float32), VECTORS)


def test_npy_is_plain_numpy(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npy", pieces(), VECTORS.shape, COLUMNS_vector_file)
    loaded = np.load(tmp_path / "v.npy", allow_pickle=False)
    assert loaded.dtype == np.float32
    assert np.array_equal(loaded, VECTORS)


def test_columns_of_tables(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.csv", pieces(), VECTORS.shape, COLUMNS_vector_file, list("abcdefg"))
    lines = (tmp_path / "v.csv").read_text().splitlines()
    assert lines[0] == "graph,name,igsd0,igsd1,igsd2"
    assert lines[7].startswith("6,g,")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lines_of_the_table_that_graphs_came_from(tmp_path: Path, suffix: str) -> None:
    path, lines = tmp_path / f"v{suffix}", np.array([2, 3, 5, 8, 9, 10, 12])
    write_vectors(path, pieces(), VECTORS.shape, COLUMNS_vector_file, list("abcdefg"), lines)
    assert np.array_equal(read_vectors(path).astype(np.float32), VECTORS)
    if suffix == ".csv":
        assert path.read_text().splitlines()[0] == "graph,line,name,igsd0,igsd1,igsd2"
        assert path.read_text().splitlines()[3].startswith("2,5,c,")
    elif suffix == ".parquet":
        assert pyarrow.parquet.read_table(path)["line"].to_pylist() == lines.tolist()


def test_rows_go_by_the_column_graph(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("graph,x\n1,10\n0,20\n")
    assert read_vectors(tmp_path / "v.csv").tolist() == [[20], [10]]
    (tmp_path / "v.csv").write_text("graph,x\n1,10\n1,20\n")
    with pytest.raises(StorageError, match="number its 2 rows"):
        read_vectors(tmp_path / "v.csv")


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    def broken() -> Iterator[np.ndarray]:
        yield VECTORS[:4]
        raise RuntimeError

    for suffix in SUFFIXES:
        path = tmp_path / f"v{suffix}"
        path.write_bytes(b"old")
        with pytest.raises(RuntimeError):
            write_vectors(path, broken(), VECTORS.shape, COLUMNS_vector_file)
        assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == len(SUFFIXES)


def test_another_suffix(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"\.npy, \.csv, \.parquet"):
        write_vectors(tmp_path / "v.txt", pieces(), VECTORS.shape, COLUMNS_vector_file)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["v.npy", "v.csv", "v.parquet"])
@pytest.mark.parametrize("content", [b"", b"\x00\x01nonsense", b"text\nmore"])
def test_files_that_hold_no_embeddings(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StorageError):
        read_vectors(tmp_path / name)
    with pytest.raises(StorageError, match="no file"):
        read_vectors(tmp_path / f"missing-{name}")


def test_a_single_number_is_no_table(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.arange(3.0))
    with pytest.raises(StorageError, match=r"shape \(3,\)"):
        read_vectors(tmp_path / "v.npy")
