from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError
from igsd.views.augment import AUGMENTATIONS, augment, draw_two, parse_augmentations
from tests.reference.views import dense
from tests.views.strategies import graph_set


def test_each_graph_is_changed_by_its_own_kind_alone() -> None:
    graphs = graph_set([40] * 4, 0.1, seed=0)
    ids = np.arange(4)
    view = augment(graphs.adjacency, graphs.node_ptr, ids, np.array(AUGMENTATIONS), 0.3, seed=1)
    sizes = np.diff(view.graphs.node_ptr)
    masked = np.add.reduceat(view.masked, view.graphs.node_ptr[:-1])
    drop, perturb, mask, part = range(4)
    assert sizes[drop] < 40
    assert sizes[part] <= 28
    assert sizes[perturb] == sizes[mask] == 40
    assert masked[mask] > 0
    assert masked[[drop, perturb, part]].tolist() == [0, 0, 0]
    before, after = (
        [dense(adjacency, ptr, g) for g in (perturb, mask)]
        for adjacency, ptr in (
            (graphs.adjacency, graphs.node_ptr),
            (view.graphs.adjacency, view.graphs.node_ptr),
        )
    )
    assert (before[0] != after[0]).any()
    np.testing.assert_array_equal(before[1], after[1])


def test_two_different_kinds_all_as_likely() -> None:
    first, second = draw_two(np.arange(12_000), 4, seed=2)
    assert (first != second).all()
    pairs = np.bincount(4 * first + second, minlength=16).reshape(4, 4)
    # Twelve pairs: 1,000 of each, standard deviation 30.
    assert np.abs(pairs[~np.eye(4, dtype=bool)] - 1000).max() < 130
    one, other = draw_two(np.arange(5), 1, seed=2)
    assert not one.any()
    assert not other.any()


def test_names() -> None:
    assert parse_augmentations("subgraph+node-drop") == ("subgraph", "node-drop")
    for wrong in ("", "node-drop+node-drop", "subgraphs"):
        with pytest.raises(ConfigError, match="'augmentations' parameter of GraphCL"):
            parse_augmentations(wrong)
    with pytest.raises(ConfigError, match="'subgraph'"):
        parse_augmentations("subgraphs")
