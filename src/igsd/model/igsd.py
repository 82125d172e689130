"""``IGSDModel``: student and teacher wired together, and the embedding they give."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from igsd.graphs.batch import Batch
from igsd.graphs.distinct_batch import DistinctBatch
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
    """Return h~ = lambda h + (1 - lambda) h', [B, d]. Implements Eq. mix.

    ``student`` is h = f_student(G) and ``teacher`` h' = f_teacher(G), both [B, d]; ``weight`` is
    lambda, 0.5 in the paper.
    """
    return weight * student + (1.0 - weight) * teacher


class IGSDModel(nn.Module):
    """The student and its teacher."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.student = student
        self.teacher = Teacher(student)

    def forward(self, graphs: Batch, views: list[Batch]) -> list[Outputs]:
        """Return the outputs of each of the K views, to be compared by Eq. con.

        Graphs and views pass through each network together, as one batch: BatchNorm then sees in
        training the same mixture that its running statistics describe later.
        """
        joint = Batch.joined([graphs, *views])
        sizes = [batch.num_graphs for batch in (graphs, *views)]
        p, *p_views = self.student(joint).split(sizes)
        z, *z_views = self.teacher(joint).split(sizes)
        return [
            Outputs(p, p_view, z, z_view) for p_view, z_view in zip(p_views, z_views, strict=True)
        ]

    @torch.no_grad()
    def embed(self, batch: Batch | DistinctBatch, weight: float) -> Tensor:
        """Return the embedding [B, d] of a batch: Eq. mix of both encoders' representations."""
        return mix(self.student.encoder(batch), self.teacher.encoder(batch), weight)
