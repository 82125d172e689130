from __future__ import annotations

import numpy as np
import pytest

from igsd.config import Config
from igsd.evaluation import embed as module
from igsd.evaluation.embed import chunks, embed_chunks
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_model
from igsd.views.spec import ViewSpec
from tests.small_graphs import HOST, TINY, make_graphs

GRAPHS = make_graphs()
FEATURES = FeatureMap.fit(GRAPHS)
MODEL = build_model(Config(**TINY), FEATURES.dim)


def vectors(graphs: GraphSet = GRAPHS, view: ViewSpec | None = None) -> np.ndarray:
    parts = embed_chunks(MODEL, FEATURES, graphs, mix_weight=0.5, view=view, device=HOST)
    return np.concatenate(list(parts))


def test_chunks_are_consecutive_and_bounded() -> None:
    ptr = np.array([0, 3, 5, 30, 31, 34])
    assert list(chunks(ptr, 5)) == [(0, 2), (2, 3), (3, 5)]
    assert list(chunks(ptr, 1)) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert list(chunks(ptr, 100)) == [(0, 5)]


@pytest.mark.parametrize("view", [None, ViewSpec()])
def test_the_chunk_size_does_not_count(
    view: ViewSpec | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vectors(view=view)
    monkeypatch.setattr(module, "chunks", lambda ptr, _: chunks(ptr, 9))
    np.testing.assert_allclose(vectors(view=view), whole, rtol=1e-5, atol=1e-6)


def test_one_graph_at_a_time_gives_the_same() -> None:
    whole = vectors()
    for g in range(len(GRAPHS)):
        np.testing.assert_allclose(vectors(GRAPHS.take([g]))[0], whole[g], rtol=1e-5, atol=1e-6)


def test_the_view_stands_beside_the_graph() -> None:
    both = vectors(view=ViewSpec())
    alone = vectors()
    assert both.shape == (10, 2 * alone.shape[1])
    np.testing.assert_allclose(both[:, : alone.shape[1]], alone, rtol=1e-5, atol=1e-6)
    assert not np.allclose(both[:, alone.shape[1] :], alone)


def test_float32_and_no_change_to_the_model() -> None:
    before = {k: v.clone() for k, v in MODEL.state_dict().items()}
    MODEL.train()
    assert vectors().dtype == np.float32
    assert all((v == before[k]).all() for k, v in MODEL.state_dict().items())


def test_equal_neighbourhoods_computed_once_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    once = vectors()
    monkeypatch.setattr(module, "distinct_depth", lambda *_: 0)
    np.testing.assert_allclose(vectors(), once, rtol=1e-4, atol=1e-5)
