from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from igsd.encoders.set2set import Set2Set
from tests.reference import mpnn as reference

PTR = torch.tensor([0, 3, 4, 9])


def nodes(scale: float = 1.0) -> torch.Tensor:
    rng = torch.Generator().manual_seed(0)
    return scale * torch.randn(9, 4, generator=rng, dtype=torch.float64)


def test_equals_the_plain_loop() -> None:
    module, x = Set2Set(4, 3).double(), nodes()
    out = module(x, PTR)
    assert out.shape == (3, module.out_dim)
    for graph, (a, b) in enumerate(itertools.pairwise(PTR.tolist())):
        expected = reference.set2set(module.memory, x[a:b].numpy(), 3)
        np.testing.assert_allclose(out[graph].detach().numpy(), expected, rtol=1e-10)


def test_equals_pyg_in_value_and_gradient() -> None:
    aggr = pytest.importorskip("torch_geometric.nn.aggr")
    ours, theirs = Set2Set(4, 3).double(), aggr.Set2Set(4, 3).double()
    weights = {f"lstm.{k}_l0": v for k, v in ours.memory.state_dict().items()}
    theirs.load_state_dict(weights)
    a, b = nodes().requires_grad_(), nodes().requires_grad_()
    first, second = ours(a, PTR), theirs(b, torch.tensor([0] * 3 + [1] + [2] * 5))
    torch.testing.assert_close(first, second)
    first.square().sum().backward()
    second.square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad)
    torch.testing.assert_close(ours.memory.weight_ih.grad, theirs.lstm.weight_ih_l0.grad)


def test_large_vectors_stay_finite() -> None:
    module = Set2Set(4).double()
    x = nodes(1e4).requires_grad_()
    out = module(x, PTR)
    out.sum().backward()
    assert out.isfinite().all()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_order_of_nodes_does_not_matter() -> None:
    module, x = Set2Set(4).double(), nodes()
    shuffled = x[[2, 0, 1, 3, 8, 7, 6, 5, 4]]
    torch.testing.assert_close(module(x, PTR), module(shuffled, PTR))
