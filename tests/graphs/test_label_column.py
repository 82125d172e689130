from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_column import find_labels, with_classes
from tests.small_graphs import make_graphs

NAN = float("nan")


@pytest.fixture
def graphs() -> GraphSet:
    made = make_graphs(4, classes=True)
    targets = np.array([[0.5, 1], [NAN, 2], [2.5, NAN], [1.0, 0]])
    return replace(made, targets=targets, target_names=("logP", "count"))


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, GraphSet]:
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
    table: tuple[str, GraphSet], column: str, expected: list[str | None]
) -> None:
    path, graphs = table
    assert find_labels(graphs, path, column).y == expected


def test_numbers_in_a_column(table: tuple[str, GraphSet]) -> None:
    path, graphs = table
    np.testing.assert_array_equal(find_labels(graphs, path, "logS").y, [0.5, 1.5, NAN, 2])


def test_markers_of_missing_values(tmp_path: Path) -> None:
    """A lone ? was a class of its own, and made text of numbers."""
    (tmp_path / "mols.csv").write_text("smiles,kind,logS\nC,a,0.5\nCC,?,NA\nCO,b,?\nCN,a,1\n")
    data, graphs = str(tmp_path / "mols.csv"), replace(make_graphs(4), lines=np.arange(2, 6))
    with pytest.warns(IGSDWarning, match=r"in 'kind', 1 is taken as unknown: '\?' \(1\)"):
        assert find_labels(graphs, data, "kind").y == ["a", None, "b", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_labels(graphs, data, "kind", told=False).y[1] is None
    with pytest.warns(IGSDWarning, match=r"2 are taken as unknown: 'NA' \(1\), '\?' \(1\)"):
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
    message = r"in 'y', 2 are taken as unknown: '-1' \(1\), '-1.0' \(1\)"
    with pytest.warns(IGSDWarning, match=message):
        assert find_labels(*minus_one, "y").y == ["0", "1", None, "1", None]
    (tmp_path / "y.txt").write_text("0\n1\n-1\n1\n-1\n")
    with pytest.warns(IGSDWarning, match=r"Of 5 filled cells in 'y', 2 are .*: '-1' \(2\)"):
        found = find_labels(minus_one[0], "x", str(tmp_path / "y.txt"))
    assert found.y == ["0", "1", None, "1", None]
    with pytest.warns(IGSDWarning, match="'-1'"):
        classes = with_classes(*minus_one, "y").classes
    assert np.asarray(classes).tolist() == [0, 1, -1, 1, -1]


def test_minus_one_beside_one_other_is_a_class(minus_one: tuple[GraphSet, str]) -> None:
    with pytest.warns(IGSDWarning, match=r"2 cells -1 in 'sign' are taken as a class: -1 means"):
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


def test_a_column_that_is_not_there(table: tuple[str, GraphSet], graphs: GraphSet) -> None:
    with pytest.raises(DataError, match=r"There is no file no\.txt, and .* has no column of that"):
        find_labels(table[1], table[0], "no.txt")
    with pytest.raises(DataError, match=r"no column 'activ'.*'active'"):
        find_labels(table[1], table[0], "activ")
    with pytest.raises(DataError, match=r"'logp' is no file.*'logP'"):
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
def test_columns_that_are_no_labels(table: tuple[str, GraphSet], column: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        find_labels(table[1], table[0], column)


def test_names_are_no_classes(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(f"mol-{i}" for i in range(21)))
    with pytest.raises(DataError, match="No two of the 21 labels in 'names' are the same"):
        find_labels(make_graphs(21), "x", str(tmp_path / "names.txt"))


def test_labels_in_a_file(graphs: GraphSet, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("a\nnone\nb\na")
    with pytest.warns(
        IGSDWarning, match=r"Of 4 filled cells in 'labels', 1 is .* unknown: 'none' \(1\)"
    ):
        found = find_labels(graphs, "MUTAG", str(tmp_path / "labels.txt"))
    assert found.y == ["a", None, "b", "a"]
    assert found.names == ("labels",)


def test_a_column_becomes_the_classes(table: tuple[str, GraphSet]) -> None:
    """Records of two columns once had one place: the second was refused as another run."""
    path, graphs = table
    made = [with_classes(graphs, path, column) for column in ("active", "kind")]
    assert [graphs.name for graphs in made] == ["graphs+active", "graphs+kind"]
    assert made[0].class_names == ("0", "1")
    assert np.asarray(made[0].classes).tolist() == [1, -1, 0, 1]


def test_many_whole_numbers_as_own_classes_are_classes() -> None:
    many = replace(make_graphs(60), classes=np.arange(60) % 30, class_names=tuple(range(30)))
    given = find_labels(many, "COIL-DEL", "class")
    assert given.are_classes
    assert given.y[:2] == ["0", "1"]


def test_fractions_are_no_classes(table: tuple[str, GraphSet]) -> None:
    with pytest.raises(DataError, match=r"'logS' holds numbers such as 0\.5"):
        with_classes(table[1], table[0], "logS")


def test_one_fraction_among_words_is_a_class(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("low\nhigh\n0.5\nlow\n")
    graphs = with_classes(make_graphs(4), "graphs", str(tmp_path / "l.txt"))
    assert set(graphs.class_names) == {"low", "high", "0.5"}


def test_its_own_classes_are_no_other_set(graphs: GraphSet) -> None:
    assert with_classes(graphs, "MUTAG", "class") is graphs
    targets = replace(graphs, target_names=("logP", "y"))
    assert with_classes(targets, "MUTAG", "y").name == "graphs+y"


def test_text_where_numbers_are_asked_for(table: tuple[str, GraphSet]) -> None:
    with pytest.raises(DataError, match="'kind' must hold numbers"):
        find_labels(table[1], table[0], "kind", "numbers")
