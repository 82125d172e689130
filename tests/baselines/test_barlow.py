from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.baselines.barlow import BarlowTwins
from igsd.graphs.graphset import GraphSet
from igsd.losses.barlow import barlow
from tests.small_graphs import HOST, TINY

SETTINGS = {key: value for key, value in TINY.items() if key != "batch_size"}


@pytest.mark.parametrize(("weight", "used"), [(0.0, 1 / 8), (0.3, 0.3)])
def test_the_loss_of_graphs_and_views(graphs: GraphSet, weight: float, used: float) -> None:
    model = BarlowTwins(**SETTINGS | {"epochs": 0}, redundancy_weight=weight).fit(graphs)
    network = model.network_
    pair = model.source(graphs, model.features_, model.config_, HOST).step(np.arange(6), (0, 0))
    with torch.no_grad():
        a, b = (network.projector(network.encoder(batch)) for batch in pair)
        assert network(*pair).item() == pytest.approx(barlow(a, b, used).item(), rel=1e-4)
