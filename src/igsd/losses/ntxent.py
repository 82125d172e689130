"""NT-Xent: two views of a graph find each other among the views of other graphs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize


def ntxent(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    """Return the contrastive loss of two views of the same graphs (You et al., 2020, Eq. 3).

    mean over i and both directions of
    -log( exp(s_ii / temperature) / sum_{j != i} exp(s_ij / temperature) )

    with s_ij the cosine of a_i and b_j. ``a``, ``b`` [B, d]: projections of the first and of the
    second view. As GraphCL prints it, the denominator holds the other graphs alone, so values may
    be negative. 0 where there is no other graph (B = 1).
    """
    scores = normalize(a, dim=1) @ normalize(b, dim=1).T / temperature
    if len(scores) < 2:
        return 0.0 * scores.sum()
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    others = scores.masked_fill(own, -torch.inf)
    both = 0.5 * (others.logsumexp(dim=1) + others.logsumexp(dim=0))
    return (both - scores.diagonal()).mean()
