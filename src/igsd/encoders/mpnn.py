"""``MPNN``: the message-passing network for molecules (Gilmer et al., 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from igsd.encoders.edge_network import EdgeNetwork, EdgeNetworkLayer
from igsd.encoders.set2set import Set2Set
from igsd.errors import ConfigError
from igsd.graphs.batch import Batch
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.molecule_batch import MoleculeBatch


class MPNN(nn.Module):
    """Encodes molecules by messages that depend on the bond and on the distance.

    Implements Eq. GNN: x = relu(W x), then ``num_steps`` times m = relu(message(x)) and
    x = GRU(m, x), the same weights in every step, and Set2Set at the end. ``out_dim`` is 2 d.

    ``in_dim``: width of the node features. ``links``: the features of links, as fitted on the
    training graphs. ``mean`` averages messages over a node's links instead of summing them, which
    keeps the size of a message the same whether a molecule has bonds only or all pairs.
    """

    def __init__(
        self,
        in_dim: int,
        links: LinkFeatures,
        *,
        hidden_dim: int = 64,
        num_steps: int = 3,
        edge_hidden_dim: int = 128,
        set2set_steps: int = 3,
        mean: bool = True,
    ) -> None:
        super().__init__()
        table = torch.from_numpy(links.table())
        # Not part of the weights: it follows from the features of links, stored beside them.
        self.link_table: Tensor
        self.register_buffer("link_table", table, persistent=False)
        self.num_steps = num_steps
        self.embedding = nn.Linear(in_dim, hidden_dim)
        self.edge_network = EdgeNetwork(table.shape[1], edge_hidden_dim, hidden_dim)
        self.message = EdgeNetworkLayer(hidden_dim, mean=mean)
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
                "Got one without; make batches with MoleculeCollator, or give IGSD encoder='mpnn'."
            )
        x = self.node_vectors(batch)
        return x, self.read(x, batch.ptr)

    def node_vectors(self, batch: MoleculeBatch) -> Tensor:
        """Return the vectors [n, d] of the atoms after the last step."""
        x = self.embedding(batch.x).relu()
        # Made once for all steps: they share the edge network.
        matrices = self.edge_network(self.link_table[batch.links.used])
        for _ in range(self.num_steps):
            x = self.update(self.message(x, matrices, batch.links).relu(), x)
        return x
