"""``Teacher``: the exponential moving average of a student."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from igsd.graphs.batch import Batch
from igsd.model.student import Student


@torch.no_grad()
def ema_update(teacher: nn.Module, student: nn.Module, decay: float) -> None:
    """Move the teacher's parameters towards the student's. Implements Eq. EMA.

    teacher <- decay * teacher + (1 - decay) * student, for every parameter. Buffers are left alone:
    BatchNorm statistics of the teacher come from the teacher's own forward passes, since an average
    of the student's statistics would describe activations that the teacher never had.
    """
    targets, sources = tuple(teacher.parameters()), tuple(student.parameters())
    if targets:  # a projector that is switched off has none
        torch._foreach_lerp_(targets, sources, 1.0 - decay)


class Teacher(nn.Module):
    """The teacher network: h = f'(G), z = g'(h). It has no predictor and takes no gradient."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.encoder = copy.deepcopy(student.encoder)
        self.projector = copy.deepcopy(student.projector)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, batch: Batch) -> Tensor:
        """Return the projections z [B, d] for a batch of graphs, cut off from the gradient."""
        return self.projector(self.encoder(batch))

    def update(self, student: Student, decay: float) -> None:
        """Follow the student by one step. Implements Eq. EMA."""
        ema_update(self.encoder, student.encoder, decay)
        ema_update(self.projector, student.projector, decay)
