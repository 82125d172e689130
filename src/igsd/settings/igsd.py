"""The settings of IGSD: without labels, with classes, and with numbers."""

from typing import ClassVar

from igsd.errors import ConfigError
from igsd.settings import groups as g
from igsd.settings.fields import setting

_FEEDS = ("auto", "supcon", "cross-entropy", "both")


class Config(
    g.Training, g.Batches, g.Features, g.View, g.Encoder, g.Heads, g.Temperature, g.EMA, g.Embedding
):
    """All settings of self-supervised IGSD."""


class SemiRegressionConfig(g.Unlabelled, g.View, g.Heads, g.Temperature, g.EMA, g.Mix):
    """All settings of semi-supervised IGSD for numbers: neither Eq. supcon nor pseudo-labels."""

    section: ClassVar[str] = "igsd"

    pretraining_epochs: int = setting(0, "labels", "epochs on all graphs before any label", low=0)
    encoder_rate: float = setting(
        1.0, "labels", "step size of all but the output layer, relative to its own", above=0, high=1
    )
    self_weight: float = setting(1.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)


class SemiConfig(SemiRegressionConfig, g.SelfTraining):
    """All settings of semi-supervised IGSD for classes."""

    self_weight: float = setting(0.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)
    supcon_weight: float = setting(1.0, "labels", "w': weight of Eq. supcon", low=0.0)
    supcon_reduction: str = setting(
        "mean", "labels", "Eq. supcon over views: mean, or the paper's sum", choices=("mean", "sum")
    )
    pseudo_labels_for: str = setting(
        "auto", "self-training", "what pseudo-labels feed; auto: supcon if weighted", choices=_FEEDS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        feeds_supcon = self.pseudo_labels_for in ("supcon", "both")
        if feeds_supcon and self.self_training and not self.supcon_weight:
            raise ConfigError(
                f"pseudo_labels_for={self.pseudo_labels_for!r} feeds Eq. supcon, but "
                "supcon_weight=0 switches that off. Use pseudo_labels_for='cross-entropy', or give "
                "supcon_weight a value."
            )

    @property
    def pseudo_labels_feed(self) -> frozenset[str]:
        """Which losses pseudo-labels feed: ``supcon``, ``cross-entropy`` or both."""
        chosen = self.pseudo_labels_for
        if chosen == "auto":
            chosen = "supcon" if self.supcon_weight > 0 else "cross-entropy"
        return frozenset({"supcon", "cross-entropy"} if chosen == "both" else {chosen})
