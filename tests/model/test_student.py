from __future__ import annotations

import torch
from torch import Tensor, nn

from igsd.graphs.batch import Batch
from igsd.graphs.graphset import GraphSet
from igsd.model.student import Student
from tests.small_graphs import make_batch


class SumEncoder(nn.Module):
    """The sum of a graph's node features."""

    def forward(self, batch: Batch) -> Tensor:
        return batch.x.new_zeros(batch.num_graphs, batch.x.shape[1]).index_add(
            0, batch.batch, batch.x
        )


class Times(nn.Module):
    """Multiplies by a number that is learned."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(factor))

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x


def test_encoder_then_projector_then_predictor(graphs: GraphSet) -> None:
    batch = make_batch(graphs)
    h = SumEncoder()(batch)
    student = Student(SumEncoder(), Times(2.0), Times(5.0))
    torch.testing.assert_close(student(batch), 10 * h)
    assert {name for name, _ in student.named_parameters()} == {
        "projector.factor",
        "predictor.factor",
    }


def test_heads_may_be_left_out(graphs: GraphSet) -> None:
    batch = make_batch(graphs)
    student = Student(SumEncoder(), nn.Identity(), nn.Identity())
    torch.testing.assert_close(student(batch), SumEncoder()(batch))


def test_the_gradient_reaches_every_part(graphs: GraphSet) -> None:
    student = Student(SumEncoder(), Times(2.0), Times(5.0))
    student(make_batch(graphs)).sum().backward()
    assert all(p.grad is not None and p.grad != 0 for p in student.parameters())
