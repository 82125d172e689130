"""``GraphCL`` (You et al., 2020): contrasts two augmentations of each graph."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from igsd.batches.batch import Batch
from igsd.errors import ConfigError
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.losses.contrastive import ntxent
from igsd.model.igsd import build_encoder, build_head
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import Batches, Encoder, Features, Projector, Temperature, Training, View
from igsd.views.random import AUGMENTATIONS, parse_augmentations


@dataclass(frozen=True)
class GraphCLConfig(Training, Batches, Features, Encoder, Projector, Temperature):
    """The settings of GraphCL."""

    augmentations: str = setting(
        "+".join(AUGMENTATIONS),
        "view",
        "what each graph's two views are drawn from, joined by +; also edge-drop, ppr or heat",
    )
    augment_rate: float = setting(
        0.2, "view", "share of nodes or edges that an augmentation changes", low=0, below=1
    )
    head_hidden_dim: int = setting(256, "heads", "hidden width of the projector", low=1)
    head_batch_norm: bool = setting(False, "heads", "BatchNorm before its ReLU")
    temperature: float = setting(0.2, "loss", "temperature of NT-Xent", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = set(parse_augmentations(self.augmentations))
        if {"ppr", "heat"} <= kinds or (self.encoder == "mpnn" and kinds & {"ppr", "heat"}):
            raise ConfigError(
                "augmentations may include one of ppr and heat, and neither with encoder='mpnn'. "
                f"Got augmentations={self.augmentations!r}."
            )
        if self.encoder == "mpnn" and "edge-perturb" in kinds:
            raise ConfigError(
                "The augmentation edge-perturb adds bonds without a kind, which encoder='mpnn' "
                "needs. Leave it out of augmentations, or use encoder='gin'."
            )

    def perturbation(self) -> View | None:
        """Return the diffusion among the augmentations, if there is one."""
        kinds = [k for k in parse_augmentations(self.augmentations) if k in ("ppr", "heat")]
        return View(view=kinds[0]) if kinds else None


class GraphCLNetwork(Network):
    """An encoder and a projector; both views pass through as one batch because of BatchNorm."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        self.projector = build_head(settings, self.encoder.out_dim)
        self.kinds = parse_augmentations(settings.augmentations)
        self.out_dim = self.encoder.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return NT-Xent of two views of the same graphs."""
        rate = self.settings.augment_rate
        views = step.source.two_views(step.indices, step.place, self.kinds, rate)
        z = self.projector(self.encoder(Batch.joined(views))).float()
        a, b = (step.joint(rows) for rows in z.split(len(step.indices)))
        return {"total": ntxent(a, b, self.settings.temperature)}


@settings_as_parameters(GraphCLConfig)
class GraphCL(NeuralEstimator):
    """Vectors of graphs by contrasting two random augmentations of each.

    Each graph draws two different kinds out of node dropping, edge perturbation, attribute masking
    and subgraphs; the loss is NT-Xent over the batch.
    """

    network_class = GraphCLNetwork
