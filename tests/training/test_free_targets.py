from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.training import free_targets
from igsd.training.free_targets import CUT, ELEMENTS, geometry_labels, molecule_numbers
from tests.small_molecules import make_molecules


@pytest.fixture(scope="module")
def molecules() -> GraphSet:
    return make_molecules(30)


def water() -> GraphSet:
    """Return O at the origin and H at distances of 1 and 2 on two axes."""
    return from_edges(
        [3],
        np.array([0, 0]),
        np.array([1, 2]),
        node_labels=np.array([1, 0, 0], np.int32),
        node_label_names=("H", "O"),
        node_attributes=np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]], np.float32),
        node_attribute_names=("x", "y", "z"),
        edge_labels=np.array([0, 0]),
        edge_label_names=("single",),
        name="water",
    )


def test_the_numbers_of_water() -> None:
    found = {name: table[0] for name, table in molecule_numbers(water()).items()}
    assert found["elements"].tolist() == [2, 1]
    assert found["bonds"].tolist() == [2]
    assert found["energy"] == pytest.approx([0.5 * (8**2.4 + 2)])
    # The centre of the charges is at (0.1, 0.2); both second moments are taken about it.
    xx, yy, xy = 1 - 0.1, 4 - 0.4, -10 * 0.1 * 0.2
    moments = np.linalg.eigvalsh(np.array([[0.0, 0, 0], [0, xx, xy], [0, xy, yy]]))
    assert found["shape"][0] == pytest.approx(xx + yy)
    assert found["shape"][1:4] == pytest.approx(np.sqrt(moments), abs=1e-6)
    assert found["shape"][4] == pytest.approx(8 / 1 + 8 / 2 + 1 / math.sqrt(5))
    pull = ELEMENTS["O"][1] - ELEMENTS["H"][1]
    assert found["charges"] == pytest.approx([pull * math.sqrt(5), pull**2 * (4 + 1 + 1)])


def test_double_bonds_draw_more() -> None:
    double = replace(water(), edge_label_names=("double",))
    single, more = (molecule_numbers(graphs)["charges"] for graphs in (water(), double))
    np.testing.assert_allclose(more, single * [math.sqrt(2), 2])


def test_surroundings_are_counted(molecules: GraphSet) -> None:
    rows = molecules.adjacency.rows()
    columns = molecules.adjacency.global_columns(molecules.node_ptr)
    kinds, bonds = np.asarray(molecules.node_labels), np.asarray(molecules.edge_labels)
    around = [
        (kinds[v], tuple(sorted(zip(kinds[columns[rows == v]], bonds[rows == v], strict=True))))
        for v in range(molecules.num_nodes)
    ]
    bags = [Counter(around[a:b]) for a, b in pairwise(molecules.node_ptr)]
    frequent = Counter(around).most_common(free_targets._MOST_SURROUNDINGS)
    found = molecule_numbers(molecules)["surroundings"]
    assert found.shape == (30, len(frequent))
    assert sorted(found.sum(axis=0)) == sorted(count for _, count in frequent)
    if len(set(around)) <= free_targets._MOST_SURROUNDINGS:
        assert found.sum(axis=1).tolist() == [sum(bag.values()) for bag in bags]


def test_pairs_are_those_of_a_plain_loop(
    molecules: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_targets, "_NODES", 9)  # several chunks
    found = molecule_numbers(molecules)
    places = np.asarray(molecules.node_attributes, np.float64)
    kinds, names = np.asarray(molecules.node_labels), molecules.node_label_names
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    near = np.zeros((30, len(pairs), len(free_targets._BUMPS)))
    repulsion = np.zeros(30)
    for g, (start, stop) in enumerate(pairwise(molecules.node_ptr)):
        for i in range(start, stop):
            for j in range(i + 1, stop):
                distance = math.dist(places[i], places[j])
                z = [ELEMENTS[str(names[kinds[v]])][0] for v in (i, j)]
                repulsion[g] += z[0] * z[1] / distance
                low, high = sorted((kinds[i], kinds[j]))
                for k, (centre, width) in enumerate(free_targets._BUMPS):
                    bump = math.exp(-(((distance - centre) / width) ** 2))
                    near[g, pairs.index((low, high)), k] += bump
    np.testing.assert_allclose(found["shape"][:, 4], repulsion)
    expected = np.log1p(near).reshape(30, -1)
    order, like = (np.lexsort(table.round(9)) for table in (found["distances"], expected))
    np.testing.assert_allclose(found["distances"][:, order], expected[:, like], atol=1e-9)


def test_position_and_order_of_the_set_do_not_matter(molecules: GraphSet) -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    moved = np.asarray(molecules.node_attributes) @ turn + [5.0, -3.0, 1.0]
    turned = replace(molecules, node_attributes=moved.astype(np.float32))
    expected = geometry_labels(molecules).values
    np.testing.assert_allclose(geometry_labels(turned).values, expected, atol=1e-3)
    order = np.random.default_rng(1).permutation(len(molecules))
    # Groups of one molecule have no order; the columns of the same set have the same one.
    for name, table in molecule_numbers(molecules.take(order)).items():
        same = molecule_numbers(molecules)[name]
        np.testing.assert_allclose(np.sort(table.sum(axis=0)), np.sort(same.sum(axis=0)))


def test_targets_are_standardised(molecules: GraphSet) -> None:
    found = geometry_labels(molecules).values
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=0.2)  # before the cut exactly 0
    assert np.square(found).mean() == pytest.approx(1)
    np.testing.assert_array_equal(found, geometry_labels(molecules).values)


def test_rare_elements_are_cut_off() -> None:
    many = make_molecules(200, seed=1)
    kinds = np.zeros(many.num_nodes, np.int32)
    kinds[0] = 1
    found = geometry_labels(replace(many, node_labels=kinds)).values
    one = np.sqrt(np.square(found).mean(axis=0).max())  # of a column with the largest weight
    assert np.abs(found).max() < 2 * CUT * one


def test_other_graphs_are_refused(molecules: GraphSet) -> None:
    with pytest.raises(DataError, match=r"'molecules' lacks coordinates.*pretraining_targets"):
        geometry_labels(make_molecules(coordinates=False))
    named = replace(molecules, node_label_names=("C", "Xx", "O"))
    with pytest.raises(DataError, match="has atoms Xx"):
        geometry_labels(named)
    with pytest.raises(DataError, match="all the same"):
        geometry_labels(molecules.take([3, 3]))
