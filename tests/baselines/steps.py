"""Single steps of a method, to be compared with its loss written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from igsd.graphs.graphset import GraphSet
from igsd.model.network import Dims, Network, Step, StepLabels
from igsd.settings.fields import Settings
from igsd.training.fit import fit_features, view_of
from igsd.views.source import Source
from tests.small_graphs import HOST, TINY

PLAIN = {"encoder_batch_norm": False, "head_norm": False}
"""No BatchNorm: the outputs of a graph do not depend on the others of its batch."""


def step_of(model: Any, graphs: GraphSet, count: int) -> Step:
    """Return the first step of a fitted estimator without labels, with ``count`` graphs."""
    view = view_of(model.config_)
    source = Source(graphs, model.features_, HOST, view=view, cache=False)
    return Step(source, (np.arange(count),))


def label_step(source: Source, num_pseudo: int = 0) -> Step:
    """Return the first step: four labelled graphs, some pseudo-labels, and the last four."""
    targets, pseudo = torch.tensor([0, 1, 1, 0]), torch.arange(num_pseudo) % 2
    labels = StepLabels(
        targets=targets,
        pseudo=pseudo,
        pool_sizes=(4, num_pseudo),
        class_counts=torch.stack([targets.bincount(), torch.bincount(pseudo, minlength=2)]),
    )
    pools = (np.arange(4), np.arange(4, 4 + num_pseudo), np.arange(8, 12))
    return Step(source, pools, labels=labels)


def two_classes(
    network_class: type[Network], settings_class: type[Settings], graphs: GraphSet, **changes: Any
) -> tuple[Any, Source]:
    """Return (a fresh network of a method for two classes, a source of its graphs)."""
    settings = settings_class().updated(settings_class.known(TINY | PLAIN | changes))
    features = fit_features(graphs, settings)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = network_class(settings, Dims(features, 2))
    return network, Source(graphs, features, HOST, view=view_of(settings), cache=False)
