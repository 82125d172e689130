"""The Barlow Twins loss: two views agree in every coordinate, and coordinates do not repeat."""

from __future__ import annotations

import torch
from torch import Tensor

_SMALLEST_VARIANCE = 1e-5


def cross_correlation(a: Tensor, b: Tensor) -> Tensor:
    """Return the correlation of every coordinate of a with every one of b, [d, d].

    ``a``, ``b`` [B, d]. A coordinate that is the same for all graphs correlates with nothing: 0.
    """
    return _standardised(a).T @ _standardised(b) / len(a)


def barlow(a: Tensor, b: Tensor, redundancy_weight: float) -> Tensor:
    """Return the loss of two views of the same graphs (Bielak et al., 2022).

    sum_i (1 - C_ii)^2 + redundancy_weight * sum_{i != j} C_ij^2, C the cross-correlation.

    ``a``, ``b`` [B, d]: projections of the graphs and of their views. Graph Barlow Twins takes
    1 / d as the weight.
    """
    C = cross_correlation(a, b)
    own = C.diagonal()
    repeated = C.square().sum() - own.square().sum()
    return (1.0 - own).square().sum() + redundancy_weight * repeated


def _standardised(x: Tensor) -> Tensor:
    """Return x with mean 0 and variance 1 in every coordinate, as BatchNorm computes them."""
    centred = x - x.mean(dim=0)
    return centred * torch.rsqrt(centred.square().mean(dim=0) + _SMALLEST_VARIANCE)
