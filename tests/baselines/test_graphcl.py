from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.baselines.graphcl import GraphCL
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.losses.ntxent import ntxent
from tests.baselines.test_step_sources import source
from tests.small_graphs import TINY


def test_the_loss_is_ntxent_of_both_projections(graphs: GraphSet) -> None:
    settings = {key: TINY[key] for key in ("num_layers", "hidden_dim", "head_dim")}
    network = GraphCL(**settings, epochs=0, temperature=0.5).fit(graphs).network_
    first, second = source(graphs).step(np.arange(6), (0, 0))
    with torch.no_grad():
        a, b = (network.projector(network.encoder(view)) for view in (first, second))
        assert network(first, second).item() == pytest.approx(ntxent(a, b, 0.5).item(), rel=1e-4)


def test_unknown_augmentation(graphs: GraphSet) -> None:
    with pytest.raises(ConfigError, match=r"'augmentations' parameter of GraphCL.*'node-drop'"):
        GraphCL(augmentations="node-dropp").fit(graphs)
