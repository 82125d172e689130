"""``BYOL``: IGSD without negatives (Grill et al., 2020), Eq. con on the diagonal alone."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from igsd.batches.features import FeatureMap
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.model.igsd import IGSDModel, consistencies
from igsd.model.network import Dims, Network, Step
from igsd.settings.groups import EMA, Batches, Encoder, Features, Heads, Mix, Training, View


@dataclass(frozen=True)
class BYOLConfig(Training, Batches, Features, View, Encoder, Heads, EMA, Mix):
    """The settings of BYOL: those of IGSD, except the temperature."""


class BYOLNetwork(Network):
    """IGSD's student and teacher; each graph is only compared with itself."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.model = IGSDModel(settings, dims)
        self.takes_counts, self.out_dim = self.model.takes_counts, self.model.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the mean of L_con(i, i) over graphs and views. Implements Eq. con's diagonal."""
        tables = consistencies(step, self.model.compare(step.batch, step.views))
        return {"total": torch.stack([table.diagonal().mean() for table in tables]).mean()}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.model.after_step()

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether equal neighbourhoods are computed once."""
        return self.model.embeds_distinct(features)

    def embed(self, step: Step) -> Tensor:
        """Return the embeddings [B, d] of graphs. Implements Eq. mix."""
        self.model.settings = self.settings
        return self.model.embed(step)


@settings_as_parameters(BYOLConfig)
class BYOL(NeuralEstimator):
    """Vectors of graphs by IGSD's self-distillation without negatives.

    The student predicts the teacher's projection of the other view of the same graph. Nothing
    pushes different graphs apart; predictor and moving average prevent collapse.
    """

    network_class = BYOLNetwork
