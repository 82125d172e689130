"""``BarlowTwins``: Graph Barlow Twins (Bielak et al., 2022) with IGSD's student and views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork, build_projector
from igsd.baselines.step_sources import ViewSource
from igsd.config import group_settings
from igsd.encoders.encoder import GNNEncoder
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.losses.barlow import barlow
from igsd.model.build import build_encoder
from igsd.settings import setting


@dataclass(frozen=True)
class BarlowTwinsConfig(LearnedConfig):
    """The settings of Graph Barlow Twins."""

    leaves_out: ClassVar[frozenset[str]] = (
        LearnedConfig.leaves_out | group_settings("loss", "embedding") | {"projector", "predictor"}
    )

    redundancy_weight: float = setting(
        0.0, "loss", "weight of coordinates that repeat; 0: one over their number", low=0
    )


class BarlowTwinsNetwork(LearnedNetwork):
    """An encoder and a projector; graphs and views pass through as one batch, as in IGSD."""

    def __init__(self, encoder: GNNEncoder, projector: nn.Module, weight: float) -> None:
        super().__init__(encoder.out_dim)
        self.encoder = encoder
        self.projector = projector
        self.weight = weight

    def forward(self, graphs: Batch, views: Batch) -> Tensor:
        """Return the Barlow Twins loss of graphs and their views."""
        z = self.projector(self.encoder(Batch.joined([graphs, views]))).float()
        a, b = z.split([graphs.num_graphs, views.num_graphs])
        return barlow(a, b, self.weight or 1.0 / z.shape[1])


@settings_as_parameters(BarlowTwinsConfig)
class BarlowTwins(LearnedEstimator):
    """Vectors of graphs that agree with their view's in every coordinate, none of them twice.

    The student's encoder and projector and the views are IGSD's; there is no teacher and there are
    no negatives.
    """

    def network(self, config: BarlowTwinsConfig, in_dim: int) -> BarlowTwinsNetwork:
        """Return a fresh network."""
        encoder = build_encoder(config, in_dim)
        projector = build_projector(config, encoder.out_dim)
        return BarlowTwinsNetwork(encoder, projector, config.redundancy_weight)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> ViewSource:
        """Return batches of graphs and views."""
        return ViewSource(graphs, features, config, device)
