"""``normed_linear``: a linear map followed by BatchNorm, as one map where it is one."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from igsd.encoders.counted_norm import counted_norm


def normed_linear(
    layer: nn.Linear, norm: nn.Module, x: Tensor, counts: Tensor | None = None
) -> Tensor:
    """Return norm(layer(x)), [n, out]; ``counts`` [n] says how many nodes a row stands for.

    After training, BatchNorm is a fixed scale and shift for each column, so it goes into the
    weights and costs no pass over the nodes.
    """
    if layer.training or not isinstance(norm, nn.BatchNorm1d) or torch.is_grad_enabled():
        return counted_norm(norm, layer(x), counts)
    mean, variance = norm.running_mean, norm.running_var
    if mean is None or variance is None:
        return norm(layer(x))
    scale = norm.weight * torch.rsqrt(variance + norm.eps)
    shift = norm.bias - mean * scale
    if layer.bias is not None:
        shift = shift + layer.bias * scale
    return linear(x, layer.weight * scale.unsqueeze(1), shift)
