from __future__ import annotations

import torch

from igsd.config_semi import SemiConfig
from igsd.model.igsd import mix
from igsd.model.semi import OutputHead
from igsd.training.semi_supervised import SemiSupervisedIGSD
from tests.small_graphs import TINY, make_batch, make_graphs


def test_outputs_and_embedding() -> None:
    batch = make_batch(make_graphs(6))
    config = SemiConfig(**TINY)
    model = SemiSupervisedIGSD.build(config, batch.x.shape[1], 3).eval()
    assert model.outputs(batch).shape == (6, 3)
    for weights in model.igsd.teacher.parameters():
        weights.mul_(0.5)
    student, teacher = model.igsd.student.encoder(batch), model.igsd.teacher.encoder(batch)
    torch.testing.assert_close(model.outputs(batch), model.head(mix(student, teacher, 0.5)))
    torch.testing.assert_close(model.embed(batch, 0.3), mix(student, teacher, 0.3))
    assert model.out_dim == student.shape[1]


def test_without_views_the_student_predicts_alone() -> None:
    batch = make_batch(make_graphs(6))
    config = SemiConfig(**TINY, supcon_weight=0.0)
    model = SemiSupervisedIGSD.build(config, batch.x.shape[1], 3).eval()
    assert model.mix_weight == 1.0
    student = model.igsd.student.encoder(batch)
    torch.testing.assert_close(model.outputs(batch), model.head(student))


def test_forward_is_that_of_igsd_with_an_output_for_the_labelled() -> None:
    batch = make_batch(make_graphs(6))
    model = SemiSupervisedIGSD.build(SemiConfig(**TINY), batch.x.shape[1], 2).eval()
    outputs, (found,) = model(batch, [batch], 4)
    torch.testing.assert_close(outputs, model.outputs(batch)[:4])
    (expected,) = model.igsd(batch, [batch])
    for left, right in zip(found, expected, strict=True):
        torch.testing.assert_close(left, right)
    assert not found.z.requires_grad
    assert model(batch, [], 4)[1] == []


def test_the_output_layer_sees_columns_of_one_scale() -> None:
    head = OutputHead(3, 2, norm=True)
    torch.nn.init.eye_(head[-1].weight)
    torch.nn.init.zeros_(head[-1].bias)
    rows = torch.tensor([[1.0, 1e6, 3.0], [3.0, 5e6, 3.0]])
    torch.testing.assert_close(head(rows), torch.tensor([[-1.0, -1.0], [1.0, 1.0]]))
    assert torch.isfinite(head(rows[:1])).all()
    assert not any(isinstance(part, torch.nn.BatchNorm1d) for part in OutputHead(3, 2))


def test_one_step_is_enough_for_the_statistics_of_the_columns() -> None:
    head = OutputHead(2, 2, norm=True)
    rows = torch.tensor([[100.0, -7.0], [104.0, -3.0], [96.0, -5.0]])
    head(rows)
    norm = head[0]
    torch.testing.assert_close(norm.running_mean, rows.mean(dim=0))
    torch.testing.assert_close(norm.running_var, rows.var(dim=0))
    for _ in range(20):
        head(rows)
    assert norm.momentum == 0.1
