"""InfoGraph with labels: as a regulariser of one encoder, or as InfoGraph* with two.

InfoGraph* (Sun et al., 2020) has two encoders, so that none has to serve both objectives: one
maximises the mutual information of nodes and graphs, the other learns the labels. Knowledge is
transferred by maximising the mutual information of their representations of the same graph.
"""

import copy
from typing import Any, ClassVar

import torch
from torch import Tensor

from igsd.baselines.few_labels.gin import SupervisedNetwork
from igsd.baselines.neural.local_global import LocalGlobal
from igsd.encoders.encoder import encode_with_nodes, node_width
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.losses.contrastive import jsd
from igsd.model.igsd import MLPHead
from igsd.model.network import Dims, Step
from igsd.settings.fields import setting
from igsd.settings.groups import Unlabelled


class InfoGraphConfig(Unlabelled):
    """The settings of InfoGraph as a regulariser."""

    section: ClassVar[str] = "infograph"

    information_weight: float = setting(0.1, "labels", "weight of node-graph information", low=0.0)
    discriminator_dim: int = setting(
        64, "labels", "width of the vectors it compares", low=1, high=65_536
    )


class InfoGraphStarConfig(InfoGraphConfig):
    """The settings of InfoGraph*."""

    section: ClassVar[str] = "infograph-star"

    transfer_weight: float = setting(0.1, "labels", "weight of what the encoders share", low=0.0)


class InfoGraphNetwork(SupervisedNetwork):
    """An encoder with an output layer and the discriminator of nodes and graphs."""

    uses_unlabelled = True

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.takes_counts = False  # every single node is compared with the graphs
        self._add_parts(settings.discriminator_dim)

    def _add_parts(self, dim: int) -> None:
        self.local_global = LocalGlobal(node_width(self.encoder), self.out_dim, dim)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the supervised loss + weight * mutual information over all graphs of the step."""
        nodes, h = encode_with_nodes(self.encoder, step.batch)
        loss = step.supervised(self.head(h[: len(step.pools[0])]))
        information = self.local_global(step, nodes, h)
        total = loss + self.settings.information_weight * information
        return {"supervised": loss, "information": information, "total": total}


class InfoGraphStarNetwork(InfoGraphNetwork):
    """A supervised encoder with an output layer, and an unsupervised one of the same shape."""

    def _add_parts(self, dim: int) -> None:
        self.unsupervised = copy.deepcopy(self.encoder)
        for module in self.unsupervised.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()
        super()._add_parts(dim)
        self.of_supervised = MLPHead(self.out_dim, dim, dim, batch_norm=False)
        self.of_unsupervised = MLPHead(self.out_dim, dim, dim, batch_norm=False)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the supervised loss + both mutual informations, over all graphs of the step."""
        h = self.encoder(step.batch)
        nodes, other = encode_with_nodes(self.unsupervised, step.batch)
        information = self.local_global(step, nodes, other)
        supervised, unsupervised = self.of_supervised(h), self.of_unsupervised(other)
        scores = step.joint(supervised).float() @ step.joint(unsupervised).float().T
        itself = torch.eye(len(scores), dtype=torch.bool, device=h.device)
        loss = step.supervised(self.head(h[: len(step.pools[0])]))
        transfer = jsd(scores, itself)
        parts = {"supervised": loss, "information": information, "transfer": transfer}
        s = self.settings
        total = loss + s.information_weight * information + s.transfer_weight * transfer
        return parts | {"total": total}


@settings_as_parameters(InfoGraphConfig)
class InfoGraphClassifier(GraphClassifier):
    """Classes with InfoGraph as a regulariser, from few labels and many graphs."""

    network_class = InfoGraphNetwork


@settings_as_parameters(InfoGraphConfig)
class InfoGraphRegressor(GraphRegressor):
    """Numbers with InfoGraph as a regulariser, from few labels and many graphs."""

    network_class = InfoGraphNetwork


@settings_as_parameters(InfoGraphStarConfig)
class InfoGraphStarClassifier(GraphClassifier):
    """Classes by InfoGraph*, from few labels and many graphs."""

    network_class = InfoGraphStarNetwork


@settings_as_parameters(InfoGraphStarConfig)
class InfoGraphStarRegressor(GraphRegressor):
    """Numbers by InfoGraph*, from few labels and many graphs."""

    network_class = InfoGraphStarNetwork
