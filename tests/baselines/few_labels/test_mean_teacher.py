from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.baselines.few_labels.mean_teacher import (
    MeanTeacherClassifier,
    MeanTeacherConfig,
    MeanTeacherNetwork,
    ramp_up,
)
from tests.baselines.steps import label_step, two_classes
from tests.estimators.few_labels import few_graphs, small, some_classes


def test_the_weight_of_agreement_grows() -> None:
    assert ramp_up(0, 10) == pytest.approx(np.exp(-5))
    assert ramp_up(10, 10) == ramp_up(50, 10) == ramp_up(0, 0) == 1.0
    values = [ramp_up(epoch, 10) for epoch in range(12)]
    assert values == sorted(values)


def test_the_mean_teacher_predicts() -> None:
    graphs = few_graphs()
    model = small(MeanTeacherClassifier, ema_decay=0.5).fit(graphs, some_classes(graphs))
    before = model.predict_proba(graphs)
    network = model.network_
    with torch.no_grad():
        for parameter in network.student.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(model.predict_proba(graphs), before)
    assert all(not p.requires_grad for p in network.teacher.parameters())


def test_the_loss_is_the_label_and_the_agreement() -> None:
    settings = {"ramp_epochs": 0, "consistency_weight": 3.0}
    network, source = two_classes(MeanTeacherNetwork, MeanTeacherConfig, few_graphs(), **settings)
    with torch.no_grad():
        for parameter in network.student.parameters():
            parameter.add_(0.1)
    step = label_step(source)
    losses = network.losses(step)
    everyone = np.concatenate([np.arange(4), np.arange(8, 12)])
    batch = source.batch(everyone)
    outputs, guessed = (
        each.head(each.encoder(source.views(batch, everyone, (0, draw))[0]))
        for draw, each in enumerate((network.student, network.teacher))
    )
    entropy = torch.nn.functional.cross_entropy(outputs[:4], step.labels.targets)
    agreement = (outputs.softmax(1) - guessed.softmax(1)).square().mean()
    torch.testing.assert_close(losses["supervised"], entropy)
    torch.testing.assert_close(losses["consistency"], agreement)
    torch.testing.assert_close(losses["total"], entropy + 3.0 * agreement)
    assert agreement > 0


def test_the_teacher_is_the_moving_average() -> None:
    network, _ = two_classes(MeanTeacherNetwork, MeanTeacherConfig, few_graphs(), ema_decay=0.75)
    before = [p.clone() for p in network.teacher.parameters()]
    with torch.no_grad():
        for parameter in network.student.parameters():
            parameter.add_(1.0)
    network.after_step()
    for old, new in zip(before, network.teacher.parameters(), strict=True):
        torch.testing.assert_close(new, old + 0.25)
