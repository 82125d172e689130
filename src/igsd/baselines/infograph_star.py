"""InfoGraph* (Sun et al., 2020): a supervised and an unsupervised encoder that share knowledge.

The unsupervised one maximises the mutual information of nodes and graphs; the supervised one
learns the labels; and the mutual information between the representations that both give to the
same graph carries knowledge over, without forcing one encoder to serve both ends.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from igsd.baselines.gin_supervised import SupervisedNetwork
from igsd.baselines.infograph_regulariser import (
    InfoGraphConfig,
    InfoGraphMethod,
    InfoGraphObjective,
)
from igsd.baselines.local_global import LocalGlobal
from igsd.encoders.heads import MLPHead
from igsd.encoders.node_vectors import encode_with_nodes, node_width
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.parameters import settings_as_parameters
from igsd.estimators.regressor import GraphRegressor
from igsd.graphs.batch import Batch
from igsd.losses.jsd import jsd
from igsd.settings import setting
from igsd.training.label_task import LabelStep


@dataclass(frozen=True)
class InfoGraphStarConfig(InfoGraphConfig):
    """The settings of InfoGraph*."""

    section: ClassVar[str] = "infograph-star"

    transfer_weight: float = setting(
        0.1, "labels", "weight of the mutual information of the two encoders", low=0.0
    )


class InfoGraphStarNetwork(SupervisedNetwork):
    """The supervised encoder with its output layer, beside an encoder of the same shape."""

    def __init__(self, supervised: SupervisedNetwork, dim: int) -> None:
        super().__init__(supervised.encoder, supervised.head)
        self.takes_counts = False  # each node is compared with the graphs
        self.unsupervised = _fresh_copy(supervised.encoder)
        self.local_global = LocalGlobal(node_width(self.encoder), self.out_dim, dim)
        self.of_supervised = MLPHead(self.out_dim, dim, dim, batch_norm=False)
        self.of_unsupervised = MLPHead(self.out_dim, dim, dim, batch_norm=False)

    def forward(  # type: ignore[override]
        self, batch: Batch, num_labelled: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return (outputs [num_labelled, C], loss of nodes and graphs, loss of both encoders)."""
        h = self.encoder(batch)
        nodes, other = encode_with_nodes(self.unsupervised, batch)
        information = self.local_global(nodes, other, batch.batch)
        scores = self.of_supervised(h).float() @ self.of_unsupervised(other).float().T
        itself = torch.eye(len(h), dtype=torch.bool, device=h.device)
        return self.head(h[:num_labelled]), information, jsd(scores, itself)

    def outputs(self, batch: Batch) -> Tensor:
        """Return the outputs [B, C] of the supervised encoder."""
        return self.head(self.encoder(batch))


class InfoGraphStarObjective(InfoGraphObjective):
    """The supervised loss + both mutual informations, over all graphs of the step."""

    config: InfoGraphStarConfig

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return the three parts and ``total``."""
        graphs = np.concatenate([step.graphs.labelled, step.graphs.unlabelled])
        batch = self.source.batch(graphs)
        outputs, information, transfer = self.forward(batch, len(step.targets))
        loss = step.supervised(outputs.float(), with_pseudo=False)
        total = loss + self.config.information_weight * information
        total = total + self.config.transfer_weight * transfer
        parts = {"supervised": loss, "information": information, "transfer": transfer}
        return parts | {"total": total}


class InfoGraphStarMethod(InfoGraphMethod):
    """How network and objective are made."""

    name = "infograph-star"
    network = InfoGraphStarNetwork
    objective = InfoGraphStarObjective


@settings_as_parameters(InfoGraphStarConfig)
class InfoGraphStarClassifier(GraphClassifier):
    """Classes by InfoGraph*, from few labels and many graphs."""

    _method = InfoGraphStarMethod()


@settings_as_parameters(InfoGraphStarConfig)
class InfoGraphStarRegressor(GraphRegressor):
    """Numbers by InfoGraph*, from few labels and many graphs."""

    _method = InfoGraphStarMethod()


def _fresh_copy(encoder: nn.Module) -> nn.Module:
    """Return an encoder of the same shape with weights of its own."""
    made = copy.deepcopy(encoder)
    for module in made.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()  # type: ignore[operator]
    return made
