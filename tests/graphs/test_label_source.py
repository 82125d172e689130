from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import find_labels, read_label_file, with_classes
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
        with pytest.raises(DataError, match=r"^/.+y\.npy must hold one label"):
            read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    np.save(tmp_path / "y.npy", np.arange(4)[:, None])
    found = read_label_file(tmp_path / "y.npy", make_graphs(4), "MUTAG")
    assert found.texts == [["0", "1", "2", "3"]]


def test_a_damaged_array(tmp_path: Path) -> None:
    path = tmp_path / "y.npy"
    np.save(path, np.arange(4))
    whole = path.read_bytes()
    with open(path, "wb") as file:
        np.savez(file, a=np.ones(4))
    zipped = path.read_bytes()
    np.save(path, np.array([1, "a", None, 2], dtype=object), allow_pickle=True)
    for content, message in (
        (zipped, r"a zip of several arrays \(.npz\)"),
        (path.read_bytes(), "is a pickle"),
        (whole[:-1], "is damaged: it does not have the 4 values"),
        (whole[:60], "holds no readable labels"),
        (whole.replace(b"(4,)", b"(-4,"), "holds no readable labels"),
        (b"", "holds no readable labels"),
    ):
        path.write_bytes(content)
        with pytest.raises(StorageError, match=rf"^.+y.npy .*{message}"):
            read_label_file(path, make_graphs(4), "MUTAG")
    np.save(path, np.zeros(4, "M8[s]"))
    with pytest.raises(DataError, match=r"text. Got datetime64"):
        read_label_file(path, make_graphs(4), "MUTAG")
    np.save(path, np.array([b"a", b"b", b"a", b""]))
    assert read_label_file(path, make_graphs(4), "MUTAG").texts == [["a", "b", "a", ""]]


def test_large_classes_stay_apart(tmp_path: Path) -> None:
    """They were once read as floats, which have 53 bits."""
    values = np.array([2**64 - 1, 2**64 - 2, 2**53, 2**53 + 1], np.uint64)
    np.save(tmp_path / "y.npy", values)
    found = find_labels(make_graphs(4), "MUTAG", str(tmp_path / "y.npy"))
    assert found.y == [str(value) for value in values.tolist()]


def test_a_column_named_twice() -> None:
    graphs = replace(make_graphs(4), targets=np.ones((4, 2)), target_names=("a", "b"))
    with pytest.raises(DataError, match=r"'a' is named 2 times\. Name each column once"):
        find_labels(graphs, "MUTAG", "a,b,a")


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


def test_a_name_where_a_label_is_missing(labels: Path) -> None:
    """Programs that cut empty lines at the end moved every label by one graph."""
    labels.write_text("active\n1\n0\n1\n")
    with pytest.raises(DataError, match=r"the first one, 'active', is not a number as the others"):
        read_label_file(labels, make_graphs(4), "MUTAG")
    labels.write_text("NA\n1\n0\n1\n")
    assert read_label_file(labels, make_graphs(4), "MUTAG").texts == [["NA", "1", "0", "1"]]
    labels.write_text("kind\na\nb\na\n")
    with pytest.raises(
        DataError, match=r"'kind', does not recur\. .*write NA .*in a line above it"
    ):
        read_label_file(labels, make_graphs(4), "MUTAG")
    labels.write_text("kind\nrare\na\nb\na\n")
    assert read_label_file(labels, make_graphs(4), "MUTAG").texts[0][0] == "rare"
    labels.write_text("a\nb\nc\nd\n")
    with pytest.warns(IGSDWarning, match="'a', the first line .* is taken as the label"):
        assert read_label_file(labels, make_graphs(4), "MUTAG").texts[0][0] == "a"


def test_labels_of_molecules_or_of_rows_cut_short(labels: Path) -> None:
    """Empty lines cut off the end of a file for all rows made it one for the molecules alone."""
    data, graphs = table(labels.parent, bad=(1, 4))
    labels.write_text("a\nb\na\nb\na\n")
    with pytest.warns(IGSDWarning, match=r"one label per molecule: 5 for the 7 rows .* write NA"):
        assert read_label_file(labels, graphs, data).texts == [list("ababa")]


def test_decimal_commas_in_a_file(labels: Path) -> None:
    """They became classes."""
    labels.write_text("0,5\n1\nnull\n1.234,5\n")
    with pytest.warns(IGSDWarning, match="decimal commas in 'labels.txt' are read as points"):
        found = find_labels(make_graphs(4), "MUTAG", str(labels))
    assert found.y[[0, 1, 3]].tolist() == [0.5, 1.0, 1234.5]


def test_labels_by_the_ids_of_molecules(tmp_path: Path) -> None:
    graphs = replace(make_graphs(3), ids=("m1", "m2", "m3"), graph_names=("C", "CC", "CCC"))
    (tmp_path / "y.csv").write_text("id,lab\nm3,a\nm1,b\nm2,a\n")
    assert find_labels(graphs, "MUTAG", str(tmp_path / "y.csv")).y == ["b", "a", "a"]


def test_a_column_is_meant_before_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the same name, in the folder where igsd runs, was read instead without a word."""
    monkeypatch.chdir(tmp_path)
    Path("y").write_text("1\n0\n1\n0\n")
    graphs = replace(make_graphs(4), targets=np.full((4, 1), 0.5), target_names=("y",))
    with pytest.warns(IGSDWarning, match=r"'y' is read from MUTAG, .* write \./y for its labels"):
        assert not find_labels(graphs, "MUTAG", "y").are_classes
    assert find_labels(graphs, "MUTAG", "./y").are_classes


NAN = float("nan")


@pytest.fixture
def graphs() -> GraphSet:
    made = make_graphs(4, classes=True)
    targets = np.array([[0.5, 1], [NAN, 2], [2.5, NAN], [1.0, 0]])
    return replace(made, targets=targets, target_names=("logP", "count"))


@pytest.fixture
def table_label_column(tmp_path: Path) -> tuple[str, GraphSet]:
    path = tmp_path / "molecules.csv"
    lines = [
        "id,smiles,active,logS,kind",
        "1,CC,1,0.5,a",
        "2,XX,0,9,b",
        "3,CO,,1.5,b",
        "4,CN,0,,",
        "5,C,1,2,a",
    ]
    path.write_text("\n".join(lines) + "\n")
    # The second row is no molecule, so line 3 is not among the graphs.
    return str(path), replace(make_graphs(4), lines=np.array([2, 4, 5, 6]))


def test_classes_of_the_set(graphs: GraphSet) -> None:
    found = find_labels(graphs, "MUTAG", "class")
    assert found.are_classes
    assert found.y == ["-1", "1", "-1", "1"]


def test_targets_of_the_set(graphs: GraphSet) -> None:
    found = find_labels(graphs, "MUTAG", "logP")
    assert not found.are_classes
    np.testing.assert_array_equal(found.y, [0.5, NAN, 2.5, 1.0])
    assert found.is_known.tolist() == [True, False, True, True]
    both = find_labels(graphs, "MUTAG", "logP, count")
    assert both.y.shape == (4, 2)
    assert both.names == ("logP", "count")


def test_whole_numbers_may_be_either(graphs: GraphSet) -> None:
    assert find_labels(graphs, "MUTAG", "count").y == ["1", "2", None, "0"]
    found = find_labels(graphs, "MUTAG", "count", "numbers")
    np.testing.assert_array_equal(found.y, [1, 2, NAN, 0])


@pytest.mark.parametrize(
    ("column", "expected"),
    [("active", ["1", None, "0", "1"]), ("kind", ["a", "b", None, "a"])],
)
def test_classes_in_a_column(
    table_label_column: tuple[str, GraphSet], column: str, expected: list[str | None]
) -> None:
    path, graphs = table_label_column
    assert find_labels(graphs, path, column).y == expected


def test_numbers_in_a_column(table_label_column: tuple[str, GraphSet]) -> None:
    path, graphs = table_label_column
    np.testing.assert_array_equal(find_labels(graphs, path, "logS").y, [0.5, 1.5, NAN, 2])


def test_markers_of_missing_values(tmp_path: Path) -> None:
    """A lone ? was a class of its own, and made text of numbers."""
    (tmp_path / "mols.csv").write_text("smiles,kind,logS\nC,a,0.5\nCC,?,NA\nCO,b,?\nCN,a,1\n")
    data, graphs = str(tmp_path / "mols.csv"), replace(make_graphs(4), lines=np.arange(2, 6))
    with pytest.warns(IGSDWarning, match=r"in 'kind' is taken as missing: '\?' \(1\)"):
        assert find_labels(graphs, data, "kind").y == ["a", None, "b", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_labels(graphs, data, "kind", warn=False).y[1] is None
    with pytest.warns(IGSDWarning, match=r"are taken as missing: 'NA' \(1\), '\?' \(1\)"):
        found = find_labels(graphs, data, "logS")
    np.testing.assert_array_equal(found.y, [0.5, NAN, NAN, 1])


MINUS_ONE = "smiles,y,sign,shift\n" + "".join(
    f"{'C' * n},{y},{sign},{shift}\n"
    for n, (y, sign, shift) in enumerate(
        [
            ("0", "1", "0.5"),
            ("1", "-1", "-1"),
            ("-1", "-1", "2"),
            ("1.0", "1", "0"),
            ("-1.0", "", "1"),
        ],
        1,
    )
)


@pytest.fixture
def minus_one(tmp_path: Path) -> tuple[GraphSet, str]:
    (tmp_path / "mols.csv").write_text(MINUS_ONE)
    return replace(make_graphs(5), lines=np.arange(2, 7)), str(tmp_path / "mols.csv")


def test_minus_one_beside_other_codes_is_unknown(
    minus_one: tuple[GraphSet, str], tmp_path: Path
) -> None:
    """It was a third class without a word, where ``fit`` takes the same numbers for gaps."""
    message = r"in 'y' are taken as missing: -1 \(2\)"
    with pytest.warns(IGSDWarning, match=message):
        assert find_labels(*minus_one, "y").y == ["0", "1", None, "1", None]
    (tmp_path / "y.txt").write_text("0\n1\n-1\n1\n-1\n")
    with pytest.warns(IGSDWarning, match=r"2 of 5 labels in 'y' are .*: -1 \(2\)"):
        found = find_labels(minus_one[0], "x", str(tmp_path / "y.txt"))
    assert found.y == ["0", "1", None, "1", None]
    with pytest.warns(IGSDWarning, match="-1"):
        classes = with_classes(*minus_one, "y").classes
    assert np.asarray(classes).tolist() == [0, 1, -1, 1, -1]


def test_minus_one_beside_one_other_is_a_class(minus_one: tuple[GraphSet, str]) -> None:
    with pytest.warns(IGSDWarning, match=r"-1 in 'sign' \(2\) is taken as a class: it means"):
        assert find_labels(*minus_one, "sign").y == ["1", "-1", "-1", "1", None]


def test_minus_one_among_numbers_is_a_number(minus_one: tuple[GraphSet, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_labels(*minus_one, "shift").y.tolist() == [0.5, -1, 2, 0, 1]
        assert find_labels(*minus_one, "y", "numbers").y.tolist() == [0, 1, -1, 1, -1]


def test_minus_one_in_the_sets_own_classes_is_a_class(graphs: GraphSet) -> None:
    own = replace(graphs, classes=np.array([0, 1, 2, 1]), class_names=(-1, 0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_labels(own, "MUTAG", "class").y == ["-1", "0", "1", "0"]
        assert find_labels(graphs, "MUTAG", "class").y == ["-1", "1", "-1", "1"]


def test_a_column_that_is_not_there(
    table_label_column: tuple[str, GraphSet], graphs: GraphSet
) -> None:
    with pytest.raises(DataError, match=r"There is no file no\.txt, and .* has no column of that"):
        find_labels(table_label_column[1], table_label_column[0], "no.txt")
    with pytest.raises(DataError, match=r"no column 'activ'.*'active'"):
        find_labels(table_label_column[1], table_label_column[0], "activ")
    with pytest.raises(DataError, match=r"'logp' is not a file.*'logP'"):
        find_labels(graphs, "MUTAG", "logp")
    with pytest.raises(DataError, match="neither classes nor targets"):
        find_labels(make_graphs(4), "x", "class")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("smiles", "holds the molecules themselves.* others are: active, logS, kind"),
        ("id", "only names the rows"),
    ],
)
def test_columns_that_are_no_labels(
    table_label_column: tuple[str, GraphSet], column: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        find_labels(table_label_column[1], table_label_column[0], column)


def test_names_are_no_classes(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(f"mol-{i}" for i in range(21)))
    with pytest.raises(DataError, match="No two of the 21 labels in 'names' are the same"):
        find_labels(make_graphs(21), "x", str(tmp_path / "names.txt"))


def test_labels_in_a_file(graphs: GraphSet, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("a\nnone\nb\na")
    with pytest.warns(
        IGSDWarning, match=r"1 of 4 labels in 'labels' is taken as missing: 'none' \(1\)"
    ):
        found = find_labels(graphs, "MUTAG", str(tmp_path / "labels.txt"))
    assert found.y == ["a", None, "b", "a"]
    assert found.names == ("labels",)


def test_a_column_becomes_the_classes(table_label_column: tuple[str, GraphSet]) -> None:
    """Records of two columns once had one place: the second was refused as another run."""
    path, graphs = table_label_column
    made = [with_classes(graphs, path, column) for column in ("active", "kind")]
    assert [graphs.name for graphs in made] == ["graphs+active", "graphs+kind"]
    assert made[0].class_names == ("0", "1")
    assert np.asarray(made[0].classes).tolist() == [1, -1, 0, 1]


def test_many_whole_numbers_as_own_classes_are_classes() -> None:
    many = replace(make_graphs(60), classes=np.arange(60) % 30, class_names=tuple(range(30)))
    given = find_labels(many, "COIL-DEL", "class")
    assert given.are_classes
    assert given.y[:2] == ["0", "1"]


def test_fractions_are_no_classes(table_label_column: tuple[str, GraphSet]) -> None:
    with pytest.raises(DataError, match=r"'logS' holds numbers such as 0\.5"):
        with_classes(table_label_column[1], table_label_column[0], "logS")


def test_one_fraction_among_words_is_a_class(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("low\nhigh\n0.5\nlow\n")
    graphs = with_classes(make_graphs(4), "graphs", str(tmp_path / "l.txt"))
    assert set(graphs.class_names) == {"low", "high", "0.5"}


def test_its_own_classes_are_no_other_set(graphs: GraphSet) -> None:
    assert with_classes(graphs, "MUTAG", "class") is graphs
    targets = replace(graphs, target_names=("logP", "y"))
    assert with_classes(targets, "MUTAG", "y").name == "graphs+y"


def test_text_where_numbers_are_asked_for(table_label_column: tuple[str, GraphSet]) -> None:
    with pytest.raises(DataError, match="'kind' must hold finite numbers"):
        find_labels(table_label_column[1], table_label_column[0], "kind", "numbers")


def test_quotes_around_labels_are_not_part_of_them(tmp_path: Path) -> None:
    """pandas writes an empty cell of a single column as two quotes, which became a class."""
    path = tmp_path / "labels.csv"
    path.write_text('y\n"a"\n""\n"b"\n"a"\n')
    graphs = make_graphs(4)
    assert find_labels(graphs, "toy", str(path), "auto", warn=False).y == ["a", None, "b", "a"]


def with_ids(count: int, first: int = 1) -> GraphSet:
    ids = tuple(str(number) for number in range(first, first + count))
    return replace(make_graphs(count), ids=ids, graph_names=tuple("ABCDEFGH"[:count]))


def test_a_first_line_of_numbers_names_no_columns(tmp_path: Path) -> None:
    """Where its id was unknown, the first row was dropped as if it named the columns."""
    path = tmp_path / "y.csv"
    for text in ("0,0\n1,1\n2,0\n3,1\n", "x,a\n1,b\n2,a\n3,b\n"):
        path.write_text(text)
        with pytest.raises(DataError, match=r"The first line of .*Write file,label above it"):
            find_labels(with_ids(4), "toy", str(path))
    path.write_text(",0\n1,b\n2,a\n3,b\n4,a\n")  # as pandas writes a Series
    assert find_labels(with_ids(4), "toy", str(path)).y == ["b", "a", "b", "a"]


def test_two_columns_that_may_both_name_graphs(tmp_path: Path) -> None:
    """With one unknown id the column of labels was taken for the ids, without a word."""
    path = tmp_path / "y.csv"
    path.write_text("mol,rank\n1,4\n2,3\n3,2\n9,1\n")
    with pytest.raises(DataError, match=r"Both columns of .*, mol and rank, may name the graphs"):
        find_labels(with_ids(4), "toy", str(path))
    path.write_text("rank,id\n4,1\n3,2\n2,3\n1,4\n")
    assert find_labels(with_ids(4), "toy", str(path)).y == ["4", "3", "2", "1"]


def test_a_label_table_with_a_column_twice(tmp_path: Path) -> None:
    """The first of two columns called label was read, silently."""
    (tmp_path / "y.csv").write_text("file,label,label\n1,a,b\n2,b,a\n")
    with pytest.raises(DataError, match="has several columns called label"):
        find_labels(with_ids(2), "toy", str(tmp_path / "y.csv"))


@pytest.mark.parametrize(
    "text", ["1,0\n2,1\n3,0\n", "1 0\n2 1\n3 0\n", "7\t0\n9\t1\n8\t0\n", "no y\n1 0\n2 1\n3 0\n"]
)
def test_a_text_of_two_columns_of_numbers(labels: Path, text: str) -> None:
    """Lines were read as numbers with decimal commas, or as classes such as '1 0'."""
    labels.write_text(text)
    with pytest.raises(DataError, match=r"is a table with the columns .* one label per line"):
        find_labels(make_graphs(3), "toy", str(labels))


def test_decimal_commas_are_no_separators(labels: Path) -> None:
    labels.write_text("1,5\n2,1\n7,0\n")
    with pytest.warns(IGSDWarning, match="decimal commas"):
        assert find_labels(make_graphs(3), "toy", str(labels)).y.tolist() == [1.5, 2.1, 7.0]


def test_an_empty_line_at_the_end_moves_no_label(labels: Path) -> None:
    """The first label was taken as the name of the column, and the others moved up by one."""
    labels.write_text("pos\nneg\nneg\nneg\n\n")
    with pytest.raises(DataError, match=r"last line of .* is empty"):
        read_label_file(labels, make_graphs(4), "MUTAG")
    for text in ("label\npos\nneg\npos\n\n", "dose\n1.5\n2\n3\n\n"):  # a name for certain
        labels.write_text(text)
        assert read_label_file(labels, make_graphs(4), "MUTAG").texts[0][3] == ""
