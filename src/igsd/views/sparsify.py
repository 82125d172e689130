"""Which entries of a diffusion matrix stay: above a threshold, or the top k of a row or column.

Nothing is renormalised: an entry that stays keeps its value. Zeros never stay, nor does what
rounding makes of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDING = 1e-12
"""Entries below this are rounding errors of a zero, as between two parts of a graph."""

TIE = 1e-5
"""Relative width within which two entries count as equal.

Nodes that a symmetry of the graph exchanges have equal entries, but rounding makes them differ in
the last digits, differently for each numbering of the nodes. Entries this close to the k-th
largest are kept with it, so a tie never depends on the numbering.
"""


def keep_threshold(S: Tensor, threshold: float) -> Tensor:
    """Return where S >= threshold, a mask like ``S``; a threshold of 0 keeps all but zeros.

    Sparsifies Eq. diffusion. A node without neighbours has S_ii = 1 and so keeps that entry.
    """
    return torch.ge(S, max(threshold, ROUNDING))


def keep_top_k(S: Tensor, k: int) -> Tensor:
    """Return where an entry is among the k largest of its row or of its column, a mask like ``S``.

    Sparsifies Eq. diffusion. ``S`` [..., n, n] symmetric; the mask is symmetric too. Entries tied
    with the k-th largest stay with it, so a row may keep more than k.
    """
    rows = keep_top_k_of_row(S, k)
    return rows | rows.mT


def keep_top_k_of_row(S: Tensor, k: int) -> Tensor:
    """Return where an entry is among the k largest of its row (ties included), a mask like ``S``.

    ``S`` [..., m, n] need not be square.
    """
    if k >= S.shape[-1]:
        return S >= ROUNDING
    kth = torch.topk(S, k, dim=-1, sorted=True).values[..., -1:]
    return torch.ge(S, kth * (1.0 - TIE)) & (S >= ROUNDING)
