"""Graph isomorphism network layer (Xu et al., 2019)."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.encoders.normed_linear import normed_linear
from igsd.graphs.batch import Batch


class GINLayer(nn.Module):
    """One GIN layer: relu(BatchNorm(W2 relu(W1 (x + A x)))).

    Implements Eq. GNN with a sum over neighbours. A holds the edge weights of a diffusion view,
    so weights are honoured; the node's own vector always counts once more (epsilon = 0), beside
    the view's own diagonal S_ii. There is
    one BatchNorm a layer, not two as in GIN's own code: see ``docs/decisions.md``.
    """

    def __init__(self, in_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        super().__init__()
        self.first = nn.Linear(in_dim, out_dim)
        # BatchNorm would take a bias away again.
        self.second = nn.Linear(out_dim, out_dim, bias=not batch_norm)
        self.norm = nn.BatchNorm1d(out_dim) if batch_norm else nn.Identity()

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next node vectors [n, out] of x [n, in]."""
        # Student and teacher begin with the same sums, which have no weights yet.
        is_first = x is batch.x
        sums = batch.input_sums() if is_first else batch.adjacency.multiply(x, own=1.0)
        return self.update(sums, batch.counts)

    def update(self, gathered: Tensor, counts: Tensor | None = None) -> Tensor:
        """Return the next node vectors from the sums of the last ones, [n, in] -> [n, out]."""
        hidden = self.first(gathered).relu_()
        return normed_linear(self.second, self.norm, hidden, counts).relu_()
