from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.baselines.kernels.patterns import DegreeFallbackWarning
from igsd.baselines.kernels.wl import WLKernel, WLOptimalAssignment
from igsd.errors import ConfigError, IGSDWarning
from igsd.graphs.build import from_edges
from igsd.graphs.colours import wl_colours
from igsd.graphs.graphset import GraphSet
from tests.reference.grakel_graphs import adjacency_matrices, to_grakel
from tests.small_graphs import make_graphs, relabelled


def by_tuples(A: np.ndarray, labels: np.ndarray, levels: int) -> list[list[object]]:
    """Return the colours of one graph as nested tuples, level by level."""
    colours: list[object] = [(int(label),) for label in labels]
    result = [colours]
    for _ in range(levels):
        colours = [
            (colours[v], tuple(sorted((colours[u] for u in np.flatnonzero(A[v])), key=repr)))
            for v in range(len(A))
        ]
        result.append(colours)
    return result


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9999))
def test_equal_where_nested_tuples_are_equal(seed: int) -> None:
    graphs = make_graphs(6, seed=seed)
    hashes = wl_colours(graphs, "label", 3)
    tuples: list[list[object]] = [[] for _ in range(4)]
    for g, A in enumerate(adjacency_matrices(graphs)):
        labels = graphs.node_labels[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        for level, colours in enumerate(by_tuples(A, labels, 3)):
            tuples[level] += colours
    for level in range(4):
        pairs = set(zip(hashes[level].tolist(), map(repr, tuples[level]), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_a_colour_does_not_depend_on_the_set() -> None:
    graphs = make_graphs(6)
    whole = wl_colours(graphs, "label", 2)
    one = graphs.take([3])
    alone = wl_colours(one, "label", 2)
    np.testing.assert_array_equal(alone, whole[:, graphs.node_ptr[3] : graphs.node_ptr[4]])


def two_paths() -> GraphSet:
    """Return the paths C-C-N and C-N."""
    return from_edges(
        [3, 2],
        np.array([0, 1, 3]),
        np.array([1, 2, 4]),
        node_labels=np.array([0, 0, 1, 0, 1], np.int32),
        node_label_names=("C", "N"),
    )


def test_worked_by_hand() -> None:
    # Level 0: G has C C N, H has C N: 2 * 1 + 1 * 1 = 3; G with itself 5, H with itself 2.
    # Level 1: G has C(C) C(CN) N(C), H has C(N) N(C): N(C) is shared, 1; themselves 3 and 2.
    # Level 2: the N of G has another neighbour than the N of H: 0; themselves 3 and 2.
    for iterations, expected in enumerate(([[5, 3], [3, 2]], [[8, 4], [4, 4]], [[11, 4], [4, 6]])):
        kernel = WLKernel(iterations=iterations, normalise=False).fit(two_paths())
        assert kernel.kernel(two_paths()).tolist() == expected


def test_normalised() -> None:
    K = WLKernel(iterations=0).fit(two_paths()).kernel(two_paths())
    np.testing.assert_allclose(K, [[1, 3 / np.sqrt(10)], [3 / np.sqrt(10), 1]])


@pytest.mark.parametrize("labels", [True, False])
def test_equals_grakel(labels: bool) -> None:
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(30, seed=1, labels=labels)
    theirs = grakel.WeisfeilerLehman(n_iter=4).fit_transform(to_grakel(graphs))
    ours = WLKernel(iterations=4, normalise=False)
    if labels:
        ours.fit(graphs)
    else:
        with pytest.warns(DegreeFallbackWarning, match="has no node labels"):
            ours.fit(graphs)
    np.testing.assert_array_equal(ours.kernel(graphs), theirs)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    graphs = make_graphs(5, seed=seed)
    kernel = WLKernel().fit(graphs)
    shuffled = relabelled(graphs, seed)
    np.testing.assert_array_equal(kernel.kernel(shuffled), kernel.kernel(graphs))
    np.testing.assert_array_equal(kernel.transform(shuffled), kernel.transform(graphs))


def test_codes_of_labels_do_not_matter() -> None:
    graphs = two_paths()
    swapped = from_edges(
        [3, 2],
        np.array([0, 1, 3]),
        np.array([1, 2, 4]),
        node_labels=np.array([1, 1, 0, 1, 0], np.int32),
        node_label_names=("N", "C"),
    )
    kernel = WLKernel(normalise=False).fit(graphs)
    np.testing.assert_array_equal(kernel.kernel(swapped, graphs), kernel.kernel(graphs))


def test_columns_are_the_most_common_patterns() -> None:
    kernel = WLKernel(iterations=1, max_features=3, normalise=False).fit(two_paths())
    # C, N and N(C) stand in both graphs, C twice in the first.
    rows = kernel.transform(two_paths())
    assert sorted(rows[0].tolist()) == [1, 1, 2]
    assert rows[1].tolist() == [1, 1, 1]


def test_says_that_degrees_stand_in_for_labels() -> None:
    plain = make_graphs(labels=False, name="plain")
    with pytest.warns(DegreeFallbackWarning, match=r"'plain' has no node labels: node degrees"):
        kernel = WLKernel().fit(plain)
    assert "degree" in kernel.notes_[0]


def test_a_parameter_changed_after_fit_waits_for_the_next_fit() -> None:
    graphs = make_graphs()
    kernel = WLKernel(iterations=1).fit(graphs)
    before = kernel.kernel(graphs)
    kernel.set_params(iterations=4)
    np.testing.assert_array_equal(kernel.kernel(graphs), before)
    assert not np.array_equal(kernel.fit(graphs).kernel(graphs), before)


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("iterations", -1, "at least 0"),
        ("iterations", 1.5, "a whole number"),
        ("normalise", "yes", "true or false"),
        ("max_features", 0, "at least 1"),
        ("random_state", "0", "a whole number"),
    ],
)
def test_wrong_parameters(parameter: str, value: object, rule: str) -> None:
    with pytest.raises(ConfigError, match=f"'{parameter}' parameter of WLKernel must be {rule}"):
        WLKernel(**{parameter: value}).fit(two_paths())


def test_graphs_of_another_world_are_told() -> None:
    known = make_graphs(4)
    other = replace(known, node_label_names=("x", "y", "z"))
    with pytest.warns(IGSDWarning, match="was seen in training: all its vectors are zero"):
        WLKernel().fit(known).transform(other)


def test_optimal_assignment_by_hand() -> None:
    # Level 0: min(2, 1) + min(1, 1) = 2; level 1: 1; level 2: 0. A graph has itself on each level.
    kernel = WLOptimalAssignment(iterations=2, normalise=False).fit(two_paths())
    assert kernel.kernel(two_paths()).tolist() == [[9, 3], [3, 6]]


def test_assignment_equals_grakel() -> None:
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(30, seed=1)
    theirs = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=3).fit_transform(to_grakel(graphs))
    ours = WLOptimalAssignment(iterations=3, normalise=False).fit(graphs)
    np.testing.assert_array_equal(ours.kernel(graphs), theirs)
