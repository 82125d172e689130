from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.graphs.build import from_edges
from igsd.graphs.columns import (
    attribute_columns,
    categories,
    common_names,
    graph_columns,
    label_columns,
    names_text,
)
from igsd.graphs.graphset import PARTIAL


def test_only_columns_that_exist_are_written() -> None:
    none = np.array([], dtype=int)
    graphs = from_edges([1], none, none, classes=np.array([0]), class_names=(-1, "é", 0.5, True))
    text = names_text(graphs)
    assert common_names([text, text]) == {"classes": (-1, "é", 0.5, True)}


@pytest.mark.parametrize(
    "texts", [[], [None], ["{}", None], ['{"classes": [1]}', '{"classes": [2]}'], ["{"], ["3"]]
)
def test_texts_that_say_nothing(texts: list[str | None]) -> None:
    assert not common_names(texts)


def test_unknown_columns_are_ignored() -> None:
    assert common_names(['{"classes": [1], "colour": [2]}']) == {"classes": (1,)}


def test_labels_by_known_names_or_their_own() -> None:
    records = [{"label": "b"}, {}]
    assert label_columns([{}, {}], "node", {}) == {}
    own = label_columns(records, "node", {})
    assert (own["node_labels"].tolist(), own["node_label_names"]) == ([0, -1], ("b",))
    known = label_columns(records, "node", {"node_labels": ("a", "b")})
    assert (known["node_labels"].tolist(), known["node_label_names"]) == ([1, -1], ("a", "b"))


def test_a_value_outside_the_known_names() -> None:
    codes, names = categories(["c"], ("a", "b"))
    assert (codes.tolist(), names) == ([0], ("c",))


def test_numbers_in_order_of_name_or_as_known() -> None:
    records = [{"x10": 1, "x2": 2, "label": 9, "thing": {}}]
    columns, notes = attribute_columns(records, "edge", {}, "owner")
    assert columns["edge_attributes"].tolist() == [[2, 1]]
    assert columns["edge_attribute_names"] == ("x2", "x10")
    why = "values of type dict are neither numbers nor texts"
    assert notes == (f"edge attribute 'thing' not used: {why}",)
    columns, _ = attribute_columns(records, "edge", {"edge_attributes": ("x10", "x2")}, "owner")
    assert columns["edge_attributes"].tolist() == [[1, 2]]


def test_known_columns_without_records() -> None:
    columns, _ = attribute_columns([], "edge", {"edge_attributes": ("a", "b")}, "owner")
    assert columns["edge_attributes"].shape == (0, 2)


@pytest.mark.parametrize("value", [[], None, {"a": 1}, object()])
def test_what_is_not_a_number(value: object) -> None:
    assert attribute_columns([{"x": value}], "node", {}, "owner")[0] == {}


def test_what_only_some_nodes_have_is_partial() -> None:
    columns, notes = attribute_columns([{"x": 1}, {}], "node", {}, "owner")
    assert set(columns) == {"partial_node_attributes", *PARTIAL["partial_node_attributes"]}
    assert columns["partial_node_names"] == ("x",)
    np.testing.assert_array_equal(columns["partial_node_attributes"], [[1], [np.nan]])
    assert notes == ("node attribute 'x' not used: 1 of 2 nodes has none",)


def test_classes_and_targets() -> None:
    columns = graph_columns([{"y": torch.tensor([2])}, {"y": np.int8(1)}], {}, "owner")
    assert columns["classes"].tolist() == [1, 0]
    columns = graph_columns([{"label": "a", "y": 3}, {"name": "second"}], {}, "owner")
    assert columns["classes"].tolist() == [0, -1]
    np.testing.assert_array_equal(columns["targets"], [[3.0], [np.nan]])
    assert columns["graph_names"] == ("", "second")


def test_dates_among_numbers_and_numbers_beyond_any_float() -> None:
    """A date was counted in days, and a whole number of 400 digits was an ``OverflowError``."""
    mixed = [{"a": 1.0}, {"a": np.datetime64("2020-01-01")}]
    columns, notes = attribute_columns(mixed, "node", {}, "g")
    assert (columns, "'a' not used: values of type datetime64" in notes[0]) == ({}, True)
    columns, _ = attribute_columns([{"a": 1.0}, {"a": 10**400}], "node", {}, "g")
    assert columns["node_attributes"].tolist() == [[1.0], [np.inf]]
