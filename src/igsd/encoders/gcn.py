"""Graph convolution layer (Kipf and Welling, 2017)."""

from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.encoders.norm import Norm, counted_norm


class GCNLayer(nn.Module):
    """One GCN layer: relu(BatchNorm(N x W)) with N = D^-1/2 (A + I) D^-1/2.

    Implements Eq. GNN with a normalised mean over neighbours; D holds the row sums. A diffusion
    view has its own diagonal, so no identity is added: N = D^-1/2 S D^-1/2. This is the layer's own
    normalisation; the view itself is never renormalised.
    """

    def __init__(self, in_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(in_dim, out_dim)
        self.norm = Norm(out_dim) if batch_norm else nn.Identity()

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next node vectors [n, out] of x [n, in]."""
        adjacency = batch.adjacency
        loops = adjacency.missing_loops.unsqueeze(1).to(x.dtype)
        degrees = adjacency.row_sums().unsqueeze(1).to(x.dtype) + loops
        scale = degrees.clamp_min(1e-12).rsqrt()
        scaled = scale * self.linear(x)
        mixed = scale * (adjacency.multiply(scaled) + loops * scaled)
        return counted_norm(self.norm, mixed, batch.counts).relu_()
