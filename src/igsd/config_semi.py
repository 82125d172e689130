"""``SemiConfig``: the settings of training with few labels, on top of those of ``Config``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from igsd.config import GROUPS, Config, group_settings
from igsd.errors import ConfigError
from igsd.settings import setting
from igsd.settings_text import read_recipe

_BEFORE = ("embedding", "runtime")
_LABEL_GROUPS = {
    "labels": "Learning from few labels (Eq. semi, Eq. supcon)",
    "self-training": "Pseudo-labels (Alg. self-training)",
}

SELF_TRAINING_SETTINGS = frozenset(
    {
        "self_training",
        "self_training_start",
        "self_training_rounds",
        "self_training_threshold",
        "self_training_share",
        "pseudo_labels_for",
    }
)
SUPCON_SETTINGS = frozenset({"supcon_weight", "supcon_reduction"})
IGSD_SETTINGS = (
    group_settings("view", "heads", "loss", "embedding")
    | SUPCON_SETTINGS
    | {"pretraining_epochs", "encoder_rate", "self_weight", "pseudo_labels_for"}
)
"""The settings of IGSD that a method without student and teacher leaves out."""


@dataclass(frozen=True)
class SemiConfig(Config):
    """All settings of semi-supervised IGSD. Raises ``ConfigError`` for a value outside its rule.

    The encoder and its learning rate are GIN's, as its paper tunes it: five layers, width 32,
    0.01 halved every 50 epochs. An epoch is one pass over the labelled graphs. Other methods that
    learn from few labels share these settings: a subclass names the ones it does not use in
    ``leaves_out`` and adds its own.
    """

    groups: ClassVar[Mapping[str, str]] = (
        {key: title for key, title in GROUPS.items() if key not in _BEFORE}
        | _LABEL_GROUPS
        | {key: title for key, title in GROUPS.items() if key in _BEFORE}
    )
    leaves_out: ClassVar[frozenset[str]] = frozenset({"embed_views"})
    section: ClassVar[str] = "igsd"
    """The part of a recipe with values for this method alone."""

    epochs: int = setting(100, "run", "passes over the labelled graphs", low=0)
    batch_size: int = setting(64, "run", "graphs without a label per step", low=2)
    learning_rate: float = setting(0.01, "run", "step size of Adam at the start", above=0)
    num_layers: int = setting(5, "encoder", "number of layers", low=1)
    hidden_dim: int = setting(32, "encoder", "width of a layer", low=1)

    label_batch_size: int = setting(32, "run", "labelled graphs per step", low=2)
    halve_every: int = setting(50, "run", "epochs until the step size halves; 0: never", low=0)

    head_norm: bool = setting(
        True, "labels", "bring each column to mean 0, variance 1 in front of the output layer"
    )
    head_dropout: float = setting(
        0.0, "labels", "dropout in front of the output layer", low=0, below=1
    )
    pretraining_epochs: int = setting(
        0, "labels", "passes of self-distillation over all graphs before", low=0
    )
    encoder_rate: float = setting(
        1.0,
        "labels",
        "step size of all but the output layer, as a share of its own; below 1 keeps more of what "
        "was learned before the labels",
        above=0,
        high=1,
    )
    self_weight: float = setting(0.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)
    supcon_weight: float = setting(1.0, "labels", "w': weight of Eq. supcon", low=0.0)
    supcon_reduction: str = setting(
        "mean",
        "labels",
        "Eq. supcon over the number of views, or the paper's plain sum",
        choices=("mean", "sum"),
    )

    self_training: bool = setting(True, "self-training", "give pseudo-labels while training")
    self_training_start: int = setting(30, "self-training", "epoch of the first round", low=0)
    self_training_rounds: int = setting(20, "self-training", "rounds of labelling", low=1)
    self_training_threshold: float = setting(
        0.9, "self-training", "probability from which a guess becomes a label", low=0, high=1
    )
    self_training_share: float = setting(
        1.0,
        "self-training",
        "share of the unlabelled graphs that a round may label, the surest of each class first; "
        "1: all that pass",
        above=0,
        high=1,
    )
    pseudo_labels_for: str = setting(
        "auto",
        "self-training",
        "what they feed; auto: supcon where it has a weight, else cross-entropy",
        choices=("auto", "supcon", "cross-entropy", "both"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        asked = self.pseudo_labels_for in ("supcon", "both")
        if asked and self.self_training and not self.supcon_weight:
            raise ConfigError(
                f"pseudo_labels_for={self.pseudo_labels_for!r} feeds Eq. supcon, but "
                "supcon_weight=0 switches that off. Use pseudo_labels_for='cross-entropy', or give "
                "supcon_weight a value."
            )

    @property
    def pseudo_labels_feed(self) -> frozenset[str]:
        """Which losses pseudo-labels feed: ``supcon``, ``cross-entropy`` or both."""
        if self.pseudo_labels_for == "both":
            return frozenset({"supcon", "cross-entropy"})
        if self.pseudo_labels_for != "auto":
            return frozenset({self.pseudo_labels_for})
        is_contrastive = self.supcon_weight > 0 and "supcon_weight" not in self.leaves_out
        return frozenset({"supcon" if is_contrastive else "cross-entropy"})


@dataclass(frozen=True)
class SemiRegressionConfig(SemiConfig):
    """All settings of semi-supervised IGSD for numbers: no classes, so no supcon, no guesses."""

    leaves_out: ClassVar[frozenset[str]] = (
        SemiConfig.leaves_out | SUPCON_SETTINGS | SELF_TRAINING_SETTINGS
    )

    self_weight: float = setting(1.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)
    self_training: bool = setting(False, "self-training", "not for numbers")


S = TypeVar("S", bound=SemiConfig)


def load_semi_recipe(name: str, config_class: type[S]) -> S:
    """Return a method's configuration by a shipped recipe; raises ``ConfigError``.

    A recipe is for all methods that learn from few labels: what a method has no use for is passed
    over, so that all of them get the same encoder, batches and number of epochs. A section named
    after a method holds values for it alone.
    """
    recipe = read_recipe(name, "semi")
    settings = {key: value for key, value in recipe.items() if not isinstance(value, dict)}
    SemiConfig().updated(settings)  # a recipe with a misspelt key must not pass for any method
    used = {entry.name for entry in config_class.settings()}
    shared = {key: value for key, value in settings.items() if key in used}
    return config_class().updated(shared | recipe.get(config_class.section, {}))
