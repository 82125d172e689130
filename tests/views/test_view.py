from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import ConfigError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view
from tests.reference import views as reference
from tests.views.strategies import graph_set, graph_sets, relabelled

KINDS = st.sampled_from(["ppr", "heat"])
# No threshold: rounding decides nothing, so whole matrices can be compared.
WHOLE = {"threshold": 0.0}
EMPTY = np.array([], np.int64)


def expected(graphs: GraphSet, graph: int, spec: ViewSpec) -> np.ndarray:
    T = reference.transition(reference.dense(graphs.adjacency, graphs.node_ptr, graph))
    S = reference.ppr(T, spec.teleport) if spec.kind == "ppr" else reference.heat(T, spec.heat_time)
    if spec.top_k is not None:
        return reference.top_k(S, spec.top_k)
    return reference.threshold(S, max(spec.threshold, 1e-12))


@settings(max_examples=40, deadline=None)
@given(graph_sets(), KINDS, st.sampled_from([0.0, 1e-3, 0.0437]), st.sampled_from([None, 1, 3]))
def test_view_equals_the_plain_reference(
    graphs: GraphSet, kind: str, threshold: float, top_k: int | None
) -> None:
    spec = ViewSpec(kind=kind, threshold=threshold, top_k=top_k)
    view = diffusion_view(graphs, spec)
    for g in range(len(graphs)):
        got = reference.dense(view, graphs.node_ptr, g)
        np.testing.assert_allclose(got, expected(graphs, g, spec), atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(graph_sets(), KINDS)
def test_view_is_a_valid_table_and_the_input_is_unchanged(graphs: GraphSet, kind: str) -> None:
    before = graphs.checksum
    view = diffusion_view(graphs, ViewSpec(kind=kind))
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    assert view.weight is not None
    assert (view.row_ptr.dtype, view.col.dtype) == (np.int64, np.int32)
    assert view.weight.dtype == np.float32
    assert len(view.row_ptr) == graphs.num_nodes + 1
    rows, cols = view.rows(), view.global_columns(graphs.node_ptr)
    keys = rows * graphs.num_nodes + cols
    assert (np.diff(keys) > 0).all()
    mirrored = np.argsort(cols * graphs.num_nodes + rows)
    np.testing.assert_array_equal(keys, (cols * graphs.num_nodes + rows)[mirrored])
    np.testing.assert_array_equal(view.weight, view.weight[mirrored])
    assert (view.weight >= 1e-3).all()


@settings(max_examples=30, deadline=None)
@given(graph_sets(), KINDS)
def test_square_roots_of_degrees_are_kept(graphs: GraphSet, kind: str) -> None:
    view = diffusion_view(graphs, ViewSpec(kind=kind, **WHOLE))
    d = np.sqrt(graphs.adjacency.degrees() + 1.0)
    product = np.bincount(
        view.rows(), view.weight * d[view.global_columns(graphs.node_ptr)], minlength=len(d)
    )
    np.testing.assert_allclose(product, d, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(graph_sets(), KINDS, st.sampled_from([None, 2]), st.integers(0, 1000))
def test_relabelling_nodes_relabels_the_view(
    graphs: GraphSet, kind: str, top_k: int | None, seed: int
) -> None:
    other, place = relabelled(graphs, seed)
    spec = ViewSpec(kind=kind, threshold=0.0123, top_k=top_k)
    view, moved = diffusion_view(graphs, spec), diffusion_view(other, spec)
    first = graphs.node_ptr
    for g in range(len(graphs)):
        p = place[first[g] : first[g + 1]] - first[g]
        S = reference.dense(view, first, g)
        np.testing.assert_allclose(reference.dense(moved, first, g)[np.ix_(p, p)], S, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(graph_sets(), KINDS, st.data())
def test_a_graphs_view_does_not_depend_on_its_set(
    graphs: GraphSet, kind: str, data: st.DataObject
) -> None:
    spec = ViewSpec(kind=kind)
    indices = np.array(data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1)))
    taken = diffusion_view(graphs, spec).take(graphs.node_ptr, indices)
    alone = diffusion_view(graphs.take(indices), spec)
    np.testing.assert_array_equal(taken.row_ptr, alone.row_ptr)
    np.testing.assert_array_equal(taken.col, alone.col)
    np.testing.assert_allclose(taken.weight, alone.weight, rtol=1e-6)


@pytest.mark.parametrize("kind", ["ppr", "heat"])
@pytest.mark.parametrize("extra", [{}, {"top_k": 1}, {"exact_limit": 0}])
def test_nodes_without_edges_keep_themselves(kind: str, extra: dict[str, int]) -> None:
    graphs = from_edges([1, 4, 3], np.array([5]), np.array([6]))
    view = diffusion_view(graphs, ViewSpec(kind=kind, **extra))
    assert reference.dense(view, graphs.node_ptr, 0).tolist() == [[pytest.approx(1.0)]]
    np.testing.assert_allclose(reference.dense(view, graphs.node_ptr, 1), np.eye(4), atol=1e-6)
    assert reference.dense(view, graphs.node_ptr, 2)[2, 2] == pytest.approx(1.0)


def test_many_graphs_in_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graph_set(list(range(1, 30)) * 3, 0.2, seed=5)
    whole = diffusion_view(graphs, ViewSpec())
    monkeypatch.setattr("igsd.views.batched.CHUNK_ENTRIES", 500)
    pieces = diffusion_view(graphs, ViewSpec())
    np.testing.assert_array_equal(whole.col, pieces.col)
    np.testing.assert_allclose(whole.weight, pieces.weight, rtol=1e-6)


def test_a_graph_larger_than_a_chunk_is_still_exact() -> None:
    n = 400
    ring = np.arange(n)
    graphs = from_edges([n, 1], ring, (ring + 1) % n)
    view = diffusion_view(graphs, ViewSpec(threshold=0.01))
    # A ring looks the same from every node.
    assert len(set(view.degrees()[:n].tolist())) == 1


def test_edge_weights_are_not_used() -> None:
    graphs = graph_set([6], 0.5, seed=0)
    weighted = replace(
        graphs,
        adjacency=replace(
            graphs.adjacency, weight=np.full(graphs.adjacency.num_entries, 7.0, np.float32)
        ),
    )
    np.testing.assert_array_equal(
        diffusion_view(graphs, ViewSpec()).weight, diffusion_view(weighted, ViewSpec()).weight
    )


def test_edge_drop_is_not_a_diffusion() -> None:
    graphs = from_edges([2], EMPTY, EMPTY)
    with pytest.raises(ConfigError, match="must be one of ppr, heat for a diffusion view"):
        diffusion_view(graphs, ViewSpec(kind="edge-drop"))
