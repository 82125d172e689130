from __future__ import annotations

import pytest
import torch

from igsd.baselines.neural.byol import BYOL
from igsd.graphs.graphset import GraphSet
from tests.baselines.steps import step_of
from tests.reference.losses import consistency
from tests.small_graphs import TINY


def test_the_loss_is_the_diagonal_of_eq_con(graphs: GraphSet) -> None:
    model = BYOL(**(TINY | {"epochs": 0})).fit(graphs)
    network, step = model.network_, step_of(model, graphs, 5)
    with torch.no_grad():
        (outputs,) = network.model.compare(step.batch, step.views)
        table = consistency(*(part.tolist() for part in outputs))
        expected = sum(table[i][i] for i in range(5)) / 5
        assert network.losses(step)["total"].item() == pytest.approx(expected, rel=1e-4)


def test_the_teacher_follows_after_every_step(graphs: GraphSet) -> None:
    frozen = BYOL(**TINY, ema_decay=1.0).fit(graphs).network_.model
    fresh = BYOL(**(TINY | {"epochs": 0})).fit(graphs).network_.model
    pairs = zip(frozen.teacher.parameters(), fresh.teacher.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    copied = BYOL(**TINY, ema_decay=0.0).fit(graphs).network_.model
    pairs = zip(
        copied.teacher.encoder.parameters(), copied.student.encoder.parameters(), strict=True
    )
    assert all(torch.equal(a, b) for a, b in pairs)
