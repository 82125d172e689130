"""``build_model``: a configuration becomes a student and its teacher."""

from __future__ import annotations

import copy

from torch import nn

from igsd.config import Config
from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.heads import MLPHead
from igsd.encoders.mpnn import MPNN
from igsd.errors import ParameterError
from igsd.graphs.link_features import LinkFeatures
from igsd.model.igsd import IGSDModel
from igsd.model.student import Student


def build_model(
    config: Config,
    in_dim: int,
    encoder: nn.Module | None = None,
    links: LinkFeatures | None = None,
) -> IGSDModel:
    """Return a fresh model for node features of width ``in_dim`` and, for ``mpnn``, ``links``.

    ``encoder``: a module of your own in place of the configured one. It takes a ``Batch``, returns
    [B, out_dim] and says its width as ``out_dim``; a copy of it is trained.
    """
    module = copy.deepcopy(encoder)
    if module is None:
        module = build_any_encoder(config, in_dim, links)
    width = getattr(module, "out_dim", None)
    if not isinstance(width, int) or width < 1:
        raise ParameterError(
            "encoder",
            "IGSD",
            "must be 'gin', 'gcn', 'mpnn' or an nn.Module with an integer attribute 'out_dim', the "
            f"width of its result. Got out_dim={width!r} instead.",
        )
    projector: nn.Module = nn.Identity()
    predictor: nn.Module = nn.Identity()
    if config.projector:
        projector = _head(config, width)
        width = config.head_dim
    if config.predictor:
        # It predicts the teacher's projection, so it is as wide as that.
        predictor = _head(config, width, out_dim=width)
    return IGSDModel(Student(module, projector, predictor))


def build_any_encoder(config: Config, in_dim: int, links: LinkFeatures | None) -> nn.Module:
    """Return the configured encoder, untrained: an ``MPNN`` where features of links are given."""
    if links is None:
        return build_encoder(config, in_dim)
    return MPNN(
        in_dim,
        links,
        hidden_dim=config.hidden_dim,
        num_steps=config.num_layers,
        edge_hidden_dim=config.edge_hidden_dim,
        set2set_steps=config.set2set_steps,
    )


def build_encoder(config: Config, in_dim: int) -> GNNEncoder:
    """Return the configured encoder, ``gin`` or ``gcn``, untrained."""
    return GNNEncoder(
        config.encoder,
        in_dim,
        config.hidden_dim,
        config.num_layers,
        batch_norm=config.encoder_batch_norm,
        readout=config.readout,
        concat_layers=config.concat_layers,
    )


def _head(config: Config, in_dim: int, out_dim: int | None = None) -> MLPHead:
    return MLPHead(
        in_dim,
        config.head_hidden_dim,
        out_dim or config.head_dim,
        batch_norm=config.head_batch_norm,
    )
