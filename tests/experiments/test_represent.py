from __future__ import annotations

import numpy as np

from igsd.baselines.registry import build, configure
from igsd.experiments.represent import represent
from igsd.experiments.vectors import KernelMatrix, LinearVectors
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


def test_vectors_of_a_method(graphs: GraphSet) -> None:
    config = configure("graph2vec", "molecules", {"dim": 4, "epochs": 2, "min_count": 1})
    made = represent(graphs, "graph2vec", config, "nested")
    expected = build("graph2vec", config).fit(graphs).transform(graphs)
    np.testing.assert_array_equal(made.vectors(), expected)
    assert set(made.seconds) == {"train", "embed", "processor"}
    assert (made.kernel, made.notes, made.history) == ("rbf", (), [])


def test_the_kernel_of_a_method(graphs: GraphSet) -> None:
    made = represent(graphs, "wl", configure("wl", "molecules"), "nested")
    assert isinstance(made.vectors(), KernelMatrix)
    assert made.values.shape == (len(graphs), len(graphs))


def test_the_vectors_behind_a_kernel(graphs: GraphSet) -> None:
    config = configure("gckn", "molecules", {"num_anchors": 4})
    made = represent(graphs, "gckn", config, "gckn")
    assert isinstance(made.vectors(), LinearVectors)
    K = represent(graphs, "gckn", config, "nested").values
    np.testing.assert_allclose(made.values @ made.values.T, K, atol=1e-5)


def test_degrees_in_place_of_labels_are_told() -> None:
    made = represent(make_graphs(labels=False), "wl", configure("wl", "social"), "nested")
    assert len(made.notes) == 1
    assert "degree of each node stands in" in made.notes[0]


def test_losses_of_a_method_that_trains(graphs: GraphSet) -> None:
    changes = {"epochs": 2, "num_layers": 1, "hidden_dim": 4, "batch_size": 4}
    made = represent(graphs, "infograph", configure("infograph", "molecules", changes), "nested")
    assert [entry["epoch"] for entry in made.history] == [0, 1]
