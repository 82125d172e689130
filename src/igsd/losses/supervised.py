"""The supervised part of Eq. semi: cross entropy of classes, mean squared error of numbers."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def supervised(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss of labelled graphs.

    Classes: ``outputs`` [n, C] logits, ``targets`` [n] int64, cross entropy. Numbers: ``outputs``
    and ``targets`` [n, t], the mean squared error over the targets that are known (not NaN); 0
    where none is.
    """
    if not targets.dtype.is_floating_point:
        return cross_entropy(outputs, targets)
    known = ~targets.isnan()
    errors = torch.where(known, outputs - targets.nan_to_num(), 0.0)
    return errors.square().sum() / known.sum().clamp_min(1)
