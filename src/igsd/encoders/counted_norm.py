"""``counted_norm``: BatchNorm over rows of which some stand for several alike nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def counted_norm(norm: nn.Module, x: Tensor, counts: Tensor | None) -> Tensor:
    """Return norm(x), [n, d], as if row i stood there ``counts[i]`` times.

    A layer other than BatchNorm, and BatchNorm after training, treat each row by itself.
    """
    if counts is None or not isinstance(norm, nn.BatchNorm1d) or not norm.training:
        return norm(x)
    with torch.autocast(x.device.type, enabled=False):
        x = x if x.dtype == torch.float64 else x.float()
        counts = counts.to(x.dtype)
        y, mean, variance = _CountedNorm.apply(x, counts, norm.weight, norm.bias, norm.eps)
    _follow(norm, mean, variance, counts.sum())
    return y


@torch.no_grad()
def _follow(norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor, total: Tensor) -> None:
    """Move the running statistics as BatchNorm does: with the variance of a sample."""
    if norm.running_mean is None or norm.running_var is None or norm.num_batches_tracked is None:
        return
    norm.num_batches_tracked.add_(1)
    step = norm.momentum if norm.momentum is not None else 1.0 / float(norm.num_batches_tracked)
    norm.running_mean.lerp_(mean.to(norm.running_mean.dtype), step)
    sample = variance * (total / (total - 1).clamp_min(1))
    norm.running_var.lerp_(sample.to(norm.running_var.dtype), step)


class _CountedNorm(torch.autograd.Function):
    """(x - mean) / sqrt(variance + eps) * weight + bias with counted mean and variance, [d]."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, counts: Tensor, weight: Tensor, bias: Tensor, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        shares = counts / counts.sum()
        mean = shares @ x
        centred = x - mean
        variance = shares @ centred.square()
        scale = torch.rsqrt(variance + eps)
        normed = centred.mul_(scale)
        ctx.save_for_backward(normed, shares, weight, scale)
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(bias, normed, weight), mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor, None]:
        normed, shares, weight, scale = ctx.saved_tensors
        g = gradients[0]
        d_bias = g.sum(0)
        d_weight = torch.linalg.vecdot(g, normed, dim=0)
        # The mean and the variance move with every row, by its share of the count.
        moved = torch.addcmul(d_bias, normed, d_weight).mul_(shares.unsqueeze(1))
        return (g - moved).mul_(weight * scale), None, d_weight, d_bias, None
