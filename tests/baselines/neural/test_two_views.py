from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from igsd.baselines.neural.two_views import BYOL, BarlowTwins, GraphCL
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.losses.contrastive import barlow, ntxent
from tests.baselines.steps import step_of
from tests.reference.losses import consistency
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
        ({"augmentations": "ppr+heat"}, "ppr or heat, not both"),
        ({"augmentations": "ppr", "encoder": "mpnn"}, "augmentations='edge-drop', or"),
        ({"encoder": "gine"}, "Use augmentations='node-drop.attribute-mask.subgraph', or"),
    ],
)
def test_augmentations_that_cannot_be(graphs: GraphSet, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GraphCL(**settings).fit(graphs)


def test_a_diffusion_may_be_an_augmentation(graphs: GraphSet) -> None:
    vectors = GraphCL(**SETTINGS, epochs=1, augmentations="ppr+node-drop").fit_transform(graphs)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize(("weight", "used"), [(0.0, 1 / 8), (0.3, 0.3)])
def test_the_loss_of_graphs_and_views(graphs: GraphSet, weight: float, used: float) -> None:
    model = BarlowTwins(**(TINY | {"epochs": 0}), redundancy_weight=weight).fit(graphs)
    network, step = model.network_, step_of(model, graphs, 6)
    with torch.no_grad():
        a, b = (network.projector(network.encoder(seen)) for seen in (step.batch, step.views[0]))
        expected = barlow(a, b, used).item()
        assert network.losses(step)["total"].item() == pytest.approx(expected, rel=1e-4)


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
