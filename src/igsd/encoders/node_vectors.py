"""``encode_with_nodes``: what an encoder says of every node, beside what it says of the graphs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.readout import readout
from igsd.errors import ConfigError
from igsd.graphs.batch import Batch


def node_width(encoder: Any) -> int:
    """Return the width e of the node vectors that ``encode_with_nodes`` gives.

    An encoder of one's own takes part with a method ``with_nodes(batch)`` that returns both, and
    an integer ``node_dim``; raises ``ConfigError`` for one that has neither.
    """
    if hasattr(encoder, "with_nodes"):
        return int(encoder.node_dim)
    if isinstance(encoder, GNNEncoder):
        return encoder.out_dim // len(encoder.readouts)
    raise ConfigError(
        "Mutual information between nodes and graphs needs the vectors of nodes, which "
        f"{type(encoder).__qualname__} does not give. Use encoder='gin' or 'gcn', or add a method "
        "'with_nodes' and an attribute 'node_dim' to it."
    )


def encode_with_nodes(encoder: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return (node vectors [n, e], representations [B, out_dim]) of a batch.

    The vectors of all layers of a ``GNNEncoder`` stand side by side, for nodes as for graphs, or
    those of the last layer alone where the encoder is made so (Eq. GNN).
    """
    if hasattr(encoder, "with_nodes"):
        return encoder.with_nodes(batch)
    x, per_layer = batch.x, []
    for layer in encoder.layers:
        x = layer(x, batch)
        per_layer.append(x)
    kept = per_layer if encoder.concat_layers else per_layer[-1:]
    graphs = [readout(nodes, batch.ptr, encoder.readouts) for nodes in kept]
    return torch.cat(kept, dim=1), torch.cat(graphs, dim=1)
