"""InfoGraph as a plain regulariser: one encoder learns labels and mutual information at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from igsd.baselines.gin_supervised import SupervisedNetwork, build_supervised
from igsd.baselines.local_global import LocalGlobal
from igsd.config_semi import IGSD_SETTINGS, SELF_TRAINING_SETTINGS, SemiConfig
from igsd.encoders.node_vectors import encode_with_nodes, node_width
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.parameters import settings_as_parameters
from igsd.estimators.regressor import GraphRegressor
from igsd.graphs.batch import Batch
from igsd.graphs.link_features import LinkFeatures
from igsd.settings import setting
from igsd.training.graph_source import GraphSource
from igsd.training.label_task import LabelStep
from igsd.training.pretraining import nothing_before
from igsd.views.spec import ViewSpec


@dataclass(frozen=True)
class InfoGraphConfig(SemiConfig):
    """The settings of InfoGraph as a regulariser."""

    section: ClassVar[str] = "infograph"
    leaves_out: ClassVar[frozenset[str]] = (
        SemiConfig.leaves_out | SELF_TRAINING_SETTINGS | IGSD_SETTINGS
    )

    self_training: bool = setting(False, "self-training", "not here")
    information_weight: float = setting(
        0.1, "labels", "weight of the mutual information of nodes and graphs", low=0.0
    )
    discriminator_dim: int = setting(64, "labels", "width of the vectors it compares", low=1)


class InfoGraphNetwork(SupervisedNetwork):
    """An encoder with an output layer and the discriminator of nodes and graphs."""

    def __init__(self, supervised: SupervisedNetwork, dim: int) -> None:
        super().__init__(supervised.encoder, supervised.head)
        self.takes_counts = False  # each node is compared with the graphs
        self.local_global = LocalGlobal(node_width(self.encoder), self.out_dim, dim)

    def forward(self, batch: Batch, num_labelled: int) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Return (outputs of the first graphs [num_labelled, C], mutual-information loss)."""
        nodes, h = encode_with_nodes(self.encoder, batch)
        return self.head(h[:num_labelled]), self.local_global(nodes, h, batch.batch)

    def outputs(self, batch: Batch) -> Tensor:
        """Return the outputs [B, C] of graphs."""
        return self.head(self.encoder(batch))


class InfoGraphObjective:
    """The supervised loss + weight * mutual information over all graphs of the step."""

    uses_unlabelled = True

    def __init__(
        self,
        config: InfoGraphConfig,
        network: nn.Module,
        forward: nn.Module,
        source: GraphSource,
    ) -> None:
        self.config = config
        self.forward = forward
        self.source = source

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return both parts and ``total``."""
        graphs = np.concatenate([step.graphs.labelled, step.graphs.unlabelled])
        outputs, information = self.forward(self.source.batch(graphs), len(step.targets))
        loss = step.supervised(outputs.float(), with_pseudo=False)
        total = loss + self.config.information_weight * information
        return {"supervised": loss, "information": information, "total": total}

    def after_step(self) -> None:
        """Do nothing."""


class InfoGraphMethod:
    """How network and objective are made."""

    name = "infograph"
    network: Callable[[SupervisedNetwork, int], SupervisedNetwork] = InfoGraphNetwork
    objective: type[InfoGraphObjective] = InfoGraphObjective
    prepare = staticmethod(nothing_before)

    @classmethod
    def build(
        cls,
        config: InfoGraphConfig,
        in_dim: int,
        num_outputs: int,
        encoder: nn.Module | None,
        links: LinkFeatures | None = None,
    ) -> SupervisedNetwork:
        """Return a fresh network."""
        supervised = build_supervised(config, in_dim, num_outputs, encoder, links)
        return cls.network(supervised, config.discriminator_dim)

    @staticmethod
    def view(config: InfoGraphConfig) -> ViewSpec | None:
        """Return None: there is no view."""
        return None


@settings_as_parameters(InfoGraphConfig)
class InfoGraphClassifier(GraphClassifier):
    """Classes with InfoGraph as a regulariser, from few labels and many graphs."""

    _method = InfoGraphMethod()


@settings_as_parameters(InfoGraphConfig)
class InfoGraphRegressor(GraphRegressor):
    """Numbers with InfoGraph as a regulariser, from few labels and many graphs."""

    _method = InfoGraphMethod()
