"""``MLPHead``: the two-layer perceptron used as projector and as predictor."""

from torch import nn

from igsd.encoders.norm import Norm


class MLPHead(nn.Sequential):
    """W2 relu(W1 x): the paper's projector g and predictor h.

    ``batch_norm`` puts BatchNorm before the ReLU. Departs from the paper, which has no BatchNorm
    there and no biases.
    """

    def __init__(self, in_dim: int, hidden_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        norm = Norm(hidden_dim) if batch_norm else nn.Identity()
        super().__init__(
            # BatchNorm would cancel a bias.
            nn.Linear(in_dim, hidden_dim, bias=not batch_norm),
            norm,
            nn.ReLU(inplace=True),
            nn.Linear(hidden_dim, out_dim),
        )
        self.out_dim = out_dim
