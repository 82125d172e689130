from __future__ import annotations

import pytest
import torch

from igsd.baselines.neural.barlow import BarlowTwins
from igsd.graphs.graphset import GraphSet
from igsd.losses.contrastive import barlow
from tests.baselines.steps import step_of
from tests.small_graphs import TINY


@pytest.mark.parametrize(("weight", "used"), [(0.0, 1 / 8), (0.3, 0.3)])
def test_the_loss_of_graphs_and_views(graphs: GraphSet, weight: float, used: float) -> None:
    model = BarlowTwins(**(TINY | {"epochs": 0}), redundancy_weight=weight).fit(graphs)
    network, step = model.network_, step_of(model, graphs, 6)
    with torch.no_grad():
        a, b = (network.projector(network.encoder(seen)) for seen in (step.batch, step.views[0]))
        expected = barlow(a, b, used).item()
        assert network.losses(step)["total"].item() == pytest.approx(expected, rel=1e-4)
