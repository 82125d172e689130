from __future__ import annotations

import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.errors import IGSDWarning, StorageError
from igsd.estimators import IGSD
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx
from tests.small_graphs import TINY, make_graphs


def star_and_edge() -> GraphSet:
    """Return a star of four nodes, labelled C N N N, and an edge C-C."""
    return from_edges(
        [4, 2],
        np.array([0, 0, 0, 4]),
        np.array([1, 2, 3, 5]),
        node_labels=np.array([0, 1, 1, 1, 0, 0], np.int32),
        node_label_names=("C", "N"),
    )


def test_counts_labels_and_degrees_side_by_side() -> None:
    histogram = LabelDegreeHistogram().fit(star_and_edge())
    counts = histogram.transform(star_and_edge())
    assert counts.tolist() == [[1, 3, 0, 3, 0, 1], [2, 0, 0, 2, 0, 0]]
    names = ["label C", "label N", "degree 0", "degree 1", "degree 2", "degree 3"]
    assert histogram.get_feature_names_out().tolist() == names


def test_large_degrees_share_the_last_column() -> None:
    counts = LabelDegreeHistogram(degree_cap=2).fit_transform(star_and_edge())
    assert counts[:, 2:].tolist() == [[0, 3, 1], [0, 2, 0]]


def test_equals_a_plain_loop() -> None:
    graphs = make_graphs(20, seed=3)
    counts = LabelDegreeHistogram().fit_transform(graphs)
    degrees = graphs.adjacency.degrees()
    for g in range(len(graphs)):
        expected = np.zeros(counts.shape[1])
        for node in range(graphs.node_ptr[g], graphs.node_ptr[g + 1]):
            expected[graphs.node_labels[node]] += 1
            expected[3 + degrees[node]] += 1
        assert counts[g].tolist() == expected.tolist()


def test_without_labels_only_degrees_are_counted() -> None:
    graphs = make_graphs(labels=False)
    counts = LabelDegreeHistogram().fit_transform(graphs)
    assert counts.sum(axis=1).tolist() == graphs.node_counts().tolist()


def test_a_label_never_seen_is_not_counted() -> None:
    histogram = LabelDegreeHistogram().fit(star_and_edge())
    other = from_edges(
        [1],
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
        node_labels=np.array([0], np.int32),
        node_label_names=("Xe",),
    )
    with pytest.warns(IGSDWarning, match="Not one node label"):
        assert histogram.transform(other).tolist() == [[0, 0, 1, 0, 0, 0]]


def test_its_own_graphs_are_no_news() -> None:
    """It counts no weights or directions, and said that its training graphs had none of them."""
    graph = nx.DiGraph([(0, 1, {"weight": 2.0}), (1, 2, {"weight": 3.0})])
    graphs = from_networkx([graph, graph])
    with pytest.warns(IGSDWarning, match="does not use the edge weights"):
        model = LabelDegreeHistogram().fit(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(graphs)


def test_an_igsd_model_is_no_histogram(tmp_path: Path) -> None:
    IGSD(**(TINY | {"epochs": 0})).fit(make_graphs()).save(tmp_path / "model")
    with pytest.raises(StorageError, match="not of LabelDegreeHistogram"):
        LabelDegreeHistogram.load(tmp_path / "model")
