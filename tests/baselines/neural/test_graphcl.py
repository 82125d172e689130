from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from igsd.baselines.neural.graphcl import GraphCL
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.losses.contrastive import ntxent
from tests.baselines.steps import step_of
from tests.small_graphs import TINY

SETTINGS = {key: TINY[key] for key in ("num_layers", "hidden_dim", "head_dim")}


@pytest.mark.parametrize("augmentations", ["node-drop+subgraph", "ppr", "heat+edge-drop"])
def test_the_loss_is_ntxent_of_both_projections(graphs: GraphSet, augmentations: str) -> None:
    settings = SETTINGS | {"augmentations": augmentations, "temperature": 0.5}
    model = GraphCL(**settings, epochs=0).fit(graphs)
    network, step = model.network_, step_of(model, graphs, 6)
    views = step.source.two_views(step.indices, (0, 0), network.kinds, 0.2)
    with torch.no_grad():
        a, b = (network.projector(network.encoder(view)) for view in views)
        expected = ntxent(a, b, 0.5).item()
        assert network.losses(step)["total"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"augmentations": "node-dropp"}, r"'augmentations' parameter of GraphCL.*'node-drop'"),
        ({"augmentations": "ppr+heat"}, "one of ppr and heat"),
        ({"augmentations": "ppr", "encoder": "mpnn"}, "neither with encoder='mpnn'"),
        ({"encoder": "mpnn"}, "edge-perturb adds bonds without a kind"),
    ],
)
def test_augmentations_that_cannot_be(graphs: GraphSet, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GraphCL(**settings).fit(graphs)


def test_a_diffusion_may_be_an_augmentation(graphs: GraphSet) -> None:
    vectors = GraphCL(**SETTINGS, epochs=1, augmentations="ppr+node-drop").fit_transform(graphs)
    assert np.isfinite(vectors).all()
