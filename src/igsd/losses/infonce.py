"""Eq. InfoNCE: each graph must find its own teacher among all graphs of the batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def infonce(losses: Tensor, temperature: float = 1.0, *, offset: int = 0) -> Tensor:
    """Return the contrastive loss of a table of consistency losses. Implements Eq. InfoNCE.

    mean over i of -log( exp(-L_ii / temperature) / sum_j exp(-L_ij / temperature) )

    ``losses`` [B, M]: L_con(i, j). The positive of row i is column ``offset`` + i; columns of other
    processes stand before and after. The paper has no temperature: 1.0 is the paper's.
    """
    positives = torch.arange(len(losses), device=losses.device) + offset
    return cross_entropy(-losses / temperature, positives)
