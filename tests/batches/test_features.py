from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from igsd.batches.features import FeatureMap, choose_parts
from igsd.batches.links import LinkFeatures, coordinates
from igsd.batches.unseen import warn_of_unseen
from igsd.errors import ConfigError, DataError, IGSDWarning
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx
from tests.reference.features import node_vectors
from tests.small_graphs import make_batch, make_graphs, odd_graphs
from tests.small_molecules import BONDS, make_molecules

SMALL = LinkFeatures(("double", "single"), (1.5, 3.0))


def test_table_and_categories_by_hand() -> None:
    assert SMALL.num_bins == 3
    assert SMALL.num_categories == 9
    expected = [[*bond, *bin] for bond in ([1, 0], [0, 1], [0, 0]) for bin in np.eye(3).tolist()]
    assert SMALL.table().tolist() == expected
    bonds, distances = np.array([0, 1, 2, 1]), np.array([1.2, 1.5, 7.0, 2.9], np.float32)
    assert SMALL.categories(bonds, distances).tolist() == [0, 4, 8, 4]


def test_without_distances_and_without_anything() -> None:
    plain = LinkFeatures(("double", "single"))
    assert plain.table().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert plain.categories(np.array([1, 2]), None).tolist() == [1, 2]
    assert LinkFeatures().table().tolist() == [[1]]
    bare = make_molecules(coordinates=False, labels=False)
    assert LinkFeatures.fit(bare) == LinkFeatures()
    assert LinkFeatures().bond_codes(bare).tolist() == [0] * bare.adjacency.num_entries


def test_fit() -> None:
    graphs = make_molecules()
    fitted = LinkFeatures.fit(graphs, 6)
    assert fitted.bond_names == BONDS
    assert fitted.boundaries == (1.0, 2.25, 3.5, 4.75, 6.0)
    assert LinkFeatures.fit(graphs, 0).boundaries is None
    assert LinkFeatures.fit(make_molecules(coordinates=False)).boundaries is None
    with pytest.raises(ConfigError, match=r"0 \(no distances\) or at least 2. Got 1 instead"):
        LinkFeatures.fit(graphs, 1)


def test_labels_of_other_graphs() -> None:
    graphs = make_molecules()
    other = replace(graphs, edge_label_names=("dative", "single", "double", "ionic"))
    assert graphs.edge_labels is not None
    expected = np.array([2, 1, 0, 2])[graphs.edge_labels]
    assert SMALL.bond_codes(other).tolist() == expected.tolist()
    assert [SMALL.bond_code(name) for name in ("single", "ionic")] == [1, 2]
    with pytest.raises(DataError, match="trained on graphs with edge labels, but 'molecules'"):
        SMALL.bond_codes(make_molecules(labels=False))


def test_coordinates() -> None:
    graphs = make_molecules()
    assert graphs.node_attributes is not None
    np.testing.assert_array_equal(SMALL.positions(graphs), graphs.node_attributes)
    mixed = replace(
        graphs,
        node_attributes=np.concatenate(
            [graphs.node_attributes[:, :1] * 0, graphs.node_attributes], 1
        ),
        node_attribute_names=("charge", "x", "y", "z"),
    )
    np.testing.assert_array_equal(coordinates(mixed), graphs.node_attributes)
    assert coordinates(make_molecules(coordinates=False)) is None
    assert LinkFeatures(BONDS).positions(graphs) is None
    with pytest.raises(DataError, match="trained on molecules with coordinates"):
        SMALL.positions(make_molecules(coordinates=False))


@pytest.mark.parametrize("links", [SMALL, LinkFeatures(), LinkFeatures(("a", 1))])
def test_through_json(links: LinkFeatures) -> None:
    assert LinkFeatures.from_json(json.loads(json.dumps(links.to_json()))) == links


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


def test_labels_without_names_are_refused() -> None:
    graphs = replace(make_graphs(3), node_label_names=())
    with pytest.raises(DataError, match=r"has node labels without names: .* Got 0 names for code"):
        FeatureMap(("label",), (0, 1)).transform(graphs)


def test_degrees_by_hand() -> None:
    assert make_batch(PATH).x.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("graphs", "parts"),
    [
        (make_graphs(2), ("label", "degree")),
        (make_graphs(2, attributes=2), ("label", "degree", "attributes")),
        (make_graphs(2, labels=False, attributes=2), ("degree", "attributes")),
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


def dots(labels: list[int], names: tuple[str | int, ...]) -> GraphSet:
    """Return a graph of isolated nodes with these labels."""
    none = np.zeros(0, np.int64)
    return from_edges(
        [len(labels)],
        none,
        none,
        node_labels=np.array(labels, np.int32),
        node_label_names=names,
        name="new",
    )


FEATURES = FeatureMap.fit(dots([0, 1], ("C", "N")), "label")


def test_some_are_unseen() -> None:
    new = dots([0, 1, 1, 2, -1], ("C", "Xx", "Yy"))
    message = r"3 of 5 nodes of 'new' .* not seen \(Xx, Yy\): they count as no label"
    with pytest.warns(IGSDWarning, match=message):
        warn_of_unseen(FEATURES, new)


def test_what_training_graphs_did_not_carry_is_told() -> None:
    """A model of bare graphs does not see the weights, attributes and directions of later ones."""
    bare = from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
    graph = nx.DiGraph()
    graph.add_edge(0, 1, weight=2.0, since=1.0)
    graph.add_edge(1, 2, weight=1.0, since=3.0)
    nx.set_node_attributes(graph, {0: 1.0, 1: 5.0, 2: 3.0}, "age")
    features = FeatureMap.fit(bare)
    message = "'since', edge attribute 'weight', node attribute 'age', edge direction. Train on"
    with pytest.warns(IGSDWarning, match=message):
        warn_of_unseen(features, from_networkx([graph]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unseen(features, bare)


def test_all_are_unseen() -> None:
    message = r"Not one node label of 'new' .*: it has 6, 7, the model knows C, N"
    with pytest.warns(IGSDWarning, match=message):
        warn_of_unseen(FEATURES, dots([0, 1, -1], (6, 7)))


@pytest.mark.parametrize(
    ("features", "graphs"),
    [
        (FEATURES, dots([0, -1], ("N", "Xx"))),
        (FEATURES, dots([-1, -1], ("Xx",))),
        (FeatureMap.fit(dots([0], ("C",)), "degree"), dots([0], ("Xx",))),
    ],
)
def test_nothing_to_say(features: FeatureMap, graphs: GraphSet) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unseen(features, graphs)


@pytest.mark.parametrize(
    ("trained", "new", "message"),
    [
        (
            (1.5, 2.5),
            ("old", "new"),
            "'mark' is the text 'new' in '.*', but the model was trained on numbers",
        ),
        (
            (1.5, 2.5),
            (True, False),
            "'mark' is the text .* in '.*', but the model was trained on numbers",
        ),
        (
            ("old", "new"),
            (1.5, 2.5),
            "'mark' is numbers in '.*', but the model was trained on 'new'",
        ),
    ],
)
@pytest.mark.parametrize("what", ["node", "edge"])
def test_numbers_and_texts_are_not_mistaken_for_each_other(
    what: str, trained: tuple[Any, Any], new: tuple[Any, Any], message: str
) -> None:
    """The code of a text was read as a number, and a number as a text that was never seen."""

    def marked(values: Any) -> GraphSet:
        graph = nx.path_graph(4)
        mark = nx.set_node_attributes if what == "node" else nx.set_edge_attributes
        places = graph.nodes if what == "node" else graph.edges
        mark(graph, {place: values[n % 2] for n, place in enumerate(places)}, "mark")
        return from_networkx([graph, graph])

    if what == "node":
        read = FeatureMap.fit(marked(trained)).transform
    else:
        read = LinkFeatures.fit(marked(trained)).bond_codes
    read(marked(trained))
    with pytest.raises(DataError, match=f"The {what} attribute {message}"):
        read(marked(new))


def members() -> GraphSet:
    """Return two graphs whose nodes have numbers, texts and booleans, and whose edges weights."""
    first, second = nx.path_graph(3), nx.path_graph(2)
    for place, (graph, v) in enumerate((g, v) for g in (first, second) for v in g):
        graph.nodes[v].update(age=float(place), club="xyz"[place % 2], vip=place < 2)
    for graph in (first, second):
        nx.set_edge_attributes(graph, 3.0, "weight")
    return from_networkx([first, second], name="members")


def test_every_kind_of_attribute_by_hand() -> None:
    graphs = members()
    features = FeatureMap.fit(graphs, edge_weight="weight")
    assert features.parts == ("degree", "attributes")
    assert features.categories == (("club", ("x", "y")), ("vip", (False, True)))
    assert (features.attribute_names, features.edge_weight) == (("age",), "weight")
    x = make_batch(graphs, features=features).x.numpy()
    # degree 0 to 2; x, y, unseen; False, True, unseen; strength; age
    assert x.shape == (5, features.dim) == (5, 11)
    np.testing.assert_array_equal(x[0, :9], [0, 1, 0, 1, 0, 0, 0, 1, 0])
    strengths = np.log1p([3, 6, 3, 3, 3])
    ages = np.arange(5.0)
    for column, values in ((9, strengths), (10, ages)):
        expected = (values - values.mean()) / values.std()
        np.testing.assert_allclose(x[:, column], expected, rtol=1e-6)
    assert features.used == (
        "of nodes: degree (0 to 2), strength, age, club (2 kinds), vip (2 kinds); of edges: weight"
    )


def test_a_value_not_seen_in_training_has_its_own_column() -> None:
    features = FeatureMap.fit(members(), "attributes", attributes="club")
    other = members()
    other = replace(other, node_category_names=((), ("x", "Y"), (False, True)))
    x = make_batch(other, features=features).x.numpy()
    assert x.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("name", ["club", "age"])
def test_graphs_without_an_attribute_of_training(name: str) -> None:
    features = FeatureMap.fit(members(), "attributes", attributes=name)
    message = f"has no node attribute '{name}', which the model was trained on; there are: none"
    with pytest.raises(DataError, match=message):
        features.transform(from_networkx([nx.path_graph(5)]))


def test_attributes_are_found_by_name() -> None:
    graphs = members()
    assert graphs.node_attributes is not None
    turned = replace(
        graphs,
        node_attributes=np.asarray(graphs.node_attributes[:, ::-1]),
        node_attribute_names=graphs.node_attribute_names[::-1],
        node_category_names=graphs.node_category_names[::-1],
    )
    features = FeatureMap.fit(graphs)
    one, two = (make_batch(each, features=features).x for each in (graphs, turned))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("attributes", "used", "unused"),
    [
        ("age", ("age",), ["club", "vip"]),
        ("vip, age", ("age",), ["club"]),
        ("none", (), ["age", "club", "vip"]),
    ],
)
def test_what_is_left_out_has_a_line(
    attributes: str, used: tuple[str, ...], unused: list[str]
) -> None:
    features = FeatureMap.fit(members(), attributes=attributes)
    assert features.attribute_names == used
    assert [line.split("'")[1] for line in features.unused] == unused
    assert str(features).splitlines()[1:] == list(features.unused)


def test_named_attributes_join_any_recipe() -> None:
    assert FeatureMap.fit(members(), "degree", attributes="age").parts == ("degree", "attributes")
    with pytest.raises(DataError, match=r"attribute 'Age' is not usable.*Did you mean 'age'"):
        FeatureMap.fit(members(), attributes="Age")
    with pytest.raises(ConfigError, match="chemistry"):
        choose_parts(replace(members(), graph_names=("C", "C")), "chemistry", "age")


def test_dates_are_refused_by_name() -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, "2020-01-01", "born")
    with pytest.raises(DataError, match=r"'born' is not usable.*dates"):
        FeatureMap.fit(from_networkx([graph]), attributes="born")


def test_texts_that_name_nodes_are_not_taken() -> None:
    graph = nx.path_graph(150)
    nx.set_node_attributes(graph, {v: f"person {v}" for v in graph}, "who")
    graphs = from_networkx([graph])
    features = FeatureMap.fit(graphs)
    assert features.parts == ("degree",)
    assert "150 different values" in features.unused[0]
    assert FeatureMap.fit(graphs, attributes="who").dim == 3 + 151


def test_coordinates_are_not_taken_for_attributes() -> None:
    features = FeatureMap.fit(make_molecules())
    assert features.parts == ("label", "degree")
    assert len(features.unused) == 3


def test_all_of_it_through_json() -> None:
    graphs = members()
    links = LinkFeatures.fit(graphs, 0)
    features = FeatureMap.fit(graphs, edge_weight="weight").with_edges(
        graphs, links, "gine", "both"
    )
    assert FeatureMap.from_json(json.loads(json.dumps(features.to_json()))) == features


def test_edges_of_weight_zero_are_left_out_beside_ones() -> None:
    """The weights that were left were all 1, so later the set was taken for one without weights."""
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(0, 1): 1, (1, 2): 0, (2, 3): 1}, "weight")
    graphs = from_networkx([graph])
    features = FeatureMap.fit(graphs, edge_weight="weight")
    assert features.edge_weight == "weight"
    assert features.prepared(graphs).num_edges == 2
    nx.set_edge_attributes(graph, 0, "weight")
    empty = FeatureMap.fit(from_networkx([graph]), edge_weight="weight")
    assert empty.unused == ("all edges not used: a weight of 0 counts as no edge",)
