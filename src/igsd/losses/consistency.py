"""Eq. con: the distance between what the student predicts and what the teacher projects."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import normalize


def consistency(p: Tensor, p_view: Tensor, z: Tensor, z_view: Tensor) -> Tensor:
    """Return the consistency losses of all pairs, [B, M]. Implements Eq. con.

    L_con(i, j) = ||p_i - z'_j||^2 + ||p'_i - z_j||^2, all vectors L2-normalised.

    ``p``, ``p_view`` [B, d]: student predictions of graphs i and of their views. ``z``, ``z_view``
    [M, d]: teacher projections of graphs j and of their views. Values lie in [0, 8].
    """
    p, p_view = normalize(p, dim=1), normalize(p_view, dim=1)
    z, z_view = normalize(z, dim=1), normalize(z_view, dim=1)
    # ||a - b||^2 = 2 - 2 a.b for unit vectors: one product instead of a [B, M, d] difference.
    return 4.0 - 2.0 * (p @ z_view.T + p_view @ z.T)
