"""``Student``: encoder f, projector g and predictor h, the part that learns by gradient."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.graphs.batch import Batch


class Student(nn.Module):
    """The student network: h = f(G), z = g(h), p = h(z).

    Projector and predictor may be ``nn.Identity`` (the paper's ablation).
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module, predictor: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector
        self.predictor = predictor

    def forward(self, batch: Batch) -> Tensor:
        """Return the predictions p [B, d] for a batch of graphs."""
        return self.predictor(self.projector(self.encoder(batch)))
