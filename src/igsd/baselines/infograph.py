"""``InfoGraph`` (Sun et al., 2020): nodes should tell which graph they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.baselines.local_global import LocalGlobal
from igsd.baselines.step_sources import PlainSource
from igsd.config import group_settings
from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.node_vectors import encode_with_nodes, node_width
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_encoder
from igsd.settings import setting


@dataclass(frozen=True)
class InfoGraphVectorsConfig(LearnedConfig):
    """The settings of InfoGraph without labels."""

    leaves_out: ClassVar[frozenset[str]] = LearnedConfig.leaves_out | group_settings(
        "view", "heads", "loss", "embedding"
    )

    discriminator_dim: int = setting(
        64, "loss", "width of the vectors of nodes and graphs that are compared", low=1
    )


class InfoGraphVectors(LearnedNetwork):
    """An encoder, and the discriminator between its nodes and its graphs."""

    def __init__(self, encoder: GNNEncoder, dim: int) -> None:
        super().__init__(encoder.out_dim)
        self.encoder = encoder
        self.local_global = LocalGlobal(node_width(encoder), encoder.out_dim, dim)

    def forward(self, batch: Batch) -> Tensor:
        """Return the negative estimate of the mutual information of nodes and graphs."""
        nodes, graphs = encode_with_nodes(self.encoder, batch)
        return self.local_global(nodes, graphs, batch.batch)


@settings_as_parameters(InfoGraphVectorsConfig)
class InfoGraph(LearnedEstimator):
    """Vectors of graphs by mutual information between nodes and graphs.

    Each node's vectors of all layers are compared with the sums of all layers of every graph in the
    batch, by the Jensen-Shannon estimator: a node must fit its own graph and no other.
    """

    def network(self, config: InfoGraphVectorsConfig, in_dim: int) -> InfoGraphVectors:
        """Return a fresh network."""
        return InfoGraphVectors(build_encoder(config, in_dim), config.discriminator_dim)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> PlainSource:
        """Return batches of graphs."""
        return PlainSource(graphs, features, device)
