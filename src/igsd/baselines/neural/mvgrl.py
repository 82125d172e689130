"""``MVGRL`` (Hassani and Khasahmadi, 2020), called CMC-Graph in the paper."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from igsd.baselines.neural.infograph import LocalGlobal
from igsd.encoders.encoder import encode_with_nodes, node_width
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.model.igsd import build_encoder
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import ENCODERS, Batches, Diffusion, Encoder, Features, Training


@dataclass(frozen=True)
class MVGRLConfig(Training, Batches, Features, Diffusion, Encoder):
    """The settings of MVGRL.

    Five epochs: longer training scored lower on the validation parts of MUTAG and the same on those
    of IMDB-BINARY.
    """

    epochs: int = setting(5, "run", "passes over the graphs", low=0)
    encoder: str = setting("gcn", "encoder", "kind of layer", choices=tuple(ENCODERS))
    discriminator_dim: int = setting(
        64, "loss", "width of the vectors of nodes and graphs that are compared", low=1
    )


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
    """Vectors of graphs by contrasting the graph with its diffusion.

    Two encoders, one for the adjacency and one for Eq. diffusion, are trained by the
    Jensen-Shannon estimator such that the nodes of one view fit the whole graph of the other. An
    embedding is the sum of both.
    """

    network_class = MVGRLNetwork
