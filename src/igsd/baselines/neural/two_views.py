"""GraphCL, Graph Barlow Twins and BYOL: each compares the vectors of two views of a graph."""

from typing import Any

from torch import Tensor, stack

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import distinct_depth, takes_counts
from igsd.errors import ConfigError
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.losses.contrastive import barlow, ntxent
from igsd.model.igsd import IGSDModel, build_encoder, build_head, consistencies
from igsd.model.network import Dims, Network, Step
from igsd.settings import groups as g
from igsd.settings.fields import setting
from igsd.views.random import AUGMENTATIONS, parse_augmentations


class ProjectedNetwork(Network):
    """An encoder and a projector."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        self.projector = build_head(settings, self.encoder.out_dim)
        self.out_dim = self.encoder.out_dim

    def projections(self, step: Step, *views: Batch) -> list[Tensor]:
        """Return z [B, d] of each view; all pass through as one batch because of BatchNorm."""
        z = self.projector(self.encoder(Batch.joined(views))).float()
        return [step.joint(rows) for rows in z.split(len(step.indices))]


class GraphCLConfig(g.Training, g.Batches, g.Features, g.Encoder, g.Projector, g.Temperature):
    """The settings of GraphCL."""

    augmentations: str = setting(
        "+".join(AUGMENTATIONS), "view", "kinds of views, joined by +; also edge-drop, ppr, heat"
    )
    augment_rate: float = setting(0.2, "view", "share of nodes or edges changed", low=0, below=1)
    head_hidden_dim: int = setting(
        256, "heads", "hidden width of the projector", low=1, high=65_536
    )
    head_batch_norm: bool = setting(False, "heads", "BatchNorm before its ReLU")
    temperature: float = setting(0.2, "loss", "temperature of NT-Xent", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if {"ppr", "heat"} <= set(parse_augmentations(self.augmentations)):
            raise ConfigError(
                "augmentations may include ppr or heat, not both. "
                f"Got augmentations={self.augmentations!r}."
            )

    def perturbation(self) -> g.View | None:
        """Return the diffusion among the augmentations, if there is one."""
        kinds = [k for k in parse_augmentations(self.augmentations) if k in ("ppr", "heat")]
        return g.View(view=kinds[0]) if kinds else None


class GraphCLNetwork(ProjectedNetwork):
    """An encoder and a projector, trained on two augmentations of each graph."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.kinds = parse_augmentations(settings.augmentations)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return NT-Xent of two views of the same graphs."""
        rate = self.settings.augment_rate
        views = step.source.two_views(step.indices, step.place, self.kinds, rate)
        a, b = self.projections(step, *views)
        return {"total": ntxent(a, b, self.settings.temperature)}


@settings_as_parameters(GraphCLConfig)
class GraphCL(NeuralEstimator):
    """Vectors of graphs by contrasting two random augmentations of each (You et al., 2020).

    Each graph draws two different kinds out of node dropping, edge perturbation, attribute masking
    and subgraphs; the loss is NT-Xent over the batch.
    """

    network_class = GraphCLNetwork


class BarlowTwinsConfig(g.Training, g.Batches, g.Features, g.View, g.Encoder, g.Projector):
    """The settings of Graph Barlow Twins."""

    redundancy_weight: float = setting(0.0, "loss", "weight of redundancy; 0: 1 / width", low=0)


class BarlowTwinsNetwork(ProjectedNetwork):
    """An encoder and a projector, trained on graphs and the views that IGSD uses."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.takes_counts = takes_counts(self.encoder)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the Barlow Twins loss of graphs and their views, averaged over the views."""
        a, *views = self.projections(step, step.batch, *step.views)
        weight = self.settings.redundancy_weight or 1.0 / a.shape[1]
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

    After Bielak et al. (2022). Encoder, projector and views are IGSD's; there is no teacher, and
    there are no negatives.
    """

    network_class = BarlowTwinsNetwork


class BYOLConfig(g.Training, g.Batches, g.Features, g.View, g.Encoder, g.Heads, g.EMA, g.Mix):
    """The settings of BYOL: those of IGSD, except the temperature."""


class BYOLNetwork(Network):
    """IGSD's student and teacher; each graph is only compared with itself."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.model = IGSDModel(settings, dims)
        self.takes_counts, self.out_dim = self.model.takes_counts, self.model.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the mean of L_con(i, i) over graphs and views. Implements Eq. con's diagonal."""
        tables = consistencies(step, self.model.compare(step.batch, step.views))
        return {"total": stack([table.diagonal().mean() for table in tables]).mean()}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.model.after_step()

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether equal neighbourhoods are computed once."""
        return self.model.embeds_distinct(features)

    def embed(self, step: Step) -> Tensor:
        """Return the embeddings [B, d] of graphs. Implements Eq. mix."""
        self.model.settings = self.settings
        return self.model.embed(step)


@settings_as_parameters(BYOLConfig)
class BYOL(NeuralEstimator):
    """Vectors of graphs by IGSD's self-distillation without negatives (Grill et al., 2020).

    The student predicts the teacher's projection of the other view of the same graph: Eq. con on
    the diagonal alone. Nothing pushes different graphs apart; predictor and moving average prevent
    collapse.
    """

    network_class = BYOLNetwork
