from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import igsd.views.cache as cache
from igsd.errors import ConfigError, StorageError
from igsd.files.arrays import write_arrays
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.cache import cached_view, diffusion_view, view_key, view_path
from tests.reference import views as reference
from tests.small_graphs import from_matrix, weighted_matrix
from tests.views.strategies import graph_set, graph_sets, relabelled

KINDS = st.sampled_from(["ppr", "heat"])
# No threshold: rounding decides nothing, so whole matrices can be compared.
WHOLE = {"threshold": 0.0}
EMPTY = np.array([], np.int64)


def expected(graphs: GraphSet, graph: int, spec: View) -> np.ndarray:
    T = reference.transition(reference.dense(graphs.adjacency, graphs.node_ptr, graph))
    S = reference.ppr(T, spec.teleport) if spec.view == "ppr" else reference.heat(T, spec.heat_time)
    if spec.top_k:
        return reference.top_k(S, spec.top_k)
    return reference.threshold(S, max(spec.threshold, 1e-12))


@settings(max_examples=40, deadline=None)
@given(graph_sets(), KINDS, st.sampled_from([0.0, 1e-3, 0.0437]), st.sampled_from([0, 1, 3]))
def test_view_equals_the_plain_reference(
    graphs: GraphSet, kind: str, threshold: float, top_k: int
) -> None:
    spec = View(view=kind, threshold=threshold, top_k=top_k)
    view = diffusion_view(graphs, spec)
    for g in range(len(graphs)):
        got = reference.dense(view, graphs.node_ptr, g)
        np.testing.assert_allclose(got, expected(graphs, g, spec), atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(graph_sets(), KINDS)
def test_view_is_a_valid_table_and_the_input_is_unchanged(graphs: GraphSet, kind: str) -> None:
    before = graphs.checksum
    view = diffusion_view(graphs, View(view=kind))
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
    view = diffusion_view(graphs, View(view=kind, **WHOLE))
    d = np.sqrt(graphs.adjacency.degrees() + 1.0)
    product = np.bincount(
        view.rows(), view.weight * d[view.global_columns(graphs.node_ptr)], minlength=len(d)
    )
    np.testing.assert_allclose(product, d, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(graph_sets(), KINDS, st.sampled_from([0, 2]), st.integers(0, 1000))
def test_relabelling_nodes_relabels_the_view(
    graphs: GraphSet, kind: str, top_k: int, seed: int
) -> None:
    other, place = relabelled(graphs, seed)
    spec = View(view=kind, threshold=0.0123, top_k=top_k)
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
    spec = View(view=kind)
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
    view = diffusion_view(graphs, View(view=kind, **extra))
    assert reference.dense(view, graphs.node_ptr, 0).tolist() == [[pytest.approx(1.0)]]
    np.testing.assert_allclose(reference.dense(view, graphs.node_ptr, 1), np.eye(4), atol=1e-6)
    assert reference.dense(view, graphs.node_ptr, 2)[2, 2] == pytest.approx(1.0)


def test_many_graphs_in_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graph_set(list(range(1, 30)) * 3, 0.2, seed=5)
    whole = diffusion_view(graphs, View())
    monkeypatch.setattr("igsd.views.diffusion.CHUNK_ENTRIES", 500)
    pieces = diffusion_view(graphs, View())
    np.testing.assert_array_equal(whole.col, pieces.col)
    np.testing.assert_allclose(whole.weight, pieces.weight, rtol=1e-6)


def test_a_graph_larger_than_a_chunk_is_still_exact() -> None:
    n = 400
    ring = np.arange(n)
    graphs = from_edges([n, 1], ring, (ring + 1) % n)
    view = diffusion_view(graphs, View(threshold=0.01))
    # A ring looks the same from every node.
    assert len(set(view.degrees()[:n].tolist())) == 1


@pytest.mark.parametrize("exact_limit", [2000, 0])
@pytest.mark.parametrize("view", ["ppr", "heat"])
def test_edge_weights_are_those_of_the_reference(view: str, exact_limit: int) -> None:
    matrix = weighted_matrix(9)
    np.fill_diagonal(matrix, 0.0)
    graphs = from_edges([9], EMPTY, EMPTY)
    graphs = replace(graphs, adjacency=from_matrix(matrix, weighted=True))
    T = reference.transition(matrix)
    S = reference.ppr(T, 0.2) if view == "ppr" else reference.heat(T, 5.0)
    found = diffusion_view(graphs, View(view=view, threshold=0.0, exact_limit=exact_limit))
    np.testing.assert_allclose(reference.dense(found, graphs.node_ptr, 0), S, atol=2e-6)


def test_weights_are_part_of_the_key() -> None:
    graphs = graph_set([6], 0.5, seed=0)
    sevens = np.full(graphs.adjacency.num_entries, 7.0, np.float32)
    weighted = replace(graphs, adjacency=replace(graphs.adjacency, weight=sevens))
    assert view_key(graphs, SPEC) != view_key(weighted, SPEC)


def test_edge_drop_is_not_a_diffusion() -> None:
    graphs = from_edges([2], EMPTY, EMPTY)
    with pytest.raises(
        ConfigError, match="'view' parameter of diffusion_view must be 'ppr' or 'heat'"
    ):
        diffusion_view(graphs, View(view="edge-drop"))


@pytest.mark.parametrize(
    ("spec", "diffusion"),
    [
        (View(), {"method": "ppr", "alpha": 0.2}),
        (View(view="heat"), {"method": "heat", "t": 5.0}),
    ],
)
def test_view_equals_gdc_of_pytorch_geometric(spec: View, diffusion: dict[str, object]) -> None:
    transforms = pytest.importorskip("torch_geometric.transforms")
    data = pytest.importorskip("torch_geometric.data")
    gdc = transforms.GDC(
        self_loop_weight=1,
        normalization_in="sym",
        normalization_out=None,
        diffusion_kwargs=diffusion,
        sparsification_kwargs={"method": "threshold", "eps": spec.threshold},
        exact=True,
    )
    graphs = graph_set([7, 20, 35], 0.12, seed=8)
    view = diffusion_view(graphs, spec)
    for g, n in enumerate(graphs.node_counts().tolist()):
        edge_index = torch.from_numpy(
            np.array(reference.dense(graphs.adjacency, graphs.node_ptr, g).nonzero())
        )
        theirs = gdc(data.Data(edge_index=edge_index, num_nodes=n))
        S = np.zeros((n, n))
        S[theirs.edge_index[0], theirs.edge_index[1]] = theirs.edge_attr
        np.testing.assert_allclose(reference.dense(view, graphs.node_ptr, g), S, atol=2e-6)


SPEC = View()


@pytest.fixture
def graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    return graph_set([5, 1, 12, 8], 0.3, seed=0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[View]:
    """Return a list that grows by one with each view that is really computed."""
    calls: list[View] = []
    real = cache.diffusion_view

    def counted(graphs: GraphSet, spec: View) -> Adjacency:
        calls.append(spec)
        return real(graphs, spec)

    monkeypatch.setattr(cache, "diffusion_view", counted)
    return calls


def same(a: Adjacency, b: Adjacency) -> bool:
    pairs = ((a.row_ptr, b.row_ptr), (a.col, b.col), (a.weight, b.weight))
    return all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in pairs)


def test_hit_equals_miss_and_computes_nothing(graphs: GraphSet, computed: list[View]) -> None:
    miss, hit = cached_view(graphs, SPEC), cached_view(graphs, SPEC)
    assert len(computed) == 1
    assert same(miss, hit)
    assert isinstance(hit.col.base, np.memmap)
    assert not hit.col.flags.writeable
    assert not isinstance(hit.take(graphs.node_ptr, np.array([0])).col, np.memmap)


def test_other_settings_and_other_graphs_miss(graphs: GraphSet, computed: list[View]) -> None:
    cached_view(graphs, SPEC)
    cached_view(graphs, View(teleport=0.3))
    cached_view(graphs, View(view="heat"))
    cached_view(graphs, View(top_k=2))
    cached_view(graph_set([5, 1], 0.3, seed=1), SPEC)
    assert len(computed) == 5
    cached_view(graphs, View(drop_rate=0.5))
    cached_view(graph_set([5, 1], 0.3, seed=1), SPEC)
    assert len(computed) == 5


def test_parts_of_a_set_do_not_fill_the_cache(
    graphs: GraphSet, computed: list[View], tmp_path: Path
) -> None:
    part = graphs.take([0, 1])
    assert same(cached_view(part, SPEC), cached_view(part, SPEC))
    assert len(computed) == 2
    assert not (tmp_path / "cache").exists()
    part.save(tmp_path / "part.graphs")
    whole = GraphSet.load(tmp_path / "part.graphs")  # a set of its own from now on
    assert same(cached_view(whole, SPEC), cached_view(whole, SPEC))
    assert len(computed) == 3


def test_a_new_algorithm_passes_over_old_files(
    graphs: GraphSet, computed: list[View], monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_view(graphs, SPEC)
    monkeypatch.setattr(cache, "ALGORITHM", cache.ALGORITHM + 1)
    cached_view(graphs, SPEC)
    assert len(computed) == 2


def _flip(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:5],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: _flip(data, len(data) - 1),
        lambda data: _flip(data, 20),
        lambda data: data.replace(b"data_offsets", b"data_offsetz"),
        lambda data: b"\x80\x04not a view",
    ],
)
def test_a_damaged_file_is_computed_again_and_replaced(
    graphs: GraphSet, computed: list[View], damage: Callable[[bytes], bytes]
) -> None:
    good = cached_view(graphs, SPEC)
    path = view_path(view_key(graphs, SPEC))
    path.write_bytes(damage(path.read_bytes()))
    assert same(good, cached_view(graphs, SPEC))
    assert len(computed) == 2
    assert same(good, cached_view(graphs, SPEC))
    assert len(computed) == 2


def test_a_file_of_other_content_is_not_taken(graphs: GraphSet, computed: list[View]) -> None:
    key = view_key(graphs, SPEC)
    write_arrays(view_path(key), {"col": np.zeros(2, np.int32)}, {"kind": "view", "key": key})
    cached_view(graphs, SPEC)
    assert len(computed) == 1


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("row_ptr", 1, -5),
        ("row_ptr", -1, 10**9),
        ("col", 0, 10**6),
        ("col", 0, -1),
        ("weight", 0, np.nan),
    ],
)
def test_a_view_that_lies_is_not_taken(
    graphs: GraphSet, computed: list[View], part: str, place: int, value: float
) -> None:
    """With true checksums, such a file ended in a segmentation fault."""
    good, key = cached_view(graphs, SPEC), view_key(graphs, SPEC)
    arrays = {name: np.array(array) for name, array in vars(good).items()}
    arrays[part][place] = value
    write_arrays(view_path(key), arrays, {"kind": "view", "key": key})
    with pytest.warns(UserWarning, match=f"{part!r} does not fit the graphs"):
        assert same(good, cached_view(graphs, SPEC))
    assert len(computed) == 2


def test_a_folder_that_cannot_be_made_costs_a_warning(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = cached_view(graphs, SPEC)
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("IGSD_CACHE", str(blocked))
    with pytest.warns(UserWarning, match="could not be cached.*IGSD_CACHE"):
        assert same(expected, cached_view(graphs, SPEC))


def test_a_full_disk_costs_a_warning(graphs: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise StorageError("Cannot write: the disk is full.")

    monkeypatch.setattr(cache, "write_arrays", full)
    with pytest.warns(UserWarning, match="the disk is full"):
        cached_view(graphs, SPEC)


def test_writers_at_the_same_time_are_safe(graphs: GraphSet) -> None:
    expected = cached_view(graphs, SPEC)
    path = view_path(view_key(graphs, SPEC))
    path.unlink()
    with ThreadPoolExecutor(8) as pool:
        views = list(pool.map(lambda _: cached_view(graphs, SPEC), range(16)))
    assert all(same(expected, view) for view in views)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_edge_drop_is_never_cached(graphs: GraphSet) -> None:
    with pytest.raises(ConfigError, match="edge_drop"):
        cached_view(graphs, View(view="edge-drop"))
