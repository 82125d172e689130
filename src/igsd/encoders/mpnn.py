"""``MPNN``: the message-passing network for molecules (Gilmer et al., 2017)."""

import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import CategoryOperator, MoleculeBatch
from igsd.encoders.readout import readout
from igsd.errors import ConfigError


class EdgeNetwork(nn.Module):
    """Turns the vector of a link into a matrix [d, d]: W2 relu(W1 e), reshaped."""

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

    Implements Eq. GNN with messages that depend on the link e_ij, summed, or averaged (``mean``:
    divided by sum_j w_ij). Equals PyTorch Geometric's ``NNConv``, but Theta is computed once for
    each of the T categories of links in the batch: see ``CategoryOperator``.
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


class Set2Set(nn.Module):
    """Reads a graph's nodes by attention, ``num_steps`` times, with an LSTM as memory.

    In each step the LSTM gives a query q [B, d]; attention is a_v = softmax_v(x_v . q), and
    r = sum_v a_v x_v. Returns (q, r) of the last step, ``out_dim`` = 2 d wide. Implements the
    readout of Eq. GNN; equals PyTorch Geometric's ``Set2Set``.
    """

    def __init__(self, dim: int, num_steps: int = 3) -> None:
        super().__init__()
        self.num_steps = num_steps
        self.out_dim = 2 * dim
        self.memory = nn.LSTMCell(2 * dim, dim)

    def forward(self, x: Tensor, ptr: Tensor) -> Tensor:
        """Return [B, 2 d] of node vectors x [n, d]; ``ptr`` [B + 1] is where each graph begins."""
        lengths = ptr[1:] - ptr[:-1]
        graph = torch.arange(len(lengths), device=ptr.device).repeat_interleave(lengths)
        answer = x.new_zeros(len(lengths), self.out_dim)
        hidden = cell = x.new_zeros(len(lengths), self.out_dim // 2)
        for _ in range(self.num_steps):
            hidden, cell = self.memory(answer, (hidden, cell))
            attention = segment_softmax((x * hidden[graph]).sum(1, keepdim=True), ptr, graph)
            answer = torch.cat([hidden, readout(attention * x, ptr, ("sum",))], dim=1)
        return answer


def segment_softmax(scores: Tensor, ptr: Tensor, graph: Tensor) -> Tensor:
    """Return the softmax of ``scores`` [n, 1] over the nodes of each graph, ``graph`` [n]."""
    largest = readout(scores.detach(), ptr, ("max",))
    weights = (scores - largest[graph].to(scores.dtype)).exp()
    return weights / readout(weights, ptr, ("sum",))[graph].to(scores.dtype)


class MPNN(nn.Module):
    """Encodes molecules by messages that depend on the bond and on the distance.

    Implements Eq. GNN: x = relu(W x), then ``num_steps`` times m = relu(message(x)) and
    x = GRU(m, x), the same weights in every step, and Set2Set at the end. ``out_dim`` is 2 d.
    Messages are averaged over a node's links, which keeps their size the same whether a molecule
    has bonds only or all pairs.
    """

    sees_links = True

    def __init__(
        self,
        in_dim: int,
        links: LinkFeatures,
        *,
        hidden_dim: int = 64,
        num_steps: int = 3,
        edge_hidden_dim: int = 128,
        set2set_steps: int = 3,
    ) -> None:
        super().__init__()
        table = torch.from_numpy(links.table())
        # Not saved with the weights: it follows from the features of links, which are.
        self.link_table: Tensor
        self.register_buffer("link_table", table, persistent=False)
        self.num_steps = num_steps
        self.embedding = nn.Linear(in_dim, hidden_dim)
        self.edge_network = EdgeNetwork(table.shape[1], edge_hidden_dim, hidden_dim)
        self.message = EdgeNetworkLayer(hidden_dim)
        self.update = nn.GRUCell(hidden_dim, hidden_dim)
        self.read = Set2Set(hidden_dim, set2set_steps)
        self.out_dim = self.read.out_dim
        self.node_dim = hidden_dim

    def forward(self, batch: Batch) -> Tensor:
        """Return the representations h [B, out_dim]; raises ``ConfigError`` for a plain batch."""
        return self.with_nodes(batch)[1]

    def with_nodes(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return (the vectors of atoms [n, node_dim], the representations [B, out_dim])."""
        if not isinstance(batch, MoleculeBatch):
            raise ConfigError(
                "The encoder MPNN needs a batch whose links have categories (MoleculeBatch). "
                f"Got {type(batch).__name__}. Make batches with MoleculeCollator, or give IGSD "
                "encoder='mpnn'."
            )
        x = self.embedding(batch.x).relu()
        # Computed once for all steps, which share the edge network.
        matrices = self.edge_network(self.link_table[batch.links.used])
        for _ in range(self.num_steps):
            x = self.update(self.message(x, matrices, batch.links).relu(), x)
        return x, self.read(x, batch.ptr)
