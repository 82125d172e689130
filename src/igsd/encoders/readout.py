"""Readouts: from the vectors of a graph's nodes to one vector of the graph."""

from collections.abc import Callable
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


def readout(x: Tensor, ptr: Tensor, names: tuple[str, ...], counts: Tensor | None = None) -> Tensor:
    """Return the graphs' vectors [B, d * len(names)] from node vectors x [n, d].

    Each name is one reduction over the nodes of a graph, from ``ptr`` [B + 1]. ``counts`` [n]: how
    many alike nodes each row represents, None for one each.
    """
    with torch.autocast(x.device.type, enabled=False):
        x = x if x.dtype == torch.float64 else x.float()
        parts = [_REDUCTIONS[name](x, ptr, counts) for name in names]
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


def _sum(x: Tensor, ptr: Tensor, counts: Tensor | None) -> Tensor:
    return _SegmentSum.apply(x, ptr, counts)


def _mean(x: Tensor, ptr: Tensor, counts: Tensor | None) -> Tensor:
    sizes = ptr.diff().unsqueeze(1) if counts is None else _sum(counts.unsqueeze(1), ptr, None)
    return _sum(x, ptr, counts) / sizes.to(x.dtype)


def _max(x: Tensor, ptr: Tensor, counts: Tensor | None) -> Tensor:
    return torch.segment_reduce(x, "max", lengths=ptr.diff(), unsafe=True)


_REDUCTIONS = {"sum": _sum, "mean": _mean, "max": _max}


class _SegmentSum(torch.autograd.Function):
    """Sums of consecutive rows: several times faster than ``torch.segment_reduce``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, counts: Tensor | None) -> Tensor:
        weights = x.new_ones(len(x)) if counts is None else counts.to(x.dtype)
        ctx.save_for_backward(ptr, None if counts is None else weights)
        columns = torch.arange(len(x), device=x.device, dtype=torch.int32)
        size = (len(ptr) - 1, len(x))
        rows = torch.sparse_csr_tensor(ptr.int(), columns, weights, size, check_invariants=False)
        return rows @ x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        ptr, weights = ctx.saved_tensors
        spread = gradients[0].repeat_interleave(ptr.diff(), dim=0)
        return spread if weights is None else spread * weights.unsqueeze(1), None, None
