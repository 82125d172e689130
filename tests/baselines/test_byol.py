from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.baselines.byol import BYOL
from igsd.graphs.graphset import GraphSet
from tests.reference.losses import consistency
from tests.small_graphs import HOST, TINY


def test_the_loss_is_the_diagonal_of_eq_con(graphs: GraphSet) -> None:
    model = BYOL(**(TINY | {"epochs": 0})).fit(graphs)
    network = model.network_
    pair = model.source(graphs, model.features_, model.config_, HOST).step(np.arange(5), (0, 0))
    with torch.no_grad():
        (outputs,) = network.model(pair[0], [pair[1]])
        table = consistency(*(part.tolist() for part in outputs))
        expected = sum(table[i][i] for i in range(5)) / 5
        assert network(*pair).item() == pytest.approx(expected, rel=1e-4)


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
