"""``BYOL``: IGSD without negatives (Grill et al., 2020), Eq. con on the diagonal alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.baselines.step_sources import ViewSource
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.losses.consistency import consistency
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel


@dataclass(frozen=True)
class BYOLConfig(LearnedConfig):
    """The settings of BYOL: those of IGSD but for the temperature."""

    leaves_out: ClassVar[frozenset[str]] = LearnedConfig.leaves_out | {"temperature", "embed_views"}


class BYOLNetwork(LearnedNetwork):
    """IGSD's student and teacher, each graph compared with itself alone."""

    def __init__(self, model: IGSDModel, ema_decay: float, mix_weight: float) -> None:
        width: int = model.student.encoder.out_dim  # type: ignore[assignment]
        super().__init__(width)
        self.model = model
        self.ema_decay = ema_decay
        self.mix_weight = mix_weight

    def forward(self, graphs: Batch, views: Batch) -> Tensor:
        """Return the mean of L_con(i, i). Implements Eq. con on the diagonal."""
        (outputs,) = self.model(graphs, [views])
        table = consistency(*(part.float() for part in outputs))
        return table.diagonal().mean()

    def embed(self, batch: Batch) -> Tensor:
        """Return the embeddings [B, d] of graphs. Implements Eq. mix."""
        return self.model.embed(batch, self.mix_weight)

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.model.teacher.update(self.model.student, self.ema_decay)


@settings_as_parameters(BYOLConfig)
class BYOL(LearnedEstimator):
    """Vectors of graphs by IGSD's self-distillation without negatives.

    The student predicts what the teacher says of the other view of the same graph, and nothing
    pushes different graphs apart: predictor and moving average keep it from collapsing.
    """

    def network(self, config: BYOLConfig, in_dim: int) -> BYOLNetwork:
        """Return a fresh network."""
        return BYOLNetwork(build_model(config, in_dim), config.ema_decay, config.mix_weight)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> ViewSource:
        """Return batches of graphs and views."""
        return ViewSource(graphs, features, config, device)
