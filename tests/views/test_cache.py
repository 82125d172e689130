from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import igsd.views.cache as cache
from igsd.errors import ConfigError, StorageError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.storage import write_arrays
from igsd.views.cache import cached_view, view_key, view_path
from igsd.views.spec import ViewSpec
from tests.views.strategies import graph_set

SPEC = ViewSpec()


@pytest.fixture
def graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    return graph_set([5, 1, 12, 8], 0.3, seed=0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[ViewSpec]:
    """Return a list that grows by one with each view that is really computed."""
    calls: list[ViewSpec] = []
    real = cache.diffusion_view

    def counted(graphs: GraphSet, spec: ViewSpec) -> Adjacency:
        calls.append(spec)
        return real(graphs, spec)

    monkeypatch.setattr(cache, "diffusion_view", counted)
    return calls


def same(a: Adjacency, b: Adjacency) -> bool:
    pairs = ((a.row_ptr, b.row_ptr), (a.col, b.col), (a.weight, b.weight))
    return all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in pairs)


def test_hit_equals_miss_and_computes_nothing(graphs: GraphSet, computed: list[ViewSpec]) -> None:
    miss, hit = cached_view(graphs, SPEC), cached_view(graphs, SPEC)
    assert len(computed) == 1
    assert same(miss, hit)
    assert isinstance(hit.col.base, np.memmap)
    assert not hit.col.flags.writeable
    assert not isinstance(hit.take(graphs.node_ptr, np.array([0])).col, np.memmap)


def test_other_settings_and_other_graphs_miss(graphs: GraphSet, computed: list[ViewSpec]) -> None:
    cached_view(graphs, SPEC)
    cached_view(graphs, ViewSpec(teleport=0.3))
    cached_view(graphs, ViewSpec(kind="heat"))
    cached_view(graphs, ViewSpec(top_k=2))
    cached_view(graphs.take([0, 1]), SPEC)
    assert len(computed) == 5
    cached_view(graphs, ViewSpec(drop_rate=0.5))
    cached_view(graphs.take([0, 1]), SPEC)
    assert len(computed) == 5


def test_a_new_algorithm_passes_over_old_files(
    graphs: GraphSet, computed: list[ViewSpec], monkeypatch: pytest.MonkeyPatch
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
    graphs: GraphSet, computed: list[ViewSpec], damage: Callable[[bytes], bytes]
) -> None:
    good = cached_view(graphs, SPEC)
    path = view_path(view_key(graphs, SPEC))
    path.write_bytes(damage(path.read_bytes()))
    assert same(good, cached_view(graphs, SPEC))
    assert len(computed) == 2
    assert same(good, cached_view(graphs, SPEC))
    assert len(computed) == 2


def test_a_file_of_other_content_is_not_taken(graphs: GraphSet, computed: list[ViewSpec]) -> None:
    key = view_key(graphs, SPEC)
    write_arrays(view_path(key), {"col": np.zeros(2, np.int32)}, {"kind": "view", "key": key})
    cached_view(graphs, SPEC)
    assert len(computed) == 1


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
        cached_view(graphs, ViewSpec(kind="edge-drop"))
