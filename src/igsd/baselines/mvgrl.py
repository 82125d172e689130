"""``MVGRL`` (Hassani and Khasahmadi, 2020), 'CMC-Graph' in the paper: graph and diffusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.baselines.local_global import LocalGlobal
from igsd.baselines.step_sources import ViewSource
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
class MVGRLConfig(LearnedConfig):
    """The settings of MVGRL.

    Five epochs: on the validation parts of MUTAG longer training scored lower, on those of
    IMDB-BINARY the same.
    """

    leaves_out: ClassVar[frozenset[str]] = (
        LearnedConfig.leaves_out | group_settings("heads", "loss", "embedding") | {"drop_rate"}
    )

    epochs: int = setting(5, "run", "passes over the graphs", low=0)
    view: str = setting("ppr", "view", "kind of diffusion", choices=("ppr", "heat"))
    encoder: str = setting("gcn", "encoder", "kind of layer", choices=("gin", "gcn"))
    discriminator_dim: int = setting(
        64, "loss", "width of the vectors of nodes and graphs that are compared", low=1
    )


class MVGRLNetwork(LearnedNetwork):
    """One encoder for graphs and one for diffusions; both share the heads that are compared."""

    def __init__(self, encoder: GNNEncoder, of_views: GNNEncoder, dim: int) -> None:
        super().__init__(encoder.out_dim)
        self.encoder = encoder
        self.of_views = of_views
        self.local_global = LocalGlobal(node_width(encoder), encoder.out_dim, dim)

    def forward(self, graphs: Batch, views: Batch) -> Tensor:
        """Return the loss: nodes of one view against graphs of the other, both ways."""
        nodes, whole = encode_with_nodes(self.encoder, graphs)
        view_nodes, view_whole = encode_with_nodes(self.of_views, views)
        owner = graphs.batch
        there = self.local_global(nodes, view_whole, owner)
        return there + self.local_global(view_nodes, whole, owner)

    def embed(self, graphs: Batch, views: Batch) -> Tensor:  # type: ignore[override]
        """Return the sum of what both encoders say, [B, out_dim]."""
        return self.encoder(graphs) + self.of_views(views)


@settings_as_parameters(MVGRLConfig)
class MVGRL(LearnedEstimator):
    """Vectors of graphs by contrasting the graph with its diffusion.

    Two encoders, one for the adjacency and one for Eq. diffusion, are trained so that the nodes of
    one view fit the whole graph of the other, by the Jensen-Shannon estimator. An embedding is the
    sum of both.
    """

    def network(self, config: MVGRLConfig, in_dim: int) -> MVGRLNetwork:
        """Return a fresh network."""
        encoder, of_views = (build_encoder(config, in_dim) for _ in range(2))
        return MVGRLNetwork(encoder, of_views, config.discriminator_dim)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> ViewSource:
        """Return batches of graphs and diffusions."""
        return ViewSource(graphs, features, config, device)

    def _embed(self, part: GraphSet) -> Tensor:
        device = next(self.network_.parameters()).device
        uncached = self.config_.updated({"cache_views": False})
        source = ViewSource(part, self.features_, uncached, device)
        return self.network_.embed(*source.step(np.arange(len(part)), (0, 0)))
