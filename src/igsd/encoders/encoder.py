"""``GNNEncoder``: layers of message passing and a readout, one vector per graph."""

import importlib
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.distinct import DistinctBatch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.encoders.gin import GINLayer
from igsd.encoders.gine import GINELayer
from igsd.encoders.readout import Segments, distinct_readout, parse_readout, readout
from igsd.errors import ConfigError, nearest
from igsd.settings.groups import ENCODERS


def find_layer(name: str) -> Any:
    """Return the class of a kind of layer; raises ``ConfigError`` for an unknown name.

    A layer is built from (in_dim, out_dim, batch_norm=...) and called with (x, batch). One with
    ``sees_links = True`` also gets ``links``, the features of links, and batches whose links have
    categories (``MoleculeBatch``).
    """
    if name not in ENCODERS:
        raise ConfigError(f"There is no encoder {name!r}. {nearest(name, ENCODERS)}")
    module, layer = ENCODERS[name].split(":")
    return getattr(importlib.import_module(module), layer)


def sees_links(name: str) -> bool:
    """Return whether an encoder distinguishes the links of a graph; the user's own does not."""
    return name in ENCODERS and bool(getattr(find_layer(name), "sees_links", False))


class GNNEncoder(nn.Module):
    """Encodes graphs by message passing. Implements Eq. GNN and the readout after it.

    The result, ``out_dim`` wide, is the concatenated readouts of all layers (``concat_layers``), or
    the readout of the last layer.
    """

    takes_counts = True
    """A row of the batch may represent several alike nodes."""

    def __init__(
        self,
        kind: str,
        in_dim: int,
        hidden_dim: int,
        num_layers: int,
        *,
        batch_norm: bool = True,
        readout: str = "sum",
        concat_layers: bool = True,
        links: LinkFeatures | None = None,
    ) -> None:
        super().__init__()
        layer = find_layer(kind)
        arguments = {"batch_norm": batch_norm} | ({"links": links} if sees_links(kind) else {})
        dims = [in_dim] + [hidden_dim] * num_layers
        self.layers = nn.ModuleList(layer(a, b, **arguments) for a, b in pairwise(dims))
        self.readouts = parse_readout(readout)
        self.concat_layers = concat_layers
        self.out_dim = hidden_dim * len(self.readouts) * (num_layers if concat_layers else 1)

    def forward(self, batch: Batch | DistinctBatch) -> Tensor:
        """Return the representations h [B, out_dim] of a batch of graphs."""
        if isinstance(batch, DistinctBatch):
            return self._forward_distinct(batch)
        x, parts, segments = batch.x, [], Segments(batch.ptr, batch.counts)
        for number, layer in enumerate(self.layers, 1):
            x = layer(x, batch)
            if self.concat_layers or number == len(self.layers):
                parts.append(readout(x, segments, self.readouts))
        return torch.cat(parts, dim=1)

    @property
    def takes_distinct(self) -> bool:
        """Whether ``forward`` takes a ``DistinctBatch``: GIN with sums and means, or GINE."""
        if all(isinstance(layer, GINELayer) for layer in self.layers):
            return True
        sums = all(isinstance(layer, GINLayer) for layer in self.layers)
        return sums and set(self.readouts) <= {"sum", "mean"}

    def _forward_distinct(self, batch: DistinctBatch) -> Tensor:
        x, parts = batch.x, []
        for number, (layer, level) in enumerate(zip(self.layers, batch.levels, strict=True), 1):
            if batch.used is not None:
                x = cast(GINELayer, layer).distinct(x, level, batch.used)
            else:
                x = cast(GINLayer, layer).update(cast(Tensor, level.gather) @ x)
            if self.concat_layers or number == len(self.layers):
                parts.append(distinct_readout(x, batch, level, self.readouts))
        return torch.cat(parts, dim=1)


def takes_counts(network: nn.Module) -> bool:
    """Return whether a row of this network's batches may represent several alike nodes."""
    return bool(getattr(network, "takes_counts", False))


def node_width(encoder: Any) -> int:
    """Return the width e of the node vectors of ``encode_with_nodes``.

    The user's own encoder needs a method ``with_nodes(batch)`` that returns both, and an integer
    ``node_dim``; raises ``ConfigError`` if it has neither.
    """
    if hasattr(encoder, "with_nodes"):
        return int(encoder.node_dim)
    if isinstance(encoder, GNNEncoder):
        return encoder.out_dim // len(encoder.readouts)
    raise ConfigError(
        "Mutual information between nodes and graphs needs the vectors of nodes, which "
        f"{type(encoder).__qualname__} does not return. Use encoder='gin' or 'gcn', or add a "
        "method 'with_nodes' and an attribute 'node_dim' to it."
    )


def encode_with_nodes(encoder: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return (node vectors [n, e], representations [B, out_dim]) of a batch.

    Of a ``GNNEncoder``, both are the concatenated vectors of all layers, or those of the last one,
    as ``concat_layers`` says (Eq. GNN).
    """
    if hasattr(encoder, "with_nodes"):
        return encoder.with_nodes(batch)
    x, per_layer = batch.x, []
    for layer in encoder.layers:
        x = layer(x, batch)
        per_layer.append(x)
    kept = per_layer if encoder.concat_layers else per_layer[-1:]
    segments = Segments(batch.ptr)
    graphs = [readout(nodes, segments, encoder.readouts) for nodes in kept]
    return torch.cat(kept, dim=1), torch.cat(graphs, dim=1)


def distinct_depth(encoder: nn.Module, features: FeatureMap) -> int:
    """Return the number of layers if equal neighbourhoods can be computed once, else 0.

    They can if node features are one-hot and links are alike, or have categories that the layers
    see, but neither weights nor distances.
    """
    if "attributes" in features.parts or features.edge_weight:
        return 0
    if not isinstance(encoder, GNNEncoder) or not encoder.takes_distinct:
        return 0
    links, sees = features.links, isinstance(encoder.layers[0], GINELayer)
    is_fit = sees and links.boundaries is None if links is not None else not sees
    return len(encoder.layers) if is_fit else 0
