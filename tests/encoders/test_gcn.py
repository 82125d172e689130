from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from igsd.encoders.gcn import GCNLayer
from igsd.graphs.build import from_edges
from tests.small_graphs import make_batch

PATH = make_batch(from_edges([3], [0, 1], [1, 2]), nodes="constant")


def plain_layer() -> GCNLayer:
    """Return a layer whose linear map leaves a number as it is."""
    layer = GCNLayer(1, 1, batch_norm=False)
    nn.init.ones_(layer.linear.weight)
    nn.init.zeros_(layer.linear.bias)
    return layer


def test_neighbours_and_loops_are_weighted_by_both_degrees() -> None:
    x = torch.tensor([[1.0], [2.0], [4.0]])
    side = 1 / math.sqrt(6)  # the ends have degree 2 with their loop, the middle has 3
    expected = [1 / 2 + 2 * side, side + 2 / 3 + 4 * side, 2 * side + 4 / 2]
    assert plain_layer()(x, PATH).flatten().tolist() == pytest.approx(expected)


def test_a_node_alone_keeps_its_vector() -> None:
    alone = make_batch(from_edges([1], [], []), nodes="constant")
    assert plain_layer()(torch.tensor([[5.0]]), alone).item() == pytest.approx(5.0)
