"""``EdgeNetworkLayer``: messages whose matrix a network makes from the link (Gilmer, 2017)."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.graphs.category_operator import CategoryOperator


class EdgeNetwork(nn.Module):
    """Makes a matrix [d, d] of a link's vector: W2 relu(W1 e), cut into rows."""

    def __init__(self, link_dim: int, hidden_dim: int, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.first = nn.Linear(link_dim, hidden_dim)
        self.second = nn.Linear(hidden_dim, dim * dim)

    def forward(self, links: Tensor) -> Tensor:
        """Return the matrices [T, d, d] of link vectors [T, k]."""
        return self.second(self.first(links).relu()).view(-1, self.dim, self.dim)


class EdgeNetworkLayer(nn.Module):
    """One step of messages: m_i = x_i R + sum_j w_ij x_j Theta(e_ij) + b.

    Implements Eq. GNN with messages that depend on the link e_ij, summed, or averaged over the
    links (``mean``: divided by sum_j w_ij). The same as PyTorch Geometric's ``NNConv``, which makes
    Theta for every link, a tensor [E, d, d]. Here links have categories: Theta is made once for
    each of the T categories in the batch, and no product is done twice: see ``CategoryOperator``.
    """

    def __init__(self, dim: int, *, mean: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.root = nn.Linear(dim, dim)

    def forward(self, x: Tensor, matrices: Tensor, links: CategoryOperator) -> Tensor:
        """Return the messages [n, d] for x [n, d]; ``matrices`` [T, d, d] follow ``links.used``."""
        received = links.messages(x, matrices)
        if self.mean:
            received = received / links.row_sums.clamp_min(1e-12).unsqueeze(1).to(received.dtype)
        return received + self.root(x)
