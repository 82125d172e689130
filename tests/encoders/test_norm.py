from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.norm import Norm, counted_norm, synchronise

COUNTS = torch.tensor([1, 3, 2, 1])


def norms(kind: type = nn.BatchNorm1d, **settings) -> tuple[nn.BatchNorm1d, nn.BatchNorm1d]:
    torch.manual_seed(0)
    norm = kind(3, **settings).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm, copy.deepcopy(norm)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_equals_batch_norm_over_repeated_rows(momentum: float | None) -> None:
    counted, plain = norms(momentum=momentum)
    for _ in range(3):
        x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        repeated = x.detach().repeat_interleave(COUNTS, dim=0).requires_grad_()
        ours, theirs = counted_norm(counted, x, COUNTS.double()), plain(repeated)
        torch.testing.assert_close(ours.repeat_interleave(COUNTS, dim=0), theirs)
        slope = torch.randn(4, 3, dtype=torch.float64)
        # A row's gradient is the sum of those of the nodes that it stands for.
        (ours * slope * COUNTS.unsqueeze(1)).sum().backward()
        (theirs * slope.repeat_interleave(COUNTS, dim=0)).sum().backward()
        graph = torch.arange(4).repeat_interleave(COUNTS)
        summed = torch.zeros(4, 3, dtype=torch.float64).index_add_(0, graph, repeated.grad)
        torch.testing.assert_close(x.grad, summed)
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(counted.state_dict()[name], value)
    torch.testing.assert_close(counted.weight.grad, plain.weight.grad)
    torch.testing.assert_close(counted.bias.grad, plain.bias.grad)


def test_gradients_are_right() -> None:
    norm, _ = norms()
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: counted_norm(norm, x, COUNTS.double()), x)


def test_without_counts_after_training_and_without_batch_norm() -> None:
    norm, same = norms()
    x = torch.randn(4, 3, dtype=torch.float64)
    assert torch.equal(counted_norm(norm, x, None), same(x))
    assert torch.equal(counted_norm(norm.eval(), x, COUNTS), same.eval()(x))
    assert counted_norm(nn.Identity(), x, COUNTS) is x


@pytest.mark.parametrize("synchronised", [False, True])
@pytest.mark.parametrize("settings", [{}, {"momentum": None}, {"affine": False}])
def test_in_one_process_norm_is_batch_norm(settings: dict, synchronised: bool) -> None:
    ours, theirs = Norm(3, **settings).double(), nn.BatchNorm1d(3, **settings).double()
    if synchronised:
        synchronise(nn.Sequential(ours))
    assert ours.synchronised == synchronised
    assert not ours.is_joint
    for _ in range(3):
        a = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        b = a.detach().clone().requires_grad_()
        first, second = ours(a), theirs(b)
        assert torch.equal(first, second)
        first.square().sum().backward()
        second.square().sum().backward()
        assert torch.equal(a.grad, b.grad)
    assert ours.state_dict().keys() == theirs.state_dict().keys()  # old files open
    for name, value in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value)
    assert torch.equal(ours.eval()(a), theirs.eval()(a))


def test_counts_in_a_norm_that_is_synchronised_with_nobody() -> None:
    plain, ours = norms(Norm)
    synchronise(ours)
    x = torch.randn(4, 3, dtype=torch.float64)
    assert torch.equal(counted_norm(ours, x, COUNTS), counted_norm(plain, x, COUNTS))


def test_every_norm_of_an_encoder_is_synchronised() -> None:
    encoder = GNNEncoder("gin", 3, 4, 2)
    norms = [module for module in encoder.modules() if isinstance(module, nn.BatchNorm1d)]
    assert norms
    assert not any(norm.synchronised for norm in norms)
    synchronise(encoder)
    assert all(norm.synchronised for norm in norms)
