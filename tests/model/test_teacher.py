from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from igsd.config import Config
from igsd.graphs.batch import Batch
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel
from igsd.model.teacher import ema_update
from igsd.training.loop import trainable
from tests.small_graphs import TINY, make_batch, make_graphs


@pytest.fixture
def batch() -> Batch:
    return make_batch(make_graphs())


@pytest.fixture
def model(batch: Batch) -> IGSDModel:
    return build_model(Config(**TINY), batch.x.shape[1])


def test_starts_as_the_student(model: IGSDModel, batch: Batch) -> None:
    student, teacher = model.student.state_dict(), model.teacher.state_dict()
    assert set(teacher) == {name for name in student if not name.startswith("predictor.")}
    assert all(torch.equal(teacher[name], student[name]) for name in teacher)
    assert all(
        a is not b
        for a, b in zip(model.teacher.parameters(), model.student.parameters(), strict=False)
    )


def test_takes_no_gradient(model: IGSDModel, batch: Batch) -> None:
    outputs = model(batch, [batch])[0]
    assert not outputs.z.requires_grad
    assert not outputs.z_view.requires_grad
    assert outputs.p.requires_grad
    assert outputs.p_view.requires_grad
    (outputs.p - outputs.z).square().sum().backward()
    assert all(p.grad is None and not p.requires_grad for p in model.teacher.parameters())


def test_the_optimiser_never_holds_it(model: IGSDModel) -> None:
    teacher = {id(p) for p in model.teacher.parameters()}
    chosen = {id(p) for p in trainable(model)}
    assert chosen == {id(p) for p in model.student.parameters()}
    assert not chosen & teacher


@pytest.mark.parametrize(("decay", "steps"), [(0.9, 1), (0.99, 7), (0.0, 2), (1.0, 3)])
def test_closed_form_after_k_updates(decay: float, steps: int) -> None:
    # With a student that stands still: teacher_k = tau^k teacher_0 + (1 - tau^k) student.
    generator = torch.Generator().manual_seed(0)
    student, teacher = nn.Linear(3, 2).double(), nn.Linear(3, 2).double()
    with torch.no_grad():
        for parameter in (*student.parameters(), *teacher.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    start = copy.deepcopy(teacher)
    for _ in range(steps):
        ema_update(teacher, student, decay)
    for now, first, target in zip(
        teacher.parameters(), start.parameters(), student.parameters(), strict=True
    ):
        expected = decay**steps * first + (1 - decay**steps) * target
        torch.testing.assert_close(now, expected, rtol=1e-12, atol=1e-12)


def test_a_moving_student_is_averaged_with_falling_weights() -> None:
    student, teacher = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    nn.init.constant_(teacher.weight, 8.0)
    for value in (0.0, 4.0, 2.0):
        nn.init.constant_(student.weight, value)
        ema_update(teacher, student, 0.5)
    assert teacher.weight.item() == 8 / 8 + 0 / 8 + 4 / 4 + 2 / 2


def test_update_moves_encoder_and_projector_and_leaves_the_student(model: IGSDModel) -> None:
    with torch.no_grad():
        for parameter in model.student.parameters():
            parameter.add_(1.0)
    before = copy.deepcopy(model.student.state_dict())
    start = [p.clone() for p in model.teacher.parameters()]
    model.teacher.update(model.student, 0.75)
    for now, first in zip(model.teacher.parameters(), start, strict=True):
        torch.testing.assert_close(now, first + 0.25)
    assert all(torch.equal(v, before[k]) for k, v in model.student.state_dict().items())


def test_batch_norm_statistics_are_the_teachers_own(model: IGSDModel, batch: Batch) -> None:
    model.train()
    model.student(batch)
    fresh = {k: v.clone() for k, v in model.teacher.named_buffers()}
    assert not torch.equal(
        dict(model.student.named_buffers())["encoder.layers.0.norm.running_mean"],
        fresh["encoder.layers.0.norm.running_mean"],
    )
    model.teacher.update(model.student, 0.5)
    assert all(torch.equal(v, fresh[k]) for k, v in model.teacher.named_buffers())
    model.teacher(batch)
    assert all(not torch.equal(v, fresh[k]) for k, v in model.teacher.named_buffers())
