"""``Norm``: BatchNorm whose rows may represent several alike nodes, over one or more processes."""

from typing import Any

import torch
from torch import Tensor, nn

from igsd.batches.joint import num_processes, summed


class Norm(nn.BatchNorm1d):
    """BatchNorm. ``synchronised``: over the joint batch of all processes, on any device."""

    synchronised = False

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows [n, d] normalised."""
        return self.joint(x, None) if self.is_joint else super().forward(x)

    @property
    def is_joint(self) -> bool:
        """Whether this pass uses the statistics of several processes."""
        return self.training and self.synchronised and num_processes() > 1

    def joint(self, x: Tensor, counts: Tensor | None) -> Tensor:
        """Return the rows normalised by mean and variance over all processes, with gradient."""
        with torch.autocast(x.device.type, enabled=False):
            x = x if x.dtype == torch.float64 else x.float()
            weights = x.new_ones(len(x)) if counts is None else counts.to(x.dtype)
            total = summed(weights.sum())
            mean = summed(weights @ x) / total
            centred = x - mean
            variance = summed(weights @ centred.square()) / total
            y = centred * torch.rsqrt(variance + self.eps)
        _follow(self, mean.detach(), variance.detach(), total)
        return y * self.weight + self.bias if self.affine else y


def synchronise(network: nn.Module) -> None:
    """Make every ``Norm`` of a network use the joint batch of all processes."""
    for module in network.modules():
        if isinstance(module, Norm):
            module.synchronised = True


def counted_norm(norm: nn.Module, x: Tensor, counts: Tensor | None) -> Tensor:
    """Return norm(x), [n, d], as if row i were repeated ``counts[i]`` times."""
    if isinstance(norm, Norm) and norm.is_joint:
        return norm.joint(x, counts)
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
    """Update the running statistics as BatchNorm does, with the sample variance."""
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
        # Mean and variance depend on every row, by its share of the count.
        moved = torch.addcmul(d_bias, normed, d_weight).mul_(shares.unsqueeze(1))
        return (g - moved).mul_(weight * scale), None, d_weight, d_bias, None
