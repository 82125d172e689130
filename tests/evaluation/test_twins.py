from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from igsd.evaluation import twins
from igsd.evaluation.twins import count_twins, twin_groups
from igsd.graphs.build import from_edges
from tests.reference.colour_refinement import wl_signature
from tests.small_graphs import make_graphs


def make_set(graphs):
    """Return the GraphSet of (number of nodes, edges, labels or None) triples."""
    counts = [n for n, _, _ in graphs]
    starts = np.concatenate([[0], np.cumsum(counts)])
    pairs = [(a + s, b + s) for s, (_, e, _) in zip(starts[:-1], graphs, strict=True) for a, b in e]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    labelled = graphs[0][2] is not None
    columns = {}
    if labelled:
        columns["node_labels"] = np.concatenate([labels for _, _, labels in graphs]).astype(
            np.int32
        )
        columns["node_label_names"] = tuple(range(int(columns["node_labels"].max()) + 1))
    return from_edges(counts, ends[:, 0], ends[:, 1], **columns)


TRIANGLES = (6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], None)
HEXAGON = (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], None)
PATH = (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], None)
STAR = (4, [(0, 1), (0, 2), (0, 3)], None)
STAR_AGAIN = (4, [(3, 1), (3, 2), (3, 0)], None)


def test_the_classical_twins():
    groups = twin_groups(make_set([PATH, TRIANGLES, STAR, HEXAGON, STAR_AGAIN]))
    assert groups.tolist() == [0, 1, 2, 1, 2]


def test_labels_tell_graphs_apart():
    one = (2, [(0, 1)], np.array([0, 1]))
    turned = (2, [(0, 1)], np.array([1, 0]))
    other = (2, [(0, 1)], np.array([1, 1]))
    assert twin_groups(make_set([one, turned, other])).tolist() == [0, 0, 1]


def test_edgeless_and_one_node_graphs():
    graphs = make_set([(1, [], None), (3, [], None), (1, [], None), (2, [(0, 1)], None)])
    assert twin_groups(graphs).tolist() == [0, 1, 0, 2]


def test_rounds_limit_how_far_it_sees(monkeypatch):
    tail = [(i, i + 1) for i in range(9)]
    shapes = [
        (11, [*tail, (4, 10)], None),
        (11, [*tail, (5, 10)], None),
        (11, [*tail, (2, 10)], None),
    ]
    graphs = make_set(shapes)
    assert twin_groups(graphs).tolist() == [0, 0, 1]
    monkeypatch.setattr(twins, "ROUNDS", 1)
    assert twin_groups(graphs).tolist() == [0, 0, 0]


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 5))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    edges = [pair for pair in pairs if draw(st.booleans())]
    labels = np.array([draw(st.integers(0, 1)) for _ in range(n)])
    return n, edges, labels


@given(st.lists(small_graphs(), min_size=1, max_size=8))
def test_equals_the_plain_loops(graphs):
    signatures = [wl_signature(*graph) for graph in graphs]
    order = list(dict.fromkeys(signatures))
    assert twin_groups(make_set(graphs)).tolist() == [order.index(s) for s in signatures]


@pytest.mark.skipif("IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder of data sets")
@pytest.mark.parametrize(
    ("name", "distinct"),
    [
        ("MUTAG", 175),
        ("PTC", 337),
        ("IMDB-BINARY", 537),
        ("IMDB-MULTI", 387),
        pytest.param("PROTEINS", 1069, marks=pytest.mark.slow),
        pytest.param("NCI1", 4039, marks=pytest.mark.slow),
    ],
)
def test_distinct_graphs_of_the_real_sets(name, distinct):
    from igsd.graphs.datasets import load_dataset

    assert twin_groups(load_dataset(name)).max() + 1 == distinct


def test_counts_groups_and_the_best_accuracy() -> None:
    base = make_graphs(4, seed=5, classes=True)
    graphs = replace(base.take([0, 0, 0, 1, 1, 2]), classes=np.array([0, 0, 1, 1, 1, 0]))
    twins = count_twins(graphs)
    assert (twins.graphs, twins.distinct, twins.shared, twins.largest) == (6, 3, 5, 3)
    assert twins.ceiling == 5 / 6


def test_no_ceiling_where_a_class_is_missing() -> None:
    graphs = make_graphs(4, classes=True)
    assert count_twins(replace(graphs, classes=np.array([0, 1, -1, 0]))).ceiling is None
    assert count_twins(graphs.without_labels()).ceiling is None
