from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_model
from igsd.training.batches import epoch_batches
from igsd.training.self_supervised import SelfSupervisedTask, gather_rows
from igsd.views.pairs import PairSource
from igsd.views.spec import ViewSpec
from tests.reference import losses as reference
from tests.small_graphs import HOST
from tests.training.runs import tiny


class Processes:
    """The part of Fabric that ``gather_rows`` uses, for several processes that are not there.

    Each call of ``all_gather`` gives the next of the prepared answers.
    """

    def __init__(self, rank: int, answers: list[Tensor]) -> None:
        self.global_rank = rank
        self.world_size = len(answers[0])
        self.answers = iter(answers)
        self.sent: list[Tensor] = []

    def all_gather(self, value: Tensor) -> Tensor:
        self.sent.append(value)
        return next(self.answers)


def test_one_process_has_all_rows() -> None:
    z = torch.ones(3, 2)
    rows, offset = gather_rows(z, SimpleNamespace(world_size=1))
    assert rows is z
    assert offset == 0


@pytest.mark.parametrize(("rank", "offset"), [(0, 0), (1, 3)])
def test_parts_of_unlike_length_are_put_together_in_order(rank: int, offset: int) -> None:
    parts = [torch.arange(6.0).view(3, 2), torch.arange(6.0, 10.0).view(2, 2)]
    padded = torch.stack([parts[0], torch.cat([parts[1], torch.zeros(1, 2)])])
    processes = Processes(rank, [torch.tensor([3, 2]), padded])
    rows, found = gather_rows(parts[rank], processes)
    assert torch.equal(rows, torch.cat(parts))
    assert found == offset
    assert processes.sent[1].shape == (3, 2)


def task_of(graphs: GraphSet, **changes) -> SelfSupervisedTask:
    features = FeatureMap.fit(graphs)
    model = build_model(tiny(**changes), features.dim)
    return SelfSupervisedTask(
        model,
        model,
        PairSource(graphs, features, ViewSpec(), seed=3, device=HOST, cache=False),
        SimpleNamespace(global_rank=0, world_size=1),
        epochs=2,
        batch_size=4,
        temperature=0.7,
        ema_decay=0.5,
    )


def test_loss_of_a_step_equals_the_plain_loop(graphs: GraphSet) -> None:
    task = task_of(graphs)
    task.module.eval()
    indices = epoch_batches(len(graphs), 4, 3, 1)[2]
    batch, view = task.pairs.pair(indices, (1, 2))
    outputs = task.module(batch, [view])[0]
    table = reference.consistency(*(part.tolist() for part in outputs))
    expected = reference.infonce(table, 0.7)
    losses = task.losses(1, 2)
    assert set(losses) == {"total"}
    assert losses["total"].item() == pytest.approx(expected, rel=1e-4)


def test_number_of_steps(graphs: GraphSet) -> None:
    assert task_of(graphs).num_steps(0) == 3


def test_the_teacher_follows_after_a_step(graphs: GraphSet) -> None:
    task = task_of(graphs)
    with torch.no_grad():
        for parameter in task.module.student.parameters():
            parameter.add_(1.0)
    before = [p.clone() for p in task.module.teacher.parameters()]
    task.after_step()
    for now, old in zip(task.module.teacher.parameters(), before, strict=True):
        torch.testing.assert_close(now, old + 0.5)
