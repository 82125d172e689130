from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, StorageError
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_file import read_label_file
from tests.small_graphs import make_graphs


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return tmp_path / "labels.txt"


def table(folder: Path, bad: tuple[int, ...]) -> tuple[str, GraphSet]:
    """Return a table of seven rows and the graphs of those that are not ``bad``."""
    (folder / "mols.csv").write_text("smiles\n" + "C\n" * 7)
    lines = np.array([row + 2 for row in range(7) if row not in bad])
    return str(folder / "mols.csv"), replace(make_graphs(len(lines)), lines=lines)


@pytest.mark.parametrize("text", ["a\n\nb\na\n", "kind\na\n\nb\na\n", "a\r\n\r\nb\r\na"])
def test_a_line_for_each_graph(labels: Path, text: str) -> None:
    labels.write_text(text)
    assert read_label_file(labels, make_graphs(4), "MUTAG").texts == [["a", "", "b", "a"]]


def test_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.array([0.5, np.nan, 1.0, 2.0]))
    found = read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    assert found.texts == [["0.5", "", "1.0", "2.0"]]
    assert found.names == ("y",)
    with pytest.raises(DataError, match="4 labels for 3 graphs"):  # an array has no name on top
        read_label_file(tmp_path / "y.npy", make_graphs(3), "MUTAG")
    # The first of several columns was once taken without a word.
    for shape in ((4, 2), ()):
        np.save(tmp_path / "y.npy", np.ones(shape))
        with pytest.raises(DataError, match=r"^\S+y.npy must hold one label"):
            read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    with open(tmp_path / "y.npy", "wb") as file:
        np.savez(file, a=np.ones(4))
    with pytest.raises(DataError, match="it holds several arrays"):
        read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    np.save(tmp_path / "y.npy", np.arange(4)[:, None])
    found = read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    assert found.texts == [["0", "1", "2", "3"]]


@pytest.mark.parametrize("name", ["", "kind\n"])
@pytest.mark.parametrize("text", ["a\nb\nc\nd\ne\nf\ng\n", "a\nc\nd\nf\ng\n"])
def test_a_line_for_each_row_or_graph_of_a_table(labels: Path, name: str, text: str) -> None:
    """A file parallel to a table was refused where a row of it was no molecule."""
    data, graphs = table(labels.parent, bad=(1, 4))
    labels.write_text(name + text)
    found = read_label_file(labels, graphs, data)
    assert found.texts == [["a", "c", "d", "f", "g"]]
    assert found.lines == [1 + (name + text).split().index(letter) for letter in "acdfg"]


def test_a_name_or_the_label_of_the_first_row(labels: Path) -> None:
    data, graphs = table(labels.parent, bad=(2,))
    for text, expected in (("abababa", "abbaba"), ("1234567", "124567")):
        labels.write_text("\n".join(text))
        assert read_label_file(labels, graphs, data).texts == [list(expected)]
    labels.write_text("kind\nb\na\nb\na\nb\na")
    with pytest.raises(DataError, match=r"'kind' may be the name .* one for each of the 6 graphs"):
        read_label_file(labels, graphs, data)
    np.save(labels.with_suffix(".npy"), np.array(list("zbababa")))
    assert read_label_file(labels.with_suffix(".npy"), graphs, data).texts[0][0] == "z"


def test_another_length(labels: Path) -> None:
    labels.write_text("a\nb\n")
    with pytest.raises(DataError, match="holds 2 labels for 4 graphs"):
        read_label_file(labels, make_graphs(4), "MUTAG")
    data, graphs = table(labels.parent, bad=(1, 4))
    with pytest.raises(DataError, match=r"2 labels for the 7 rows of .* 5 are molecules"):
        read_label_file(labels, graphs, data)


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.npy").write_bytes(pickle.dumps([0, 1, 0, 1]))
    with pytest.raises(StorageError):
        read_label_file(tmp_path / "labels.npy", make_graphs(4), "MUTAG")


def test_a_label_too_many_is_no_name(labels: Path) -> None:
    """It was dropped as if it were one, and every label moved by one graph."""
    for text in ("a\na\nb\na\nb", "1\n2\n3\n4\n5"):
        labels.write_text(text)
        with pytest.raises(DataError, match="5 labels for 4 graphs"):
            read_label_file(labels, make_graphs(4), "MUTAG")
