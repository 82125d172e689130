"""InfoGraph and MVGRL: both maximise mutual information between nodes and whole graphs."""

from typing import Any

from torch import Tensor, nn

from igsd.batches.joint import gathered
from igsd.encoders.encoder import encode_with_nodes, node_width
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.losses.contrastive import local_global_jsd
from igsd.model.igsd import MLPHead, build_encoder
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import ENCODERS, Batches, Diffusion, Encoder, Features, Training


class LocalGlobal(nn.Module):
    """Mutual information between the nodes and the graphs of an encoder.

    A perceptron each for nodes and graphs; a node should fit its own graph better than others.
    """

    def __init__(self, node_dim: int, graph_dim: int, dim: int) -> None:
        super().__init__()
        self.nodes = MLPHead(node_dim, dim, dim, batch_norm=False)
        self.graphs = MLPHead(graph_dim, dim, dim, batch_norm=False)

    def forward(self, step: Step, nodes: Tensor, graphs: Tensor) -> Tensor:
        """Return the negative Jensen-Shannon estimate over the joint batch.

        ``nodes`` [n, e], ``graphs`` [B, d]: vectors of the nodes and of the graphs of a step.
        """
        rows, first = gathered(self.graphs(graphs).float())
        owner, _ = gathered(step.batch.batch + first)
        return local_global_jsd(gathered(self.nodes(nodes).float())[0], rows, owner)


class InfoGraphVectorsConfig(Training, Batches, Features, Encoder):
    """The settings of InfoGraph without labels."""

    discriminator_dim: int = setting(
        64, "loss", "width of the vectors that are compared", low=1, high=65_536
    )


class InfoGraphVectors(Network):
    """An encoder, and the discriminator between its nodes and its graphs."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        self.out_dim, dim = self.encoder.out_dim, settings.discriminator_dim
        self.local_global = LocalGlobal(node_width(self.encoder), self.out_dim, dim)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the negative estimate of the mutual information between nodes and graphs."""
        return {"total": self.local_global(step, *encode_with_nodes(self.encoder, step.batch))}


@settings_as_parameters(InfoGraphVectorsConfig)
class InfoGraph(NeuralEstimator):
    """Vectors of graphs by mutual information between nodes and graphs (Sun et al., 2020).

    The vectors of a node from all layers are compared with the readouts of every graph in the
    batch by the Jensen-Shannon estimator: a node must fit its own graph and no other.
    """

    network_class = InfoGraphVectors


class MVGRLConfig(InfoGraphVectorsConfig, Diffusion):
    """The settings of MVGRL.

    Five epochs: longer training scored lower on the validation parts of MUTAG and the same on those
    of IMDB-BINARY.
    """

    epochs: int = setting(5, "run", "passes over the graphs", low=0)
    encoder: str = setting("gcn", "encoder", "kind of layer", choices=tuple(ENCODERS))


class MVGRLNetwork(Network):
    """One encoder for graphs and one for diffusions; both share the heads."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder, self.of_views = (build_encoder(settings, dims) for _ in range(2))
        self.out_dim, dim = self.encoder.out_dim, settings.discriminator_dim
        self.local_global = LocalGlobal(node_width(self.encoder), self.out_dim, dim)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the loss: nodes of one view against graphs of the other, in both directions."""
        nodes, whole = encode_with_nodes(self.encoder, step.batch)
        view_nodes, view_whole = encode_with_nodes(self.of_views, step.views[0])
        there = self.local_global(step, nodes, view_whole)
        return {"total": there + self.local_global(step, view_nodes, whole)}

    def embed(self, step: Step) -> Tensor:
        """Return the sum of both encoders' representations, [B, out_dim]."""
        return self.encoder(step.batch) + self.of_views(step.views[0])


@settings_as_parameters(MVGRLConfig)
class MVGRL(NeuralEstimator):
    """Vectors of graphs by contrasting the graph with its diffusion (Hassani et al., 2020).

    Called CMC-Graph in the paper. Two encoders, one for the adjacency and one for Eq. diffusion,
    are trained by the Jensen-Shannon estimator such that the nodes of one view fit the whole graph
    of the other. An embedding is the sum of both.
    """

    network_class = MVGRLNetwork
