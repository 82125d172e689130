"""``LocalGlobal``: mutual information of nodes and graphs, which InfoGraph and MVGRL maximise."""

from __future__ import annotations

from torch import Tensor, nn

from igsd.encoders.heads import MLPHead
from igsd.losses.jsd import local_global_jsd


class LocalGlobal(nn.Module):
    """Mutual information between the nodes and the graphs of an encoder (Sun et al., 2020).

    Nodes and graphs pass a perceptron each; a node should fit its own graph better than others.
    """

    def __init__(self, node_dim: int, graph_dim: int, dim: int) -> None:
        super().__init__()
        self.nodes = MLPHead(node_dim, dim, dim, batch_norm=False)
        self.graphs = MLPHead(graph_dim, dim, dim, batch_norm=False)

    def forward(self, nodes: Tensor, graphs: Tensor, batch: Tensor) -> Tensor:
        """Return the loss: the negative Jensen-Shannon estimate."""
        return local_global_jsd(self.nodes(nodes).float(), self.graphs(graphs).float(), batch)
