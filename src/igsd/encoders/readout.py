"""Readouts: the vectors of a graph's nodes become one vector of the graph."""

from __future__ import annotations

import torch
from torch import Tensor

from igsd.errors import ConfigError

READOUTS = ("sum", "mean", "max")


def parse_readout(text: str) -> tuple[str, ...]:
    """Return the readouts named in ``text``, e.g. ``mean+max``; raises ``ConfigError``."""
    names = tuple(text.split("+"))
    if not set(names) <= set(READOUTS) or len(set(names)) < len(names):
        raise ConfigError(
            "The 'readout' parameter of IGSD must be different names out of "
            f"{', '.join(READOUTS)}, joined by '+'. Got {text!r} instead."
        )
    return names


def readout(x: Tensor, ptr: Tensor, names: tuple[str, ...]) -> Tensor:
    """Return the graphs' vectors [B, d * len(names)] from node vectors x [n, d].

    ``ptr`` [B + 1] says where each graph begins; every graph has at least one node. Each name is
    one reduction over the nodes of a graph; several stand side by side.
    """
    with torch.autocast(x.device.type, enabled=False):
        x = x if x.dtype == torch.float64 else x.float()
        lengths = ptr[1:] - ptr[:-1]
        parts = [torch.segment_reduce(x, name, lengths=lengths, unsafe=True) for name in names]
        return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
