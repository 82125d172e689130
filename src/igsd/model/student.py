"""``Student``: encoder, projector and predictor, the part that learns by gradient."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.graphs.batch import Batch


class Student(nn.Module):
    """The student network: h = encoder(G), z = projector(h), p = predictor(z).

    In the paper's letters f, g and h_theta. Projector and predictor may be ``nn.Identity`` (the
    paper's ablation).
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module, predictor: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector
        self.predictor = predictor

    def forward(self, batch: Batch) -> Tensor:
        """Return the predictions p [B, d] for a batch of graphs."""
        return self.predictor(self.projector(self.encoder(batch)))
