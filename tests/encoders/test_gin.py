from __future__ import annotations

import torch
from torch import nn

from igsd.encoders.gin import GINLayer
from igsd.graphs.build import from_edges
from tests.small_graphs import make_batch

PATH = make_batch(from_edges([3], [0, 1], [1, 2]), nodes="constant")


def plain_layer() -> GINLayer:
    """Return a layer whose linear maps leave a number as it is."""
    layer = GINLayer(1, 1, batch_norm=False)
    for linear in (layer.first, layer.second):
        nn.init.ones_(linear.weight)
        nn.init.zeros_(linear.bias)
    return layer


def test_a_node_and_its_neighbours_are_added() -> None:
    x = torch.tensor([[1.0], [2.0], [4.0]])
    assert plain_layer()(x, PATH).flatten().tolist() == [3.0, 7.0, 6.0]


def test_what_is_negative_becomes_zero() -> None:
    x = torch.tensor([[1.0], [-2.0], [4.0]])
    assert plain_layer()(x, PATH).flatten().tolist() == [0.0, 3.0, 2.0]


def test_the_sums_of_the_input_are_made_once() -> None:
    layer = plain_layer()
    assert torch.equal(layer(PATH.x, PATH), layer(PATH.x.clone(), PATH))


def test_there_is_no_bias_in_front_of_a_batch_norm() -> None:
    assert GINLayer(2, 3, batch_norm=True).second.bias is None
