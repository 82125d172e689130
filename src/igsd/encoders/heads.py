"""``MLPHead``: the two-layer perceptron used as projector and as predictor."""

from __future__ import annotations

from torch import nn


class MLPHead(nn.Sequential):
    """W2 relu(W1 x): the paper's projector g and predictor h.

    ``batch_norm`` puts BatchNorm before the ReLU. Departs from the paper, which has no BatchNorm
    there and no biases.
    """

    def __init__(self, in_dim: int, hidden_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        norm = nn.BatchNorm1d(hidden_dim) if batch_norm else nn.Identity()
        super().__init__(
            # BatchNorm would take a bias away again.
            nn.Linear(in_dim, hidden_dim, bias=not batch_norm),
            norm,
            nn.ReLU(inplace=True),
            nn.Linear(hidden_dim, out_dim),
        )
        self.out_dim = out_dim
