"""``GraphCL`` (You et al., 2020): two augmentations of a graph find each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork, build_projector
from igsd.baselines.step_sources import AugmentedSource
from igsd.config import group_settings
from igsd.encoders.encoder import GNNEncoder
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.losses.ntxent import ntxent
from igsd.model.build import build_encoder
from igsd.settings import setting
from igsd.views.augment import AUGMENTATIONS, parse_augmentations


@dataclass(frozen=True)
class GraphCLConfig(LearnedConfig):
    """The settings of GraphCL."""

    leaves_out: ClassVar[frozenset[str]] = (
        LearnedConfig.leaves_out
        | group_settings("view", "embedding")
        | {"projector", "predictor", "ema_decay"}
    )

    augmentations: str = setting(
        "+".join(AUGMENTATIONS), "view", "what each graph's two views are drawn from, joined by +"
    )
    augment_rate: float = setting(
        0.2, "view", "share of nodes or edges that an augmentation changes", low=0, below=1
    )
    head_hidden_dim: int = setting(256, "heads", "hidden width of the projector", low=1)
    head_batch_norm: bool = setting(False, "heads", "BatchNorm before its ReLU")
    temperature: float = setting(0.2, "loss", "temperature of NT-Xent", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_augmentations(self.augmentations)


class GraphCLNetwork(LearnedNetwork):
    """An encoder and a projector; both views pass through as one batch, for BatchNorm's sake."""

    def __init__(self, encoder: GNNEncoder, projector: nn.Module, temperature: float) -> None:
        super().__init__(encoder.out_dim)
        self.encoder = encoder
        self.projector = projector
        self.temperature = temperature

    def forward(self, first: Batch, second: Batch) -> Tensor:
        """Return NT-Xent of two views of the same graphs."""
        z = self.projector(self.encoder(Batch.joined([first, second]))).float()
        a, b = z.split([first.num_graphs, second.num_graphs])
        return ntxent(a, b, self.temperature)


@settings_as_parameters(GraphCLConfig)
class GraphCL(LearnedEstimator):
    """Vectors of graphs by contrasting two random augmentations of each.

    Each graph draws two different kinds out of node dropping, edge perturbation, attribute masking
    and subgraphs; the two results must find each other among all of the batch (NT-Xent).
    """

    def network(self, config: GraphCLConfig, in_dim: int) -> GraphCLNetwork:
        """Return a fresh network."""
        encoder = build_encoder(config, in_dim)
        projector = build_projector(config, encoder.out_dim)
        return GraphCLNetwork(encoder, projector, config.temperature)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> AugmentedSource:
        """Return pairs of augmented batches."""
        kinds = parse_augmentations(config.augmentations)
        rate, seed = config.augment_rate, config.seed
        return AugmentedSource(graphs, features, kinds, rate=rate, seed=seed, device=device)
