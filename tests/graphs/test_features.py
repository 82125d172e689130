from __future__ import annotations

import json

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.graphs.build import from_edges
from igsd.graphs.features import FeatureMap, choose_parts
from igsd.graphs.graphset import GraphSet
from tests.reference.features import node_vectors
from tests.small_graphs import make_batch, make_graphs, odd_graphs

PATH = from_edges([3], np.array([0, 1]), np.array([1, 2]), name="path")


def labelled(labels: list[int], names: tuple[str, ...]) -> GraphSet:
    return from_edges(
        [len(labels)],
        np.zeros(0, int),
        np.zeros(0, int),
        node_labels=np.array(labels, np.int32),
        node_label_names=names,
        name="labelled",
    )


@pytest.mark.parametrize(
    "nodes",
    [
        "auto",
        "label",
        "degree",
        "attributes",
        "constant",
        "label+degree",
        "degree+label+attributes+constant",
    ],
)
def test_equals_the_plain_loop(nodes: str) -> None:
    graphs = make_graphs(attributes=2)
    expected = node_vectors(FeatureMap.fit(graphs, nodes), graphs)
    batch = make_batch(graphs, nodes=nodes)
    np.testing.assert_allclose(batch.x.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_degrees_by_hand() -> None:
    assert make_batch(PATH).x.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("graphs", "parts"),
    [
        (make_graphs(2), ("label", "degree")),
        (make_graphs(2, attributes=2), ("label", "degree")),
        (make_graphs(2, labels=False, attributes=2), ("attributes",)),
        (make_graphs(2, labels=False), ("degree",)),
    ],
)
def test_auto_takes_what_the_data_has(graphs: GraphSet, parts: tuple[str, ...]) -> None:
    assert choose_parts(graphs, "auto") == parts


def test_order_of_the_names_does_not_count() -> None:
    graphs = make_graphs(3)
    assert FeatureMap.fit(graphs, "degree+label") == FeatureMap.fit(graphs, "label+degree")


def test_degree_cap_shares_the_last_column() -> None:
    assert FeatureMap.fit(PATH, "degree", degree_cap=1).dim == 2
    assert FeatureMap.fit(PATH, "degree", degree_cap=64).dim == 3
    star = from_edges([5], np.zeros(4, int), np.arange(1, 5))
    codes = FeatureMap.fit(PATH, "degree").transform(star).codes
    assert codes.ravel().tolist() == [2, 1, 1, 1, 1]


def test_edgeless_graphs_have_degree_0() -> None:
    odd = odd_graphs().take([0, 1])
    features = FeatureMap.fit(odd)
    assert features.dim == 1
    assert features.transform(odd).codes.ravel().tolist() == [0, 0, 0, 0]


def test_labels_are_matched_by_name_and_not_by_code() -> None:
    features = FeatureMap.fit(labelled([0, 1], ("C", "N")), "label")
    assert features.transform(labelled([0, 1], ("N", "C"))).codes.ravel().tolist() == [1, 0]


def test_unseen_and_missing_labels_are_all_zero() -> None:
    features = FeatureMap.fit(labelled([0, 1], ("C", "N")), "label")
    new = labelled([0, 1, -1], ("Br", "N"))
    assert features.transform(new).codes.ravel().tolist() == [-1, 1, -1]


def test_unseen_label_keeps_its_other_parts() -> None:
    features = FeatureMap.fit(labelled([0, 1], ("C", "N")), "label+degree")
    assert features.transform(labelled([0], ("Br",))).codes.tolist() == [[-1, 2]]


def test_attributes_are_standardised_by_training_alone() -> None:
    def numbers(values: list[float]) -> GraphSet:
        column = np.array([[v, 5.0] for v in values], np.float32)
        return from_edges([len(values)], np.zeros(0, int), np.zeros(0, int), node_attributes=column)

    features = FeatureMap.fit(numbers([1.0, 3.0]))
    assert features.attribute_mean == (2.0, 5.0)
    assert features.attribute_scale == (
        1.0,
        1.0,
    )  # a constant column is centred, never divided by 0
    dense = features.transform(numbers([2.0, 4.0])).dense
    assert dense is not None
    assert dense.tolist() == [[0.0, 0.0], [2.0, 0.0]]


def test_survives_json() -> None:
    features = FeatureMap.fit(make_graphs(3, attributes=2), "label+degree+attributes")
    assert FeatureMap.from_json(json.loads(json.dumps(features.to_json()))) == features


def test_set_without_labels_is_refused_by_name() -> None:
    features = FeatureMap.fit(labelled([0, 1], ("C", "N")))
    with pytest.raises(DataError, match=r"'path' has none"):
        features.transform(PATH)


def test_other_number_of_attributes_is_refused() -> None:
    features = FeatureMap.fit(make_graphs(3, labels=False, attributes=2))
    with pytest.raises(DataError, match="2 node attributes, 'graphs' has 3"):
        features.transform(make_graphs(3, labels=False, attributes=3))
    with pytest.raises(DataError, match=r"'path' has none.*same attributes"):
        features.transform(PATH)


@pytest.mark.parametrize("nodes", ["colour", "label+label", "", "label+", "Label"])
def test_unknown_parts_are_refused(nodes: str) -> None:
    with pytest.raises(ConfigError, match="node_features"):
        choose_parts(make_graphs(2), nodes)


@pytest.mark.parametrize("nodes", ["label", "attributes+degree"])
def test_asking_for_what_is_not_there_is_refused(nodes: str) -> None:
    with pytest.raises(DataError, match="'path' has none"):
        choose_parts(PATH, nodes)
