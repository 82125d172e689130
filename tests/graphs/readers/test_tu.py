from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from igsd.errors import DataError, StorageError
from igsd.files import bounded
from igsd.graphs.readers.tu import find_tu_files, line_of, parse_numbers, read_tu
from tests.graphs.tu_writer import write_tu, zip_folder


@pytest.mark.parametrize("inside", ["", "TINY/", "TINY/raw/", "a folder/"])
def test_zip_at_any_depth(tu_folder: Path, tmp_path: Path, inside: str) -> None:
    files = find_tu_files(zip_folder(tu_folder, tmp_path / "some.zip", inside=inside))
    assert files.name == "TINY"
    assert {"A", "graph_indicator", "graph_labels"} <= set(files.parts)
    assert files.read("graph_labels") == b"-1\n1\n"


def test_folder_around_the_folder_and_hidden_files(tu_folder: Path) -> None:
    (tu_folder / "._TINY_A.txt").write_text("junk of a file manager")
    (tu_folder / "TINY_A.txt~").write_text("backup of an editor")
    (tu_folder.parent / "__MACOSX").mkdir()
    (tu_folder.parent / "__MACOSX" / "TINY_A.txt").write_text("junk")
    assert find_tu_files(tu_folder.parent).name == "TINY"
    assert find_tu_files(tu_folder).read("graph_labels") == b"-1\n1\n"


@pytest.mark.parametrize(
    "member",
    [
        "../TINY_x.txt",
        "/etc/TINY_x.txt",
        "a/../../x",
        "..",
        "C:\\x.txt",
        "..\\x.txt",
        "\\x",
        "a/..",
    ],
)
def test_zip_that_climbs_out_is_refused_as_a_whole(
    tu_folder: Path, tmp_path: Path, member: str
) -> None:
    path = zip_folder(tu_folder, tmp_path / "bad.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, "x")
    with pytest.raises(DataError, match="refused as a whole"):
        find_tu_files(path)


def test_names_with_dots_are_fine(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "fine.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes..txt", "x")
        archive.writestr("a/..b/c", "x")
    assert find_tu_files(path).name == "TINY"


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip_bomb(
    tu_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    """A zip of a megabyte once took ten gigabytes."""
    monkeypatch.setattr(bounded, "ALWAYS_READ", 100_000)
    path = zip_folder(tu_folder, tmp_path / "big.zip")
    with zipfile.ZipFile(path, "a", kind) as archive:
        archive.writestr("TINY_node_attributes.txt", b"1\n" * 500_000)
    with pytest.raises(DataError, match=r"content has 0.00 GiB or more, .*a zip bomb"):
        find_tu_files(path)


def test_zip_that_declares_less_than_it_holds(tu_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "lies.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in tu_folder.iterdir():
            content = file.read_bytes() + (b"1, 2\n" * 10**6 if "_A" in file.name else b"")
            archive.writestr(file.name, content)
    raw = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("TINY_A.txt").file_size.to_bytes(4, "little")
    path.write_bytes(raw.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(DataError, match=r"TINY_A\.txt cannot be read"):
        read_tu(path)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "fuzzed").glob("*.zip")), ids=lambda path: path.stem
)
def test_what_a_fuzzer_found(path: Path) -> None:
    """Each of these ended in an error of ``zipfile``."""
    with pytest.raises(DataError):
        read_tu(path)


def test_truncated_zip(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "cut.zip")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a zip file, or it was cut short"):
        find_tu_files(path)


def test_damaged_member(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "damaged.zip")
    content = bytearray(path.read_bytes())
    content[45:60] = bytes(15)
    path.write_bytes(content)
    files = find_tu_files(path)
    with pytest.raises(DataError, match=r"TINY_A\.txt cannot be read"):
        files.read("A")


def test_encrypted_member(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "secret.zip")
    content = path.read_bytes()
    place = content.index(b"PK\x01\x02") + 8
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    with pytest.raises(DataError, match=r"cannot be unpacked: .*encrypted"):
        find_tu_files(path).read("A")


def test_things_that_hold_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        find_tu_files(tmp_path / "absent")
    with pytest.raises(DataError, match=r"ends in _A\.txt was expected, found nothing"):
        find_tu_files(tmp_path)
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(DataError, match="not a zip file"):
        find_tu_files(tmp_path / "text.zip")
    (tmp_path / "pickle.zip").write_bytes(pickle.dumps([1]))
    with pytest.raises(StorageError, match="is a pickle"):
        find_tu_files(tmp_path / "pickle.zip")


def test_two_data_sets_in_one_folder(tu_folder: Path) -> None:
    write_tu(tu_folder.parent / "OTHER", A="1, 2\n", graph_indicator="1\n1\n")
    with pytest.raises(DataError, match="holds 2 data sets"):
        find_tu_files(tu_folder.parent)


def test_every_column(tu_folder: Path) -> None:
    graphs = read_tu(tu_folder)
    assert graphs.name == "TINY"
    assert graphs.node_ptr.tolist() == [0, 3, 5]
    assert graphs.adjacency.row_ptr.tolist() == [0, 2, 4, 6, 7, 8]
    assert graphs.adjacency.col.tolist() == [1, 2, 0, 2, 0, 1, 1, 0]
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([0, 1], (-1, 1))
    assert graphs.node_labels is not None
    assert (graphs.node_labels.tolist(), graphs.node_label_names) == ([0, 0, 1, 1, 0], (3, 7))
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [0, 0, 0, 1, 0, 1, 1, 1]
    assert graphs.node_attributes is not None
    assert graphs.node_attributes.tolist() == [[0.5, 1], [1.5, 2], [2.5, 3], [3.5, 4], [4.5, 5]]
    assert graphs.node_attribute_names == ("x0", "x1")
    assert graphs.targets is not None
    assert (graphs.targets.tolist(), graphs.target_names) == ([[0.25], [-1.5]], ("y0",))
    assert graphs.notes == ()


def test_zip_and_folder_are_equal(tu_folder: Path, tmp_path: Path) -> None:
    assert read_tu(zip_folder(tu_folder, tmp_path / "x.zip", inside="TINY/")) == read_tu(tu_folder)


def test_only_the_needed_files(tmp_path: Path) -> None:
    graphs = read_tu(write_tu(tmp_path / "D", A="1, 2\n", graph_indicator="1\n1\n2\n"))
    assert graphs.node_counts().tolist() == [2, 1]
    assert graphs.classes is None
    assert graphs.node_labels is None
    assert graphs.notes == ()


@pytest.mark.parametrize(
    ("indicator", "edges"),
    [
        ("0 0 1 1", "0,1 1,0 2,3 3,2"),
        ("1 1 2 2", "0,1 1,0 2,3 3,2"),
        ("0 0 1 1", "1,2 2,1 3,4 4,3"),
        ("1 1 2 2", "1,2 2,1 3,4 4,3"),
    ],
)
def test_ids_count_from_0_or_1(tmp_path: Path, indicator: str, edges: str) -> None:
    columns = {"A": edges, "graph_indicator": indicator}
    folder = write_tu(tmp_path / "D", **{k: v.replace(" ", "\r\n") for k, v in columns.items()})
    graphs = read_tu(folder)
    assert graphs.adjacency.row_ptr.tolist() == [0, 1, 2, 3, 4]
    assert graphs.adjacency.col.tolist() == [1, 0, 1, 0]
    assert ("graphs are numbered from 0 in the files" in graphs.notes) == indicator.startswith("0")
    assert ("nodes are numbered from 0 in the files" in graphs.notes) == ("0" in edges)


@pytest.mark.parametrize(("first", "linked"), [("0", [1, 2]), ("1", [0, 1])])
def test_ids_without_a_clear_base_count_like_the_graphs(
    tmp_path: Path, first: str, linked: list[int]
) -> None:
    folder = write_tu(tmp_path / "D", A="1, 2\n2, 1\n", graph_indicator=f"{first}\n" * 4)
    assert np.flatnonzero(read_tu(folder).adjacency.degrees()).tolist() == linked


def test_first_of_several_label_columns(tu_folder: Path) -> None:
    (tu_folder / "TINY_node_labels.txt").write_text("3, 9\n3, 9\n7, 8\n7, 8\n3, 8\n")
    graphs = read_tu(tu_folder)
    assert graphs.node_label_names == (3, 7)
    assert graphs.notes == ("node_labels: first of 2 columns used as the label",)


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("A", "", r"TINY_A\.txt is empty"),
        ("A", "1, 2\n2\n", r"TINY_A\.txt, line 2: 2 numbers expected, found 1"),
        ("A", "1, 2\n\n1, x\n", r"TINY_A\.txt, line 3: a whole number was expected, found 'x'"),
        ("A", "1, 2\n2, 6\n", r"TINY_A\.txt, line 2: node ids must run from 1 to 5 .* found 2, 6"),
        ("A", "1, 2\n2, -1\n", r"TINY_A\.txt, line 2: node ids must run from 1 to 5"),
        ("A", "0, 1\n4, 5\n", r"TINY_A\.txt, line 2: node ids must run from 0 to 4"),
        ("A", "1, 2\n3, 4\n", r"TINY_A\.txt, line 2: edge 3, 4 joins graph 1 with graph 2"),
        ("graph_indicator", "", r"graph_indicator\.txt is empty"),
        ("graph_indicator", "2\n2\n2\n3\n3\n", "line 1: the first graph must be 0 or 1, found 2"),
        ("graph_indicator", "1\n1\n2\n1\n2\n", "line 4: after graph 2 the same or the next"),
        ("graph_indicator", "1\n1\n1\n3\n3\n", "line 4: after graph 1 .* found 3"),
        ("graph_indicator", "1\n1\n1\n2\n", "node ids must run from 1 to 4"),
        ("graph_indicator", "1\n1\n1\n1\n1\n", r"graph_labels\.txt has 2 lines, but .* 1 graphs"),
        ("graph_labels", "-1\n", r"graph_labels\.txt has 1 lines, but .* has 2 graphs"),
        ("graph_labels", "0.5\n1\n", r"graph_labels\.txt, line 1: a whole number was expected"),
        ("graph_labels", "", r"graph_labels\.txt is empty"),
        ("node_labels", "1\n2\n3\n", r"node_labels\.txt has 3 lines, but .* has 5 nodes"),
        ("edge_labels", "1\n2\n3\n", r"edge_labels\.txt has 3 lines, but TINY_A\.txt has 8 edges"),
        ("node_attributes", "1\n2\nnan\n4\n5\n", "line 3: numbers must be finite"),
        ("node_attributes", "1\n2\n3\n4\nhello\n", "line 5: a number was expected, found 'hello'"),
        ("edge_attributes", "1\n", r"edge_attributes\.txt has 1 lines"),
        ("graph_attributes", "1\n", r"graph_attributes\.txt has 1 lines"),
    ],
)
def test_broken_files(tu_folder: Path, part: str, text: str, message: str) -> None:
    if part == "graph_indicator":
        for other in ("node_labels", "node_attributes", "edge_labels"):
            (tu_folder / f"TINY_{other}.txt").unlink()
    (tu_folder / f"TINY_{part}.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        read_tu(tu_folder)


def test_edges_cut_short(tmp_path: Path) -> None:
    """A file cut at the end of a line was read as if it were whole."""
    path = "".join(f"{i}, {i + 1}\n{i + 1}, {i}\n" for i in range(1, 12))
    folder = write_tu(tmp_path / "CUT", A=path, graph_indicator="1\n" * 12)
    assert read_tu(folder).notes == ()
    write_tu(folder, A=path.removesuffix("12, 11\n"))
    assert read_tu(folder).notes[-1] == (
        "CUT_A.txt has nearly every edge in both directions, but that of line 21 in one: was the "
        "file cut short?"
    )
    write_tu(folder, A="".join(f"{i}, {i + 1}\n" for i in range(1, 12)))
    assert read_tu(folder).notes == ()


@pytest.mark.parametrize(
    ("file", "meant"),
    [
        ("TINY_nodelabels.txt", "node_labels"),
        ("TINY_graph_label.txt", "graph_labels"),
        ("TINY_Edge_Labels.txt", "edge_labels"),
        ("TINY_node_labels (1).txt", "node_labels"),
        ("TNY_node_attributes.txt", "node_attributes"),
        ("old/TINY_node_labels.txt", "node_labels"),
        ("TINY_label_readme.txt", None),
        ("README.txt", None),
    ],
)
def test_files_that_seem_misspelt(tu_folder: Path, file: str, meant: str | None) -> None:
    (tu_folder / file).parent.mkdir(exist_ok=True)
    (tu_folder / file).write_text("1\n")
    expected = () if meant is None else (f"{file} is not read: TINY_{meant}.txt is expected",)
    assert read_tu(tu_folder).notes == expected


def test_member_twice_in_a_zip(tu_folder: Path, tmp_path: Path) -> None:
    target = zip_folder(tu_folder, tmp_path / "TINY.zip")
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("TINY_graph_labels.txt", "5\n6\n")
    graphs = read_tu(target)
    assert graphs.notes == ("TINY_graph_labels.txt is in the zip 2 times, the last is read",)
    assert graphs.class_names == (5, 6)


def test_missing_graph_indicator(tu_folder: Path) -> None:
    (tu_folder / "TINY_graph_indicator.txt").unlink()
    with pytest.raises(DataError, match=r"graph_indicator\.txt is missing"):
        read_tu(tu_folder)


@pytest.mark.parametrize(
    "raw",
    [
        b"1, 2\n-3, 4\n",
        b"1,2\n-3,4",
        b"1 2\n-3 4\n",
        b"1\t2\n-3\t4\n",
        b"1;2\r\n-3;4\r\n",
        b"\n1, 2\r\n\r\n  -3 ,\t4  \r\n\n",
        b"1   2 \n -3   4\n",
        b"1.0, 2.0\n-3.0, 4e0\n",
        b"\xef\xbb\xbf1, 2\n-3, 4\n",
        b"1, 2,\n-3, 4,\n",
    ],
)
def test_every_spacing_gives_the_same_numbers(raw: bytes) -> None:
    for columns in (None, 2):
        table = parse_numbers(raw, "f", whole=True, columns=columns)
        assert table.tolist() == [[1, 2], [-3, 4]]
        assert table.dtype == np.int64
    assert parse_numbers(raw, "f", whole=False).tolist() == [[1.0, 2.0], [-3.0, 4.0]]


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6)), min_size=1))
def test_numbers_survive(rows: list[tuple[int, float]]) -> None:
    raw = "\n".join(f"{a}, {b!r}" for a, b in rows).encode()
    assert parse_numbers(raw, "f", whole=False).tolist() == [[float(a), b] for a, b in rows]


@pytest.mark.parametrize(
    ("raw", "whole", "columns", "message"),
    [
        (b"", True, None, "f is empty"),
        (b" \r\n\n", True, None, "f is empty"),
        (b"1\n\nx\n", True, 1, "f, line 3: a whole number was expected, found 'x'"),
        (b"1\n1.5\n", True, 1, "f, line 2: a whole number was expected, found '1.5'"),
        (b"1, 2\n3\n", True, 2, "f, line 2: 2 numbers expected, found 1: '3'. Was the file cut"),
        (b"1, 2\n3, 4, 5\n", True, None, "f, line 2: 2 numbers expected, found 3"),
        (b"1, 2\n", True, 1, "f, line 1: 1 number expected, found 2"),
        (b"0.5\n\nnan\n", False, None, r"f, line 3: numbers must be finite.*, got \[nan\]"),
        (b"1_5\n;x\n", False, None, "f, line 1: a number was expected, found '1_5'"),
        (b"inf\n", False, None, "f, line 1: numbers must be finite"),
        (b"1e400\n", False, None, "f, line 1: numbers must be finite"),
        (b"1e300\n", False, None, r"finite and at most 3\.4e\+38.*, got \[1e\+300\]"),
        (b"99999999999999999999\n", True, None, "f, line 1: a whole number was expected"),
        (b"\x80\x04\x95\n", True, None, "f, line 1"),
        (b"a" * 200, True, None, r"aaa\.\.\.'"),
    ],
)
def test_broken_lines_are_named(raw: bytes, whole: bool, columns: int | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_numbers(raw, "f", whole=whole, columns=columns)


def test_line_of_skips_blank_lines() -> None:
    assert [line_of(b"\n1\n\n2\n3", row) for row in range(3)] == [2, 4, 5]
