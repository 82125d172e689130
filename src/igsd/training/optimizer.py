"""``make_adam``: the optimiser of every method here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn


def make_adam(
    parameters: Sequence[nn.Parameter] | Sequence[dict[str, Any]],
    learning_rate: float,
    weight_decay: float = 0.0,
) -> torch.optim.Adam:
    """Return Adam over parameters, or groups of them, that are already on their device.

    One fused kernel updates all of them where the device has one, which is a few per cent of a
    step on the CPU.
    """
    try:
        return torch.optim.Adam(parameters, learning_rate, weight_decay=weight_decay, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, learning_rate, weight_decay=weight_decay)
