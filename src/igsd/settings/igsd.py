"""The settings of IGSD: without labels, with classes, and with numbers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from igsd.errors import ConfigError
from igsd.settings import groups as g
from igsd.settings.fields import Settings, setting

_FEEDS = ("auto", "supcon", "cross-entropy", "both")


class Config(
    g.Training,
    g.Batches,
    g.Features,
    g.View,
    g.Encoder,
    g.Heads,
    g.Objective,
    g.Subtrees,
    g.EMA,
    g.Embedding,
):
    """All settings of self-supervised IGSD."""


class SemiRegressionConfig(g.Unlabelled, g.View, g.Heads, g.Objective, g.Subtrees, g.EMA, g.Mix):
    """All settings of semi-supervised IGSD for numbers: neither Eq. supcon nor pseudo-labels.

    The weights of Eq. InfoNCE and of subtrees are those of the pretraining.
    """

    section: ClassVar[str] = "igsd"

    pretraining_epochs: int = setting(0, "labels", "epochs on all graphs before any label", low=0)
    pretraining_targets: str = setting(
        "none",
        "labels",
        "what they predict; none: they self-distil; geometry: numbers that follow from elements, "
        "bonds and coordinates of molecules",
        choices=("none", "geometry"),
    )
    encoder_rate: float = setting(
        1.0, "labels", "step size of all but the output layer, relative to its own", above=0, high=1
    )
    self_weight: float = setting(1.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)


class PretrainConfig(SemiRegressionConfig):
    """All settings of a pre-training on molecules whose targets RDKit computes."""

    section: ClassVar[str] = "pretrain"
    recipes: ClassVar[str | None] = None
    besides: ClassVar[Mapping[str, Any]] = {
        key: value for key, value in g.Training.besides.items() if key != "recipe"
    }

    epochs: int = setting(10, "run", "passes over the molecules", low=0)
    learning_rate: float = setting(1e-3, "run", "step size of Adam at its highest", above=0)
    warmup_epochs: int = setting(1, "run", "epochs over which the step size rises", low=0)
    schedule: str = setting(
        "cosine",
        "run",
        "step size after the warm-up; cosine: falls to 0 over the other epochs",
        choices=("constant", "cosine"),
    )
    halve_every: int = setting(0, "run", "epochs until the step size halves; 0: never", low=0)
    label_batch_size: int = setting(128, "run", "molecules per step", low=2)
    node_features: str = setting(
        "chemistry", "features", "chemistry; or label, degree, constant joined by +"
    )
    view: str = setting("attribute-mask", "view", "kind of view", choices=g.VIEWS)
    encoder: str = setting("gine", "encoder", "kind of layer", choices=tuple(g.ENCODERS))
    hidden_dim: int = setting(128, "encoder", "width of a layer", low=1)
    head_hidden_dim: int = setting(256, "heads", "hidden width of projector and predictor", low=1)
    head_dim: int = setting(128, "heads", "output width of projector and predictor", low=1)
    self_weight: float = setting(0.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)
    self_epochs: int = setting(
        0,
        "labels",
        "epochs with Eq. InfoNCE, its weight falling to 0 over them; 0: all, at one weight",
        low=0,
    )
    descriptor_weight: float = setting(1.0, "labels", "weight of RDKit's descriptors", low=0.0)
    fragment_weight: float = setting(
        1.0, "labels", "weight of the counts of circular fragments (ECFP)", low=0.0
    )
    num_fragments: int = setting(
        1024, "labels", "number of hash buckets for fragments", low=1, high=2**20
    )
    mix_weight: float = setting(1.0, "embedding", "lambda: share of the student", low=0, high=1)
    vector: str = setting(
        "targets",
        "embedding",
        "what a vector holds: the targets as the network predicts them, or its representation",
        choices=("targets", "representation"),
    )
    fragment_dim: int = setting(
        432, "embedding", "numbers of a vector that stand for the fragments", low=1, high=2**16
    )
    half: bool = setting(True, "embedding", "round the weights to float16, which halves the file")
    processes: int = setting(1, "runtime", "processes that read molecules", low=1)


class PredictorConfig(Settings):
    """All settings of predictions for molecules from the vectors of a pre-trained encoder."""

    besides: ClassVar[Mapping[str, Any]] = {"verbose": False}

    inputs: str = setting(
        "vectors+descriptors+fragments",
        "features",
        "what small models see: vectors, descriptors, fragments, joined by +",
    )
    models: str = setting(
        "linear+pls+prototypes+kernel+forest",
        "method",
        "small models that are tried: linear, pls, prototypes, kernel, forest, joined by +",
    )
    encoder: str = setting(
        "molecules",
        "features",
        "what the vectors are from: molecules, the encoder in the package, or a file that igsd "
        "pretrain wrote",
    )
    folds: int = setting(5, "method", "folds of the cross-validation inside the labels", low=2)
    sharpness: float = setting(
        0.06, "method", "relative loss by which the weight of a small model falls to 1/e", above=0
    )


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
