"""Supervised GIN: an encoder and an output layer that never see an unlabelled graph."""

from typing import Any, ClassVar

from torch import Tensor

from igsd.encoders.encoder import takes_counts
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.model.igsd import OutputHead, build_encoder
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import FewLabels, SelfTraining


class SupervisedRegressionConfig(FewLabels):
    """The settings of an encoder trained on labels only, for numbers."""

    section: ClassVar[str] = "gin"


class SupervisedConfig(SupervisedRegressionConfig, SelfTraining):
    """The same for classes, with optional pseudo-labels."""

    self_training: bool = setting(False, "self-training", "use pseudo-labels")


class SupervisedNetwork(Network):
    """An encoder and an output layer."""

    uses_unlabelled = False

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        self.out_dim = self.encoder.out_dim
        self.head = OutputHead(self.out_dim, dims.num_outputs, settings)
        self.takes_counts = takes_counts(self.encoder)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the loss of the labelled graphs, pseudo-labels included."""
        return {"total": step.supervised(self.outputs(step), with_pseudo=True)}

    def outputs(self, step: Step) -> Tensor:
        """Return the logits [B, C], or the standardised numbers [B, t], of graphs."""
        return self.head(self.encoder(step.batch))


@settings_as_parameters(SupervisedConfig)
class GINClassifier(GraphClassifier):
    """Classes by GIN from labelled graphs only; with ``self_training`` also from pseudo-labels."""

    network_class = SupervisedNetwork


@settings_as_parameters(SupervisedRegressionConfig)
class GINRegressor(GraphRegressor):
    """Numbers by GIN from the labelled graphs only."""

    network_class = SupervisedNetwork
