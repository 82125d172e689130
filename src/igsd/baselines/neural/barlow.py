"""``BarlowTwins``: Graph Barlow Twins (Bielak et al., 2022) with IGSD's student and views."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import distinct_depth, takes_counts
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.losses.contrastive import barlow
from igsd.model.igsd import build_encoder, build_head
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import Batches, Encoder, Features, Projector, Training, View


@dataclass(frozen=True)
class BarlowTwinsConfig(Training, Batches, Features, View, Encoder, Projector):
    """The settings of Graph Barlow Twins."""

    redundancy_weight: float = setting(
        0.0, "loss", "weight of coordinates that repeat; 0: one over their number", low=0
    )


class BarlowTwinsNetwork(Network):
    """An encoder and a projector; graphs and views pass through as one batch, like in IGSD."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        self.projector = build_head(settings, self.encoder.out_dim)
        self.takes_counts = takes_counts(self.encoder)
        self.out_dim = self.encoder.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the Barlow Twins loss of graphs and their views, averaged over the views."""
        joined = Batch.joined([step.batch, *step.views])
        z = self.projector(self.encoder(joined)).float()
        a, *views = (step.joint(rows) for rows in z.split(len(step.indices)))
        weight = self.settings.redundancy_weight or 1.0 / z.shape[1]
        return {"total": sum(barlow(a, b, weight) for b in views) / len(views)}  # type: ignore[dict-item]

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether equal neighbourhoods are computed once."""
        return distinct_depth(self.encoder, features) > 0

    def embed(self, step: Step) -> Tensor:
        """Return the representations [B, out_dim] of graphs."""
        return self.encoder(step.seen_by(self.encoder))


@settings_as_parameters(BarlowTwinsConfig)
class BarlowTwins(NeuralEstimator):
    """Vectors of graphs that agree with those of the views and whose coordinates are uncorrelated.

    Encoder, projector and views are IGSD's; there is no teacher, and there are no negatives.
    """

    network_class = BarlowTwinsNetwork
