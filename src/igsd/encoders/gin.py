"""Graph isomorphism network layer (Xu et al., 2019)."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from igsd.batches.batch import Batch
from igsd.encoders.norm import Norm, counted_norm


def normed_linear(
    layer: nn.Linear, norm: nn.Module, x: Tensor, counts: Tensor | None = None
) -> Tensor:
    """Return norm(layer(x)), [n, out]; ``counts`` [n]: how many nodes a row represents.

    After training, BatchNorm is a fixed scale and shift of each column, so it is folded into the
    weights and costs no pass over the nodes.
    """
    is_fixed = isinstance(norm, nn.BatchNorm1d) and norm.running_mean is not None
    if layer.training or torch.is_grad_enabled() or not is_fixed:
        return counted_norm(norm, layer(x), counts)
    return nn.functional.linear(x, *folded(layer, norm))


def folded(layer: nn.Linear, norm: nn.Module) -> tuple[Tensor, Tensor]:
    """Return weight and bias of a linear layer followed by a norm, as it is after training."""
    bias = layer.weight.new_zeros(len(layer.weight)) if layer.bias is None else layer.bias
    if not isinstance(norm, nn.BatchNorm1d) or norm.running_mean is None:
        return layer.weight, bias
    scale = norm.weight * torch.rsqrt(cast(Tensor, norm.running_var) + norm.eps)
    shift = norm.bias - norm.running_mean * scale
    if layer.bias is not None:
        shift = shift + layer.bias * scale
    return layer.weight * scale.unsqueeze(1), shift


def _sums(x: Tensor, batch: Batch) -> Tensor:
    """Return x + A x, [n, in]."""
    # Student and teacher share the first sums, which do not depend on weights.
    return batch.input_sums if x is batch.x else batch.adjacency.multiply(x, own=1.0)


RECOMPUTED_ENTRIES = 1 << 24
"""A layer with more entries (64 MiB) does not keep its sums and hidden rows for the gradient.

They are computed a second time instead, with the same result. On a graph of 100,000 nodes that
saves a third of the memory of a training step.
"""


class GINLayer(nn.Module):
    """One GIN layer: relu(BatchNorm(W2 relu(W1 (x + A x)))).

    Implements Eq. GNN with a sum over neighbours, weighted in a diffusion view. The node's own
    vector is always added once (epsilon = 0), besides the view's diagonal S_ii. There is one
    BatchNorm per layer, not two as in GIN's own code: see ``docs/decisions.md``.
    """

    def __init__(self, in_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        super().__init__()
        self.first = nn.Linear(in_dim, out_dim)
        # BatchNorm would cancel a bias.
        self.second = nn.Linear(out_dim, out_dim, bias=not batch_norm)
        self.norm = Norm(out_dim) if batch_norm else nn.Identity()

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next node vectors [n, out] of x [n, in]."""
        if torch.is_grad_enabled() and len(x) * self.first.out_features > RECOMPUTED_ENTRIES:
            inner = checkpoint(self._inner, x, batch, use_reentrant=False)
            return counted_norm(self.norm, inner, batch.counts).relu_()
        return self.update(_sums(x, batch), batch.counts)

    def _inner(self, x: Tensor, batch: Batch) -> Tensor:
        """Return what BatchNorm gets, [n, out]."""
        return self.second(self.first(_sums(x, batch)).relu_())

    def update(self, gathered: Tensor, counts: Tensor | None = None) -> Tensor:
        """Return the next node vectors from the sums of the previous ones, [n, in] -> [n, out]."""
        hidden = self.first(gathered).relu_()
        return normed_linear(self.second, self.norm, hidden, counts).relu_()
