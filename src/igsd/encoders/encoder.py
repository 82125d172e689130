"""``GNNEncoder``: layers of message passing and a readout, one vector per graph."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn

from igsd.encoders.gcn import GCNLayer
from igsd.encoders.gin import GINLayer
from igsd.encoders.readout import parse_readout, readout
from igsd.errors import ConfigError, nearest
from igsd.graphs.batch import Batch
from igsd.graphs.distinct_batch import DistinctBatch

LAYERS: dict[str, type[GINLayer] | type[GCNLayer]] = {"gin": GINLayer, "gcn": GCNLayer}


class GNNEncoder(nn.Module):
    """Encodes graphs by message passing. Implements Eq. GNN and the readout after it.

    The readouts of all layers stand side by side (``concat_layers``), or the last one stands alone.
    ``out_dim`` is the width of the result.
    """

    takes_counts = True
    """A row of the batch may stand for several alike nodes."""

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
    ) -> None:
        super().__init__()
        if kind not in LAYERS:
            raise ConfigError(f"There is no encoder {kind!r}. {nearest(kind, LAYERS)}")
        dims = [in_dim] + [hidden_dim] * num_layers
        self.layers = nn.ModuleList(
            LAYERS[kind](a, b, batch_norm=batch_norm) for a, b in pairwise(dims)
        )
        self.readouts = parse_readout(readout)
        self.concat_layers = concat_layers
        self.out_dim = hidden_dim * len(self.readouts) * (num_layers if concat_layers else 1)

    def forward(self, batch: Batch | DistinctBatch) -> Tensor:
        """Return the representations h [B, out_dim] of a batch of graphs."""
        if isinstance(batch, DistinctBatch):
            return self._forward_distinct(batch)
        x, parts = batch.x, []
        for layer in self.layers:
            x = layer(x, batch)
            if self.concat_layers:
                parts.append(readout(x, batch.ptr, self.readouts, batch.counts))
        if self.concat_layers:
            return torch.cat(parts, dim=1)
        return readout(x, batch.ptr, self.readouts, batch.counts)

    @property
    def takes_distinct(self) -> bool:
        """Whether ``forward`` takes a ``DistinctBatch``: layers and readouts are plain sums."""
        sums = all(isinstance(layer, GINLayer) for layer in self.layers)
        return sums and set(self.readouts) <= {"sum", "mean"}

    def _forward_distinct(self, batch: DistinctBatch) -> Tensor:
        x, parts = batch.x, []
        for layer, level in zip(self.layers, batch.levels, strict=True):
            x = cast(GINLayer, layer).update(level.gather @ x)
            sums = level.members @ x
            sizes = batch.sizes.unsqueeze(1).to(x.dtype)
            parts += [sums if name == "sum" else sums / sizes for name in self.readouts]
        return torch.cat(parts if self.concat_layers else parts[-len(self.readouts) :], dim=1)


def takes_counts(network: nn.Module) -> bool:
    """Whether a row of this network's batches may stand for several alike nodes."""
    return bool(getattr(network, "takes_counts", False))
