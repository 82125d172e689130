"""A step with few labels, and what a method makes of a configuration, for tests of objectives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from igsd.config_semi import SemiConfig
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.training.graph_source import GraphSource
from igsd.training.label_batches import LabelBatch
from igsd.training.label_task import LabelStep
from tests.small_graphs import HOST, TINY

PLAIN = {"encoder_batch_norm": False, "head_norm": False}
"""No BatchNorm: the outputs of a graph do not depend on the others of its batch."""


def label_step(num_pseudo: int = 0) -> LabelStep:
    """Return the first step: four labelled graphs, some pseudo-labels, and the last four."""
    targets, pseudo = torch.tensor([0, 1, 1, 0]), torch.arange(num_pseudo) % 2
    return LabelStep(
        graphs=LabelBatch(np.arange(4), np.arange(4, 4 + num_pseudo), np.arange(8, 12)),
        targets=targets,
        pseudo=pseudo,
        pool_sizes=(4, num_pseudo),
        class_counts=torch.stack([targets.bincount(), torch.bincount(pseudo, minlength=2)]),
        epoch=0,
        step=0,
    )


def parts(
    method: Any, config_class: type[SemiConfig], graphs: GraphSet, **changes: Any
) -> tuple[Any, Any, GraphSource]:
    """Return (configuration, fresh network for two classes, source) of a method."""
    known = {entry.name for entry in config_class.settings()}
    settings = {k: v for k, v in (TINY | PLAIN | changes).items() if k in known}
    config = config_class().updated(settings)
    features = FeatureMap.fit(graphs)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = method.build(config, features.dim, 2, None)
    source = GraphSource(graphs, features, HOST, view=method.view(config), cache=False)
    return config, network, source
