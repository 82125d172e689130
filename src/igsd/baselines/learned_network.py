"""``LearnedNetwork``: what a baseline trains, and the projector that some of them put on top."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.baselines.learned_config import LearnedConfig
from igsd.encoders.heads import MLPHead
from igsd.graphs.batch import Batch


class LearnedNetwork(nn.Module):
    """What a baseline trains and saves: ``forward`` returns the loss, ``embed`` the vectors.

    ``out_dim`` is the width of an embedding.
    """

    encoder: nn.Module

    def __init__(self, out_dim: int) -> None:
        super().__init__()
        self.out_dim = out_dim

    def embed(self, batch: Batch) -> Tensor:
        """Return the embeddings [B, out_dim] of graphs."""
        return self.encoder(batch)

    def after_step(self) -> None:
        """Do what follows an optimiser step: nothing, unless a method says otherwise."""


def build_projector(config: LearnedConfig, in_dim: int) -> MLPHead:
    """Return IGSD's projector g for representations of width ``in_dim``, untrained."""
    return MLPHead(
        in_dim, config.head_hidden_dim, config.head_dim, batch_norm=config.head_batch_norm
    )
