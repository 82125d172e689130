from __future__ import annotations

from typing import Any

import numpy as np
import torch

from igsd.baselines.graphcl import GraphCL, GraphCLConfig
from igsd.baselines.step_sources import AugmentedSource
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import HOST, make_batch


def source(graphs: GraphSet, **changes: Any) -> AugmentedSource:
    return GraphCL().source(graphs, FeatureMap.fit(graphs), GraphCLConfig(**changes), HOST)


def test_a_step_is_a_pure_function_of_seed_and_draw(graphs: GraphSet) -> None:
    indices = np.array([4, 1, 7])
    first, again = (source(graphs).step(indices, (3, 1)) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.edge_index, b.edge_index)
    others = [source(graphs).step(indices, (3, 2)), source(graphs, seed=1).step(indices, (3, 1))]
    for other in others:
        assert other[0].x.shape != first[0].x.shape or not torch.equal(other[0].x, first[0].x)


def test_masked_nodes_show_nothing_and_dropped_ones_are_gone(graphs: GraphSet) -> None:
    indices = np.arange(len(graphs))
    plain = make_batch(graphs)
    settings = {"augment_rate": 0.5}
    masked, _ = source(graphs, augmentations="attribute-mask", **settings).step(indices, (0, 0))
    hidden = ~masked.x.any(dim=1)
    assert 0 < hidden.sum() < len(hidden)
    assert torch.equal(masked.x[~hidden], plain.x[~hidden])
    assert torch.equal(masked.edge_index, plain.edge_index)
    dropped, _ = source(graphs, augmentations="node-drop", **settings).step(indices, (0, 0))
    assert len(dropped.x) < len(plain.x)
    assert (dropped.ptr[1:] > dropped.ptr[:-1]).all()
