"""``KeyQueue``: the keys of past steps, kept as negatives."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class KeyQueue(nn.Module):
    """A ring of the last ``size`` keys (He et al., 2020); buffers, so that checkpoints hold it.

    It begins with random directions, drawn from torch's random state.
    """

    keys: Tensor
    place: Tensor

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.register_buffer("keys", normalize(torch.randn(size, dim), dim=1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def push(self, keys: Tensor) -> None:
        """Put new keys [B, dim] in the place of the oldest."""
        keys = keys[-len(self.keys) :]
        places = (self.place + torch.arange(len(keys), device=keys.device)) % len(self.keys)
        self.keys[places] = keys.to(self.keys.dtype)
        self.place.add_(len(keys)).remainder_(len(self.keys))
