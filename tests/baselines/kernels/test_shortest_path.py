from __future__ import annotations

import warnings

import numpy as np
import pytest

from igsd.baselines.kernels.paths import ShortestPathKernel
from igsd.errors import IGSDWarning
from igsd.graphs.build import from_edges
from igsd.limits import MemoryLimitError, TimeLimitError, limits
from tests.reference.grakel_graphs import to_grakel
from tests.small_graphs import make_graphs


def test_worked_by_hand() -> None:
    # C-C-N: (C,C,1) twice, (C,N,1), (N,C,1), (C,N,2), (N,C,2). C-N: (C,N,1), (N,C,1).
    graphs = from_edges(
        [3, 2],
        np.array([0, 1, 3]),
        np.array([1, 2, 4]),
        node_labels=np.array([0, 0, 1, 0, 1], np.int32),
        node_label_names=("C", "N"),
    )
    kernel = ShortestPathKernel(normalise=False).fit(graphs)
    assert kernel.kernel(graphs).tolist() == [[8, 2], [2, 2]]


def test_equals_grakel() -> None:
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(30, seed=2)
    theirs = grakel.ShortestPath(with_labels=True).fit_transform(to_grakel(graphs))
    ours = ShortestPathKernel(normalise=False).fit(graphs)
    np.testing.assert_array_equal(ours.kernel(graphs), theirs)


def test_a_graph_without_paths_is_like_no_other() -> None:
    graphs = from_edges([2, 2], np.array([2]), np.array([3]), node_labels=np.zeros(4, np.int32))
    K = ShortestPathKernel().fit(graphs).kernel(graphs)
    assert K.tolist() == [[0, 0], [0, 1]]


def test_graphs_without_any_path_are_told() -> None:
    """Vectors without a column came without a word, or with one about node labels."""
    none = np.array([], np.int64)
    graphs = from_edges([2, 3], none, none, node_labels=np.zeros(5, np.int32))
    with pytest.warns(IGSDWarning, match="ShortestPathKernel has nothing to count in .*edges"):
        kernel = ShortestPathKernel().fit(graphs)
    assert len(kernel.notes_) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel.transform(graphs).shape == (2, 0)
        assert kernel.kernel(graphs).tolist() == [[0, 0], [0, 0]]


def test_limits_end_in_the_words_of_the_table() -> None:
    graphs = make_graphs(30)
    kernel = ShortestPathKernel().fit(graphs)
    with limits(memory_gib=1e-6), pytest.raises(MemoryLimitError, match=r"^OMR: .*pairs of nodes"):
        kernel.kernel(graphs)
    with (
        limits(seconds=1e-9),
        pytest.raises(TimeLimitError, match=r"^> limit: the shortest-path"),
    ):
        kernel.kernel(graphs)
    assert kernel.kernel(graphs).shape == (30, 30)
