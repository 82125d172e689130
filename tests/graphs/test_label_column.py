from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_column import GivenLabels, check_enough, find_labels, with_classes
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


def test_its_own_classes_are_no_other_set(graphs: GraphSet) -> None:
    assert with_classes(graphs, "MUTAG", "class") is graphs
    targets = replace(graphs, target_names=("y", "count"))
    assert with_classes(targets, "MUTAG", "y").name == "graphs+y"


def test_text_where_numbers_are_asked_for(table: tuple[str, GraphSet]) -> None:
    with pytest.raises(DataError, match="'kind' must hold numbers"):
        find_labels(table[1], table[0], "kind", "numbers")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GivenLabels([None, None], True, ("kind",)), "'kind' holds no label: .* of the 2 graphs"),
        (GivenLabels(["a", "a", None], True, ("kind",)), "All labels in 'kind' are 'a'"),
        (GivenLabels(np.array([NAN, NAN]), False, ("logP",)), "'logP' holds no label"),
        (GivenLabels(np.array([NAN, 1.0]), False, ("logP",)), "'logP' is known of 1 graph"),
    ],
)
def test_labels_that_teach_nothing(given: GivenLabels, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_enough(given)


def test_labels_that_are_enough() -> None:
    check_enough(GivenLabels(["a", "b", None], True, ("kind",)))
    check_enough(GivenLabels(np.array([0.5, 1.0, NAN]), False, ("logP",)))
