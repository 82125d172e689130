"""Readouts: from the vectors of a graph's nodes to one vector of the graph."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from igsd.batches.distinct import DistinctBatch, Level
from igsd.errors import ParameterError

READOUTS = ("sum", "mean", "max")


def parse_readout(text: str) -> tuple[str, ...]:
    """Return the readouts named in ``text``, e.g. ``mean+max``; raises ``ConfigError``."""
    names = tuple(text.split("+"))
    if not set(names) <= set(READOUTS) or len(set(names)) < len(names):
        raise ParameterError(
            "readout",
            "IGSD",
            f"must be different names out of {', '.join(READOUTS)}, joined by '+'. "
            f"Got {text!r} instead.",
        )
    return names


class Segments:
    """The rows of each graph, from ``ptr`` [B + 1], ready to be reduced by all layers of a pass.

    ``counts`` [n]: how many alike nodes each row represents, None for one each.
    """

    def __init__(self, ptr: Tensor, counts: Tensor | None = None) -> None:
        self.ptr, self.counts = ptr, counts
        self._matrices: dict[torch.dtype, Tensor] = {}

    @cached_property
    def graph(self) -> Tensor:
        """The graph of each row, [n] int64."""
        graphs = torch.arange(len(self.ptr) - 1, device=self.ptr.device)
        return graphs.repeat_interleave(self.ptr.diff())

    def matrix(self, x: Tensor) -> Tensor:
        """Return the CSR matrix [B, n] that sums rows such as x [n, d], each by its count."""
        if x.dtype not in self._matrices:
            columns = torch.arange(len(x), device=x.device, dtype=torch.int32)
            weights = x.new_ones(len(x)) if self.counts is None else self.counts.to(x.dtype)
            size = (len(self.ptr) - 1, len(x))
            self._matrices[x.dtype] = torch.sparse_csr_tensor(
                self.ptr.int(), columns, weights, size, check_invariants=False
            )
        return self._matrices[x.dtype]


def readout(x: Tensor, rows: Tensor | Segments, names: tuple[str, ...]) -> Tensor:
    """Return the graphs' vectors [B, d * len(names)] from node vectors x [n, d].

    Each name is one reduction over the nodes of a graph. ``rows``: where each graph begins, [B +
    1], or the segments made of it, if there is more than one readout.
    """
    segments = rows if isinstance(rows, Segments) else Segments(rows)
    with torch.autocast(x.device.type, enabled=False):
        x = x if x.dtype == torch.float64 else x.float()
        parts = [_REDUCTIONS[name](x, segments) for name in names]
        return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]


def distinct_readout(
    x: Tensor, batch: DistinctBatch, level: Level, names: tuple[str, ...]
) -> Tensor:
    """Return the same from the vectors x [U, d] of the distinct neighbourhoods of a level."""
    if "max" not in names:
        sums = level.members @ x
        sizes = batch.sizes.unsqueeze(1).to(x.dtype)
        return torch.cat([sums if name == "sum" else sums / sizes for name in names], dim=1)
    kinds, width = level.members.col_indices(), x.shape[1]
    result = x.new_empty(batch.num_graphs, width * len(names))
    for graphs, nodes in batch.runs:
        rows = x.index_select(0, kinds[nodes]).view(len(graphs), -1, width)
        parts = [_OVER_NODES[name](rows, dim=1) for name in names]
        result[graphs] = torch.cat(parts, dim=1)
    return result


_OVER_NODES: dict[str, Callable[..., Tensor]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "max": torch.amax,
}


def _sum(x: Tensor, segments: Segments) -> Tensor:
    return _SegmentSum.apply(x, segments)


def _mean(x: Tensor, segments: Segments) -> Tensor:
    sizes = segments.ptr.diff().unsqueeze(1)
    if segments.counts is not None:
        sizes = _sum(segments.counts.unsqueeze(1), Segments(segments.ptr))
    return _sum(x, segments) / sizes.to(x.dtype)


def _max(x: Tensor, segments: Segments) -> Tensor:
    return torch.segment_reduce(x, "max", lengths=segments.ptr.diff(), unsafe=True)


_REDUCTIONS = {"sum": _sum, "mean": _mean, "max": _max}


class _SegmentSum(torch.autograd.Function):
    """Sums of consecutive rows: several times faster than ``torch.segment_reduce``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, segments: Segments) -> Tensor:
        ctx.segments = segments
        return segments.matrix(x) @ x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        segments, spread = ctx.segments, gradients[0].index_select(0, ctx.segments.graph)
        if segments.counts is None:
            return spread, None
        return spread * segments.counts.to(spread.dtype).unsqueeze(1), None
