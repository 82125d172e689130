from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.tu import read_tu
from tests.graphs.tu_writer import write_tu, zip_folder


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
    assert graphs.notes == ("1 edge given in one direction only, made undirected",)


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


def test_missing_graph_indicator(tu_folder: Path) -> None:
    (tu_folder / "TINY_graph_indicator.txt").unlink()
    with pytest.raises(DataError, match=r"graph_indicator\.txt is missing"):
        read_tu(tu_folder)
