"""Graph isomorphism network layer (Xu et al., 2019)."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.graphs.batch import Batch


class GINLayer(nn.Module):
    """One GIN layer: MLP(x + A x), then BatchNorm and ReLU.

    Implements Eq. GNN with a sum over neighbours. A holds the edge weights of a diffusion view,
    so weights are honoured; the node's own vector always counts once more (epsilon = 0).
    """

    def __init__(self, in_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        super().__init__()
        self.first = nn.Linear(in_dim, out_dim)
        self.first_norm = nn.BatchNorm1d(out_dim) if batch_norm else nn.Identity()
        self.second = nn.Linear(out_dim, out_dim)
        self.second_norm = nn.BatchNorm1d(out_dim) if batch_norm else nn.Identity()

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next node vectors [n, out] of x [n, in]."""
        gathered = x + batch.adjacency.multiply(x)
        hidden = self.first_norm(self.first(gathered)).relu()
        return self.second_norm(self.second(hidden)).relu()
