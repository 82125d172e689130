"""GIN with labels alone: the encoder and an output layer, which never see an unlabelled graph.

With ``self_training=True`` it is GIN + self-training: pseudo-labels feed its cross entropy.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from igsd.config_semi import IGSD_SETTINGS, SELF_TRAINING_SETTINGS, SemiConfig
from igsd.encoders.encoder import takes_counts
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.parameters import settings_as_parameters
from igsd.estimators.regressor import GraphRegressor
from igsd.graphs.batch import Batch
from igsd.graphs.link_features import LinkFeatures
from igsd.model.build import build_any_encoder
from igsd.model.semi import OutputHead
from igsd.settings import setting
from igsd.training.graph_source import GraphSource
from igsd.training.label_task import LabelStep
from igsd.training.pretraining import nothing_before
from igsd.views.spec import ViewSpec


@dataclass(frozen=True)
class SupervisedConfig(SemiConfig):
    """The settings of an encoder trained on labels alone."""

    section: ClassVar[str] = "gin"
    leaves_out: ClassVar[frozenset[str]] = SemiConfig.leaves_out | IGSD_SETTINGS | {"batch_size"}

    self_training: bool = setting(False, "self-training", "give pseudo-labels while training")


@dataclass(frozen=True)
class SupervisedRegressionConfig(SupervisedConfig):
    """The same for numbers, which have no pseudo-labels."""

    leaves_out: ClassVar[frozenset[str]] = SupervisedConfig.leaves_out | SELF_TRAINING_SETTINGS


class SupervisedNetwork(nn.Module):
    """An encoder and an output layer."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.takes_counts = takes_counts(encoder)

    def forward(self, batch: Batch) -> Tensor:
        """Return the outputs [B, C] of a batch."""
        return self.head(self.encoder(batch))

    def outputs(self, batch: Batch) -> Tensor:
        """Return the logits [B, C], or the standardised numbers [B, t], of graphs."""
        return self(batch)

    @torch.no_grad()
    def embed(self, batch: Batch, weight: float) -> Tensor:
        """Return the representations [B, d]; there is no teacher to mix them with."""
        return self.encoder(batch)

    @property
    def out_dim(self) -> int:
        """Width of a representation."""
        width: int = self.encoder.out_dim  # type: ignore[assignment]
        return width


def build_supervised(
    config: SemiConfig,
    in_dim: int,
    num_outputs: int,
    encoder: nn.Module | None,
    links: LinkFeatures | None = None,
) -> SupervisedNetwork:
    """Return a fresh encoder, or a copy of one's own, with an output layer."""
    made: Any = copy.deepcopy(encoder)
    if made is None:
        made = build_any_encoder(config, in_dim, links)
    head = OutputHead(made.out_dim, num_outputs, dropout=config.head_dropout, norm=config.head_norm)
    return SupervisedNetwork(made, head)


class SupervisedObjective:
    """The supervised loss alone."""

    uses_unlabelled = False

    def __init__(
        self, config: SemiConfig, network: nn.Module, forward: nn.Module, source: GraphSource
    ) -> None:
        self.forward = forward
        self.source = source

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return the loss of the labelled graphs, pseudo-labels included where there are any."""
        graphs = np.concatenate([step.graphs.labelled, step.graphs.pseudo])
        outputs = self.forward(self.source.batch(graphs))
        return {"total": step.supervised(outputs.float(), with_pseudo=True)}

    def after_step(self) -> None:
        """Do nothing."""


class SupervisedMethod:
    """How network and objective are made."""

    name = "gin"
    build = staticmethod(build_supervised)
    objective = SupervisedObjective
    prepare = staticmethod(nothing_before)

    @staticmethod
    def view(config: SemiConfig) -> ViewSpec | None:
        """Return None: there is no view."""
        return None


@settings_as_parameters(SupervisedConfig)
class GINClassifier(GraphClassifier):
    """Classes by GIN from the labelled graphs alone; with ``self_training`` also from its guesses.

    Takes ``y`` with gaps as ``igsd.IGSDClassifier`` does. Settings: ``SupervisedConfig``.
    """

    _method = SupervisedMethod()


@settings_as_parameters(SupervisedRegressionConfig)
class GINRegressor(GraphRegressor):
    """Numbers by GIN from the labelled graphs alone. Settings: ``SupervisedRegressionConfig``."""

    _method = SupervisedMethod()
