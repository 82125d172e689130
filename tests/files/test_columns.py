from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from igsd.errors import StorageError
from igsd.files import columns
from igsd.files.columns import SUFFIXES, Columns, read_vectors, write_columns, write_vectors

COLUMNS: Columns = {"graph": [0, 1], "class": ["a,b", "c"], "p": [1 / 3, 1.0], "given": [None, "c"]}


def test_quotes_stand_only_where_they_are_needed(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.csv", COLUMNS)
    expected = 'graph,class,p,given\n0,"a,b",0.333333333,\n1,c,1,c\n'
    assert (tmp_path / "p.csv").read_text() == expected


def test_row_groups_are_written_as_chunks_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_ROW_GROUP", 5)
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    chunks = (rows[start : start + 3] for start in range(0, 12, 3))
    write_vectors(tmp_path / "v.parquet", chunks, rows.shape, ["a", "b"])
    about = pq.ParquetFile(tmp_path / "v.parquet").metadata
    assert [about.row_group(n).num_rows for n in range(about.num_row_groups)] == [6, 6]
    assert np.array_equal(read_vectors(tmp_path / "v.parquet"), rows)


def test_texts_that_a_spreadsheet_would_obey(tmp_path: Path) -> None:
    ids = ["=1+1", "+a", "-b", "@c", "\t=d", "e=", "2"]
    table: Columns = {"id": [*ids], "-x": [-1.5, *range(6)]}
    write_columns(tmp_path / "plain.csv", table)
    assert (tmp_path / "plain.csv").read_text().startswith("id,-x\n=1+1,-1.5\n+a,0\n")
    write_columns(tmp_path / "safe.csv", table, spreadsheet=True)
    lines = (tmp_path / "safe.csv").read_text().splitlines()
    assert lines[:3] == ["id,'-x", "'=1+1,-1.5", "'+a,0"]
    assert lines[3:] == ["'-b,1", "'@c,2", "'\t=d,3", "e=,4", "2,5"]
    write_vectors(
        tmp_path / "v.csv", pieces(), VECTORS.shape, ["a", "b", "c"], ids=ids, spreadsheet=True
    )
    assert "\n0,'=1+1," in (tmp_path / "v.csv").read_text()
    assert np.array_equal(read_vectors(tmp_path / "v.csv").astype(np.float32), VECTORS)


def test_a_lone_carriage_return_stays_in_its_cell(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.csv", {"id": ["a\rb", "c"], "x": np.array([1.5, 2.0])})
    with open(tmp_path / "p.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["id", "x"], ["a\rb", "1.5"], ["c", "2"]]


def test_parquet(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.parquet", COLUMNS)
    assert pq.read_table(tmp_path / "p.parquet").to_pydict() == COLUMNS


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
        assert pq.read_table(path)["line"].to_pylist() == lines.tolist()


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


def test_a_damaged_npy_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    write_vectors(path, [np.ones((2, 3), np.float32)], (2, 3), ["a", "b", "c"])
    whole = bytearray(path.read_bytes())
    np.testing.assert_array_equal(np.load(path), np.ones((2, 3)))
    for place in range(len(whole)):
        damaged = whole.copy()
        damaged[place] ^= 4
        path.write_bytes(damaged)
        try:
            found = read_vectors(path)
        except StorageError:
            continue
        np.testing.assert_array_equal(found, np.ones((2, 3)))


def test_a_damaged_parquet_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    rng = np.random.default_rng(0)
    values = rng.random((50, 2)).astype(np.float32)
    write_vectors(path, [values], (50, 2), ["a", "b"])
    whole = bytearray(path.read_bytes())
    for place in range(len(whole)):
        damaged = whole.copy()
        damaged[place] ^= 4
        path.write_bytes(damaged)
        try:
            found = read_vectors(path)
        except StorageError:
            continue
        np.testing.assert_array_equal(found, values)


def _npz(path: Path) -> None:
    with open(path, "wb") as file:
        np.savez(file, a=np.ones((2, 2)))


def _table(path: Path, columns: dict[str, list[Any]]) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(v) for v in columns.values()], [*columns]), path)


FROM_OUTSIDE: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "npz": ("v.npy", _npz, "zip of several arrays"),
    "short": ("v.npy", lambda p: p.write_bytes(b"\x93NUMPY\x01\x00\xff\xff{'a': "), "no readable"),
    "huge": ("v.npy", lambda p: np.save(p, np.full((2, 2), 1e300)), "finite numbers"),
    "nan": ("v.npy", lambda p: np.save(p, np.full((2, 2), np.nan)), "finite numbers"),
    "null": ("v.parquet", lambda p: _table(p, {"a": [1.0, None]}), "Graph 1 has"),
    "null integer": ("v.parquet", lambda p: _table(p, {"a": [1, None]}), "Graph 1 has"),
    "twice": ("v.csv", lambda p: p.write_text("a,a\n1,2\n"), "several columns called 'a'"),
}


@pytest.mark.parametrize("name", FROM_OUTSIDE)
def test_vectors_from_outside(tmp_path: Path, name: str) -> None:
    file, write, sentence = FROM_OUTSIDE[name]
    write(tmp_path / file)
    with pytest.raises(StorageError, match=sentence):
        read_vectors(tmp_path / file)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_vectors_that_are_not_finite_are_not_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    with pytest.raises(StorageError, match="not finite"):
        write_vectors(path, [np.full((1, 2), np.inf, np.float32)], (1, 2), ["a", "b"])
    assert not path.exists()


@pytest.mark.slow
def test_a_wide_table_takes_linear_time(tmp_path: Path) -> None:
    """Doubled names were looked for in quadratic time: minutes for 100,000 columns."""
    path, count = tmp_path / "wide.csv", 100_000
    path.write_text(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count) + "\n")
    start = time.process_time()
    assert read_vectors(path).shape == (1, count)
    assert time.process_time() - start < 30


def test_a_table_of_vectors_needs_a_line_of_names(tmp_path: Path) -> None:
    """Its first row was taken for the names, and all graphs moved by one."""
    (tmp_path / "v.csv").write_text("1.5,2\n3,4\n")
    with pytest.raises(StorageError, match=r"must name its columns. Got numbers, such as '1.5'"):
        read_vectors(tmp_path / "v.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_lone_surrogate_is_written_as_its_escape(tmp_path: Path, suffix: str) -> None:
    """JSON may hold one; it has no bytes in any encoding, and ended in a traceback."""
    path = tmp_path / f"t{suffix}"
    write_columns(path, {"name": ["a\ud800", "b", None], "x": [1.5, 2.5, 3.5]})
    found = pa.csv.read_csv(path) if suffix == ".csv" else pa.parquet.read_table(path)
    assert found["name"].to_pylist()[:2] == ["a\\ud800", "b"]


@pytest.mark.parametrize("name", ["class", "Label", "y", "ID", "", "Unnamed: 0", "index"])
def test_labels_and_row_numbers_are_not_features(tmp_path: Path, name: str) -> None:
    """A column of classes was a feature, and random vectors scored 100 %."""
    path = tmp_path / "vectors.csv"
    path.write_text(f"{name},a,b\n0,0.5,0.25\n1,0.5,0.75\n")
    with pytest.raises(StorageError, match="called like a label or a row number"):
        read_vectors(path)
    path.write_text("x,y\n0.5,0.25\n0.5,0.75\n")
    assert read_vectors(path).shape == (2, 2)


def test_large_numbers_keep_their_digits(tmp_path: Path) -> None:
    write_columns(tmp_path / "t.csv", {"a": [1000000004.5, 0.1, 1e300]})
    assert (tmp_path / "t.csv").read_text().split() == ["a", "1000000004.5", "0.1", "1e+300"]
