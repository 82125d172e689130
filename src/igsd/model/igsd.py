"""``IGSDModel``: student and teacher wired together, and the embedding they give."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from igsd.graphs.batch import Batch
from igsd.model.student import Student
from igsd.model.teacher import Teacher


class Outputs(NamedTuple):
    """What one view contributes to Eq. con, each [B, d], not normalised.

    ``p``, ``p_view``: student predictions of the graphs and of their views. ``z``, ``z_view``:
    teacher projections of the graphs and of their views.
    """

    p: Tensor
    p_view: Tensor
    z: Tensor
    z_view: Tensor


def mix(student: Tensor, teacher: Tensor, weight: float) -> Tensor:
    """Return weight * student + (1 - weight) * teacher. Implements Eq. mix."""
    return weight * student + (1.0 - weight) * teacher


class IGSDModel(nn.Module):
    """The student and its teacher."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.student = student
        self.teacher = Teacher(student)

    def forward(self, graphs: Batch, views: list[Batch]) -> list[Outputs]:
        """Return the outputs of each of the K views, to be compared by Eq. con."""
        p, z = self.student(graphs), self.teacher(graphs)
        return [Outputs(p, self.student(view), z, self.teacher(view)) for view in views]

    @torch.no_grad()
    def embed(self, batch: Batch, weight: float) -> Tensor:
        """Return the embedding [B, d] of a batch: Eq. mix of both encoders' representations."""
        return mix(self.student.encoder(batch), self.teacher.encoder(batch), weight)
