"""The settings of neural methods by group; a method's settings are composed of the groups it uses.

A setting has one name everywhere: a keyword of an estimator, a key in a TOML file, the left side
of ``--set key=value``. Only ``seed`` is called ``random_state`` in Python, as in scikit-learn.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from igsd.errors import ConfigError, warn_user
from igsd.settings.fields import Settings, setting

ENCODERS = {
    "gin": "igsd.encoders.gin:GINLayer",
    "gcn": "igsd.encoders.gcn:GCNLayer",
    "mpnn": "igsd.encoders.mpnn:MPNN",
    "gine": "igsd.encoders.gine:GINELayer",
}
"""Where each kind of layer is defined; ``mpnn`` is a whole encoder with its own readout."""

FIXED_VIEWS = ("ppr", "heat", "bond-types")
"""Views that are the same in every epoch: one diffusion per graph, or one per kind of bond."""
RANDOM_VIEWS = ("edge-drop", "node-drop", "edge-perturb", "attribute-mask", "subgraph")
"""Views that are drawn again for every step."""

VIEWS = (*FIXED_VIEWS, *RANDOM_VIEWS)
LOSSES = ("infonce",)
"""What compares a graph with its views."""

_SCHEDULES, _PRECISIONS = ("constant", "cosine"), ("32-true", "bf16-mixed", "16-mixed")
_WIDEST = 65_536


class Training(Settings):
    """How long, how fast and where a network is trained."""

    besides: ClassVar[Mapping[str, Any]] = {
        "recipe": "auto",
        "checkpoint": None,
        "log_dir": None,
        "verbose": False,
    }
    recipes: ClassVar[str | None] = ""

    epochs: int = setting(20, "run", "passes over the graphs", low=0)
    learning_rate: float = setting(1e-3, "run", "step size of Adam", above=0)
    weight_decay: float = setting(0.0, "run", "L2 penalty of Adam", low=0)
    warmup_epochs: int = setting(0, "run", "epochs over which the step size rises", low=0)
    schedule: str = setting(
        "constant", "run", "step size after the warm-up; cosine: falls to 0", choices=_SCHEDULES
    )
    halve_every: int = setting(0, "run", "epochs until the step size halves; 0: never", low=0)

    accelerator: str = setting("auto", "runtime", "device kind, as Lightning Fabric names it")
    devices: int = setting(1, "runtime", "processes, one device each", low=1, high=1024)
    precision: str = setting(
        "32-true", "runtime", "number format, as Lightning Fabric names it", choices=_PRECISIONS
    )
    sync_batch_norm: bool = setting(False, "runtime", "BatchNorm over the batches of all processes")
    checkpoint_every: int = setting(200, "runtime", "steps between checkpoints", low=1, high=10**9)


class Batches(Settings):
    """How many graphs meet in a step without labels."""

    batch_size: int = setting(128, "run", "graphs per step; the others are negatives", low=2)


class Features(Settings):
    """What an encoder sees of a node and of an edge."""

    node_features: str = setting(
        "auto",
        "features",
        "auto; chemistry (of molecules); or label, degree, attributes, constant joined by +",
    )
    degree_cap: int = setting(
        64, "features", "larger degrees share one column", low=1, high=100_000
    )
    node_attributes: str = setting(
        "auto",
        "features",
        "attributes to use, NAME,NAME or a list; auto: all that every node has; none",
        may_be=list,
    )
    edge_weight: str = setting(
        "weight",
        "features",
        "edge attribute that weights the edges; none: leave it out",
        may_be=None,
    )
    directed: str = setting(
        "ignore",
        "features",
        "directed edges; both: forward and backward are two kinds of edges (gine, mpnn)",
        choices=("ignore", "both"),
    )


class Diffusion(Settings):
    """Which diffusion of a graph is compared with the graph itself (Eq. diffusion)."""

    view: str = setting("ppr", "view", "kind of diffusion", choices=("ppr", "heat"))
    teleport: float = setting(0.2, "view", "alpha of PPR", above=0, below=1)
    heat_time: float = setting(5.0, "view", "t of the heat kernel", above=0, high=1000)
    threshold: float = setting(1e-3, "view", "entries of S below this are dropped", low=0, below=1)
    top_k: int = setting(
        0, "view", "keep the k largest entries per row or column instead; 0: off", low=0
    )
    exact_limit: int = setting(
        2000, "view", "larger graphs are diffused by a series", low=0, high=50_000
    )
    cache_views: bool = setting(True, "view", "keep the diffusion of the training set on disk")

    @property
    def is_fixed_view(self) -> bool:
        """Whether the view is the same in every epoch."""
        return self.view in FIXED_VIEWS


class View(Diffusion):
    """Which view of a graph is compared with the graph itself: a diffusion, or any other."""

    view: str = setting("ppr", "view", "kind of view", choices=VIEWS, own="views")
    num_views: int = setting(
        1, "view", "K: kinds of bonds in bond-types, commonest first", low=1, high=1000
    )
    drop_rate: float = setting(0.2, "view", "share of edges or nodes changed", low=0, below=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_views > 1 and self.view != "bond-types":
            raise ConfigError(
                f"num_views counts kinds of bonds, but view={self.view!r} gives a single view. Use "
                f"num_views=1, or view='bond-types'. Got num_views={self.num_views}."
            )


class Layers(Settings):
    """An encoder of layers that do not tell links apart."""

    encoder: str = setting(
        "gin", "encoder", "kind of layer", choices=("gin", "gcn"), own="encoders"
    )
    num_layers: int = setting(
        4, "encoder", "number of layers (mpnn: message steps)", low=1, high=1000
    )
    hidden_dim: int = setting(64, "encoder", "width of a layer", low=1, high=_WIDEST)
    encoder_batch_norm: bool = setting(True, "encoder", "BatchNorm in every layer; not in mpnn")
    readout: str = setting(
        "sum", "encoder", "sum, mean, max, or several joined by + (mpnn has its own)"
    )
    concat_layers: bool = setting(True, "encoder", "join the readouts of all layers; not in mpnn")


class Encoder(Layers):
    """Any encoder."""

    encoder: str = setting(
        "gin",
        "encoder",
        "kind of layer; gine, mpnn: messages by bond",
        choices=tuple(ENCODERS),
        own="encoders",
    )
    edge_hidden_dim: int = setting(
        128, "encoder", "hidden width of mpnn's edge network", low=1, high=_WIDEST
    )
    distance_bins: int = setting(
        20, "encoder", "distances that mpnn tells apart; 0: none", low=0, high=10_000
    )
    set2set_steps: int = setting(3, "encoder", "steps of mpnn's readout Set2Set", low=1, high=1000)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("encoder_batch_norm", "concat_layers"):
            if self.encoder == "mpnn" and not getattr(self, name):
                raise ConfigError(
                    f"{name} is for the layers of gin and gcn: encoder='mpnn' has no BatchNorm and "
                    f"reads out the last step alone, so {name}=False would change nothing. Leave "
                    "it true, or use encoder='gin'."
                )


class Projector(Settings):
    """The two-layer perceptron that follows the encoder."""

    head_hidden_dim: int = setting(
        1024, "heads", "hidden width of projector and predictor", low=1, high=_WIDEST
    )
    head_dim: int = setting(
        256, "heads", "output width of projector and predictor", low=1, high=_WIDEST
    )
    head_batch_norm: bool = setting(True, "heads", "BatchNorm before the ReLU of both heads")


class Heads(Projector):
    """Projector and predictor, and whether they are used."""

    projector: bool = setting(True, "heads", "use the projector g")
    predictor: bool = setting(True, "heads", "use the predictor h")


class Temperature(Settings):
    """The temperature of a contrastive loss."""

    temperature: float = setting(0.2, "loss", "temperature of InfoNCE; the paper's is 1", above=0)


class Objective(Temperature):
    """What compares a graph with its views."""

    loss: str = setting(
        "infonce", "loss", "loss of a graph and its views", choices=LOSSES, own="losses"
    )


class Subtrees(Settings):
    """Subtrees as targets beside Eq. InfoNCE."""

    infonce_weight: float = setting(1.0, "loss", "weight of Eq. InfoNCE", above=0)
    subtree_weight: float = setting(
        0.0, "loss", "weight of predicting which subtrees a graph holds; the paper has none", low=0
    )
    subtree_height: int = setting(2, "loss", "height of the largest such subtree", low=0, high=10)


class EMA(Settings):
    """The moving-average teacher."""

    ema_decay: float = setting(0.99, "loss", "tau of the teacher", low=0, high=1)


class Mix(Settings):
    """How the vectors of student and teacher are combined."""

    mix_weight: float = setting(0.5, "embedding", "lambda: share of the student", low=0, high=1)


class Embedding(Mix):
    """The vectors users get, for methods with a view."""

    embed_views: str = setting(
        "graph", "embedding", "graph: Eq. mix; both: also the view's", choices=("graph", "both")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        view = getattr(self, "view", "ppr")
        if self.embed_views == "both" and view not in FIXED_VIEWS:
            raise ConfigError(
                f"embed_views='both' needs a view that is the same each time, but view={view!r} "
                "is random. Use embed_views='graph', or view='ppr'."
            )
        if self.embed_views == "both" and view == "bond-types":
            raise ConfigError(
                "embed_views='both' puts one view beside the graph, but view='bond-types' gives "
                "one for each kind of bond. Use embed_views='graph', or view='ppr'."
            )


class FewLabels(Training, Features, Encoder):
    """Learning from few labels. An epoch is one pass over the labelled graphs.

    The encoder and its learning rate are GIN's, as its paper tunes it: five layers, width 32,
    0.01 halved every 50 epochs.
    """

    recipes: ClassVar[str | None] = "semi"

    epochs: int = setting(100, "run", "passes over the labelled graphs", low=0)
    most_steps: int = setting(
        0, "run", "steps after which training ends, with fewer epochs; 0: no limit", low=0
    )
    learning_rate: float = setting(0.01, "run", "step size of Adam at the start", above=0)
    halve_every: int = setting(50, "run", "epochs until the step size halves; 0: never", low=0)
    label_batch_size: int = setting(32, "run", "labelled graphs per step", low=2)
    num_layers: int = setting(5, "encoder", "number of layers", low=1, high=1000)
    hidden_dim: int = setting(32, "encoder", "width of a layer", low=1, high=_WIDEST)
    head_norm: bool = setting(True, "labels", "standardise the inputs of the output layer")
    head_dropout: float = setting(0.0, "labels", "dropout before the output layer", low=0, below=1)


class Unlabelled(FewLabels):
    """Learning from few labels and from the graphs without one."""

    batch_size: int = setting(64, "run", "graphs without a label per step", low=2)


class SelfTraining(Settings):
    """Pseudo-labels."""

    self_training: bool = setting(True, "self-training", "use pseudo-labels")
    self_training_start: int = setting(30, "self-training", "epoch of the first round", low=0)
    self_training_rounds: int = setting(20, "self-training", "rounds of labelling", low=1)
    self_training_threshold: float = setting(
        0.9, "self-training", "minimum probability of a pseudo-label", low=0, high=1
    )
    self_training_share: float = setting(
        1.0,
        "self-training",
        "largest share labelled a round, most confident first",
        above=0,
        high=1,
    )


_Rule = tuple[tuple[str, ...], str, Callable[[Any], bool]]
_NEEDS: tuple[_Rule, ...] = (
    (("teleport",), "view='ppr' or 'bond-types'", lambda s: s.view in ("ppr", "bond-types")),
    (("heat_time",), "view='heat'", lambda s: s.view == "heat"),
    (("threshold",), "a diffusion without top_k", lambda s: s.is_fixed_view and not s.top_k),
    (("top_k", "exact_limit"), "a diffusion as view", lambda s: s.is_fixed_view),
    (("drop_rate",), "a random view", lambda s: getattr(s, "view", "edge-drop") in RANDOM_VIEWS),
    (
        ("edge_hidden_dim", "distance_bins", "set2set_steps"),
        "encoder='mpnn'",
        lambda s: s.encoder == "mpnn",
    ),
    (("readout",), "other encoders than 'mpnn'", lambda s: s.encoder != "mpnn"),
    (
        ("head_hidden_dim", "head_dim", "head_batch_norm"),
        "projector=True or predictor=True",
        lambda s: getattr(s, "projector", True) or getattr(s, "predictor", True),
    ),
    (("temperature",), "loss='infonce'", lambda s: getattr(s, "loss", "infonce") == "infonce"),
    (
        ("pretraining_epochs", "pretraining_targets"),
        "igsd train",
        lambda s: s.section != "pretrain",
    ),
    (
        ("subtree_weight",),
        "training without labels, and with labels for pretraining_epochs above 0",
        lambda s: getattr(s, "pretraining_epochs", 1) > 0,
    ),
    (("subtree_height",), "a subtree_weight above 0", lambda s: s.subtree_weight > 0),
    (("pretraining_targets",), "pretraining_epochs above 0", lambda s: s.pretraining_epochs > 0),
    (("supcon_reduction",), "a supcon_weight above 0", lambda s: s.supcon_weight > 0),
    (
        (
            "self_training_start",
            "self_training_rounds",
            "self_training_threshold",
            "self_training_share",
            "pseudo_labels_for",
        ),
        "self_training=True",
        lambda s: s.self_training,
    ),
)
"""Settings that change nothing unless others have the values in words."""


def warn_without_effect(settings: Settings, names: Iterable[str]) -> None:
    """Warn of those of the named settings that have no effect, given the other settings."""
    asked = set(names)
    for keys, words, is_used in _NEEDS:
        found = [key for key in keys if key in asked and hasattr(settings, key)]
        if found and not is_used(settings):
            values = ", ".join(f"{key}={getattr(settings, key)!r}" for key in found)
            verb = "changes" if len(found) == 1 else "change"
            warn_user(f"{values} {verb} nothing here: that is for {words}.")
