"""``make_adam``: the optimiser of every method here."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn


def make_adam(
    parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float = 0.0
) -> torch.optim.Adam:
    """Return Adam over parameters that are already on their device.

    One fused kernel updates all of them where the device has one, which is a few per cent of a
    step on the CPU.
    """
    given = list(parameters)
    try:
        return torch.optim.Adam(given, learning_rate, weight_decay=weight_decay, fused=True)
    except RuntimeError:
        return torch.optim.Adam(given, learning_rate, weight_decay=weight_decay)
