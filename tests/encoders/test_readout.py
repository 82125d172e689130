from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.encoders.readout import READOUTS, parse_readout, readout
from igsd.errors import ConfigError
from tests.reference import encoders as reference

X = torch.tensor([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]])
PTR = torch.tensor([0, 2, 3])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [[4.0, 2.0], [-5.0, 6.0]]),
        ("mean", [[2.0, 1.0], [-5.0, 6.0]]),
        ("max", [[3.0, 4.0], [-5.0, 6.0]]),
    ],
)
def test_by_hand(name: str, expected: list[list[float]]) -> None:
    assert readout(X, PTR, (name,)).tolist() == expected


def test_several_stand_side_by_side_in_the_order_asked() -> None:
    both = readout(X, PTR, ("max", "sum"))
    assert torch.equal(both[:, :2], readout(X, PTR, ("max",)))
    assert torch.equal(both[:, 2:], readout(X, PTR, ("sum",)))


@pytest.mark.parametrize("name", READOUTS)
def test_equals_the_plain_loop_with_gradient(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(9, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    ptr = torch.tensor([0, 1, 5, 9])
    expected = [
        reference.readout(x.detach().numpy()[a:b], (name,)) for a, b in ((0, 1), (1, 5), (5, 9))
    ]
    np.testing.assert_allclose(readout(x, ptr, (name,)).detach(), np.array(expected), rtol=1e-13)
    assert torch.autograd.gradcheck(lambda v: readout(v, ptr, (name,)), (x,))


@pytest.mark.parametrize("text", ["", "median", "sum+sum", "sum,mean", "Sum"])
def test_unknown_names_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="readout"):
        parse_readout(text)


def test_parse() -> None:
    assert parse_readout("mean+max") == ("mean", "max")


@pytest.mark.parametrize("name", READOUTS)
def test_gradient_equals_finite_differences(name: str) -> None:
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ptr = torch.tensor([0, 1, 4, 6])
    assert torch.autograd.gradcheck(lambda v: readout(v, ptr, (name,)), (x.requires_grad_(),))
