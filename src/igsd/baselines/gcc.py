"""``GCC`` (Qiu et al., 2020): two walks from one node find each other among walks from others."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from igsd.baselines.gcc_egos import Egos, EgoSource
from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.config import group_settings
from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.heads import MLPHead
from igsd.encoders.readout import readout
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_encoder
from igsd.model.queue import KeyQueue
from igsd.model.teacher import ema_update
from igsd.settings import setting


@dataclass(frozen=True)
class GCCConfig(LearnedConfig):
    """The settings of GCC. Nodes show their place in the subgraph alone, never their labels."""

    leaves_out: ClassVar[frozenset[str]] = (
        LearnedConfig.leaves_out
        | group_settings("view", "embedding")
        | {"node_features", "projector", "predictor", "head_batch_norm"}
    )

    node_features: str = setting("constant", "features", "not here")
    degree_cap: int = setting(16, "features", "degrees from here on share a column", low=1)
    eigenvectors: int = setting(16, "features", "eigenvectors that a node shows", low=1)
    walk_steps: int = setting(48, "view", "steps of a random walk", low=1)
    restart: float = setting(0.5, "view", "chance to go back to the start", low=0, below=1)
    egos: int = setting(16, "embedding", "nodes of a graph whose walks are pooled", low=1)
    epochs: int = setting(40, "run", "passes over the graphs", low=0)
    head_hidden_dim: int = setting(256, "heads", "hidden width of the projector", low=1)
    head_dim: int = setting(64, "heads", "output width of the projector", low=1)
    temperature: float = setting(0.07, "loss", "temperature of InfoNCE", above=0)
    ema_decay: float = setting(0.99, "loss", "momentum of the encoder of keys", low=0, high=1)
    queue_size: int = setting(1024, "loss", "keys of past steps kept as negatives", low=1)


class GCCNetwork(LearnedNetwork):
    """An encoder of queries, its moving average for keys, and a queue of keys."""

    def __init__(self, encoder: GNNEncoder, head: MLPHead, config: GCCConfig) -> None:
        super().__init__(encoder.out_dim)
        self.encoder, self.head = encoder, head
        self.key_encoder = copy.deepcopy(encoder).requires_grad_(False)
        self.key_head = copy.deepcopy(head).requires_grad_(False)
        self.queue = KeyQueue(config.queue_size, config.head_dim)
        self.temperature, self.ema_decay = config.temperature, config.ema_decay
        self._new_keys: Tensor | None = None

    def forward(self, queries: Batch, keys: Batch) -> Tensor:
        """Return the loss: each query finds its key, not one of the queue nor of the batch."""
        q = normalize(self.head(self.encoder(queries)).float(), dim=1)
        with torch.no_grad():
            k = normalize(self.key_head(self.key_encoder(keys)).float(), dim=1)
        scores = q @ torch.cat([k, self.queue.keys]).T / self.temperature
        self._new_keys = k
        return cross_entropy(scores, torch.arange(len(q), device=q.device))

    def after_step(self) -> None:
        """Move the encoder of keys, and keep the keys of this step."""
        ema_update(self.key_encoder, self.encoder, self.ema_decay)
        ema_update(self.key_head, self.head, self.ema_decay)
        if self._new_keys is not None:
            self.queue.push(self._new_keys)
            self._new_keys = None

    def embed(self, egos: Egos) -> Tensor:  # type: ignore[override]
        """Return the mean over a graph's egos of what the encoder says of them, [B, out_dim]."""
        return readout(self.encoder(egos.batch), egos.graph_ptr, ("mean",))


@settings_as_parameters(GCCConfig)
class GCC(LearnedEstimator):
    """Vectors of graphs by telling subgraphs apart, pre-trained on the given graphs.

    In each step every graph gives one random node; the subgraphs that two random walks with restart
    see from it are a positive pair, those of other nodes and a queue of earlier ones are negatives.
    Nodes are described by eigenvectors, degree and which of them is the start. A graph's vector is
    the mean of the frozen encoder over subgraphs of up to ``egos`` of its nodes.
    """

    def network(self, config: GCCConfig, in_dim: int) -> GCCNetwork:
        """Return a fresh network; ``in_dim`` does not count, subgraphs have their own features."""
        encoder = build_encoder(config, config.eigenvectors + config.degree_cap + 2)
        head = MLPHead(encoder.out_dim, config.head_hidden_dim, config.head_dim, batch_norm=False)
        return GCCNetwork(encoder, head, config)

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> EgoSource:
        """Return pairs of subgraphs."""
        return EgoSource(graphs, config, device)

    def _embed(self, part: GraphSet) -> Tensor:
        device = next(self.network_.parameters()).device
        source = EgoSource(part, self.config_, device)
        pieces = [self.network_.embed(egos) for egos in source.pooled(self.config_.egos)]
        return torch.cat(pieces)
