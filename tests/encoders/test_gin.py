from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from igsd import IGSD
from igsd.encoders import gin
from igsd.encoders.gin import GINLayer, normed_linear
from igsd.graphs.build import from_edges
from tests.small_graphs import TINY, make_batch, make_graphs


@pytest.mark.parametrize("bias", [True, False])
def test_equals_the_two_one_after_the_other(bias: bool) -> None:
    torch.manual_seed(0)
    layer, norm = nn.Linear(3, 4, bias=bias), nn.BatchNorm1d(4)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    for _ in range(3):
        norm(layer(torch.randn(10, 3)))
    both, x = nn.ModuleList([layer, norm]).eval(), torch.randn(6, 3)
    with torch.no_grad():
        torch.testing.assert_close(normed_linear(*both, x), norm(layer(x)))


def test_training_sees_the_batch() -> None:
    torch.manual_seed(0)
    layer, norm, x = nn.Linear(3, 4), nn.BatchNorm1d(4), torch.randn(10, 3)
    torch.testing.assert_close(normed_linear(layer, norm, x).mean(0), torch.zeros(4))
    assert norm.num_batches_tracked == 1


def test_without_batch_norm() -> None:
    layer, x = nn.Linear(3, 4).eval(), torch.randn(2, 3)
    assert torch.equal(normed_linear(layer, nn.Identity(), x), layer(x))


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


def test_what_is_computed_again_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs()
    kept = IGSD(**TINY, readout="mean").fit(graphs)
    calls: list[int] = []

    def counted(function: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return checkpoint(function, *args, **kwargs)

    monkeypatch.setattr(gin, "RECOMPUTED_ENTRIES", 0)
    monkeypatch.setattr(gin, "checkpoint", counted)
    again = IGSD(**TINY, readout="mean").fit(graphs)
    assert calls
    for name, weights in kept.network_.state_dict().items():
        assert torch.equal(weights, again.network_.state_dict()[name]), name
