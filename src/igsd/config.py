"""``Config``: every setting of an IGSD run, with its rule, in one frozen dataclass.

A setting has one name everywhere: a keyword of ``igsd.IGSD``, a key in a TOML file, the left side
of ``--set key=value``. Only ``seed`` is called ``random_state`` in Python, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

from igsd.errors import ConfigError
from igsd.settings import Settings, checked, setting
from igsd.settings_text import read_recipe

GROUPS = {
    "run": "The run",
    "features": "What a node shows",
    "view": "The augmented view (Eq. diffusion, or random edge removal)",
    "encoder": "The encoder (Eq. GNN)",
    "heads": "Projector and predictor",
    "loss": "The objective (Eq. con, Eq. InfoNCE, Eq. EMA)",
    "embedding": "The vectors users get (Eq. mix)",
    "runtime": "Where and how it runs",
}


@dataclass(frozen=True)
class Config(Settings):
    """All settings of self-supervised IGSD. Raises ``ConfigError`` for a value outside its rule."""

    groups: ClassVar[Mapping[str, str]] = GROUPS
    besides: ClassVar[Mapping[str, Any]] = {"checkpoint": None, "log_dir": None, "verbose": False}

    seed: int = setting(
        0, "run", "seed of weights, batches and random views", low=0, high=2**32 - 1
    )
    epochs: int = setting(20, "run", "passes over the graphs", low=0)
    batch_size: int = setting(128, "run", "graphs per step; the others are negatives", low=2)
    learning_rate: float = setting(1e-3, "run", "step size of Adam", above=0)
    weight_decay: float = setting(0.0, "run", "L2 penalty of Adam", low=0)

    node_features: str = setting(
        "auto", "features", "auto, or label, degree, attributes, constant joined by +"
    )
    degree_cap: int = setting(64, "features", "degrees from here on share a column", low=1)

    view: str = setting(
        "ppr", "view", "kind of view", choices=("ppr", "heat", "edge-drop", "bond-types")
    )
    num_views: int = setting(
        1, "view", "K: kinds of bonds, the commonest first, with a PPR each in bond-types", low=1
    )
    teleport: float = setting(0.2, "view", "alpha of PPR", above=0, below=1)
    heat_time: float = setting(5.0, "view", "t of the heat kernel", above=0)
    threshold: float = setting(1e-3, "view", "entries of S below this are dropped", low=0, below=1)
    top_k: int = setting(0, "view", "keep the k largest entries a row instead; 0: off", low=0)
    drop_rate: float = setting(0.2, "view", "share of edges that edge-drop removes", low=0, below=1)
    exact_limit: int = setting(2000, "view", "larger graphs are diffused by a series", low=0)
    cache_views: bool = setting(True, "view", "keep the diffusion of the training set on disk")

    encoder: str = setting(
        "gin", "encoder", "kind of layer; mpnn: messages by bond", choices=("gin", "gcn", "mpnn")
    )
    num_layers: int = setting(4, "encoder", "number of layers; of mpnn: message steps", low=1)
    hidden_dim: int = setting(64, "encoder", "width of a layer", low=1)
    encoder_batch_norm: bool = setting(True, "encoder", "BatchNorm in every layer; not mpnn's")
    readout: str = setting("sum", "encoder", "sum, mean, max, or several joined by +; not mpnn's")
    concat_layers: bool = setting(True, "encoder", "all layers' readouts side by side; not mpnn's")
    edge_hidden_dim: int = setting(128, "encoder", "hidden width of mpnn's edge network", low=1)
    distance_bins: int = setting(
        20, "encoder", "distances that mpnn tells apart where nodes have x, y, z; 0: none", low=0
    )
    set2set_steps: int = setting(3, "encoder", "steps of mpnn's readout Set2Set", low=1)

    projector: bool = setting(True, "heads", "use the projector g")
    predictor: bool = setting(True, "heads", "use the predictor h")
    head_hidden_dim: int = setting(1024, "heads", "hidden width of both", low=1)
    head_dim: int = setting(256, "heads", "output width of both", low=1)
    head_batch_norm: bool = setting(True, "heads", "BatchNorm before their ReLU")

    temperature: float = setting(0.2, "loss", "temperature of InfoNCE; the paper's is 1", above=0)
    ema_decay: float = setting(0.99, "loss", "tau of the teacher", low=0, high=1)

    mix_weight: float = setting(0.5, "embedding", "lambda: share of the student", low=0, high=1)
    embed_views: str = setting(
        "graph",
        "embedding",
        "graph: Eq. mix; both: the view's beside it",
        choices=("graph", "both"),
    )

    accelerator: str = setting("auto", "runtime", "device kind, as Lightning Fabric names it")
    devices: int = setting(1, "runtime", "processes, one device each", low=1)
    precision: str = setting(
        "32-true",
        "runtime",
        "number format, as Lightning Fabric names it",
        choices=("32-true", "bf16-mixed", "16-mixed"),
    )
    checkpoint_every: int = setting(200, "runtime", "steps between checkpoints", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_views()
        self._check_encoder()

    def _check_views(self) -> None:
        """Raise ``ConfigError`` for settings of views that do not go together."""
        if self.embed_views == "both" and self.view == "edge-drop":
            raise ConfigError(
                "embed_views='both' needs a view that is the same each time, but view='edge-drop' "
                "is random. Use embed_views='graph', or view='ppr'."
            )
        if self.embed_views == "both" and self.view == "bond-types":
            raise ConfigError(
                "embed_views='both' puts one view beside the graph, but view='bond-types' gives "
                "one for each kind of bond. Use embed_views='graph', or view='ppr'."
            )
        if self.num_views > 1 and self.view != "bond-types":
            raise ConfigError(
                f"num_views counts kinds of bonds, but view={self.view!r} gives a single view. Use "
                f"num_views=1, or view='bond-types'. Got num_views={self.num_views}."
            )

    def _check_encoder(self) -> None:
        """Raise ``ConfigError`` for settings that the encoder has no use for."""
        for name in ("encoder_batch_norm", "concat_layers"):
            if self.encoder == "mpnn" and not getattr(self, name):
                raise ConfigError(
                    f"{name} is for the layers of gin and gcn: encoder='mpnn' has no BatchNorm and "
                    f"reads out the last step alone, so {name}=False would change nothing. Leave "
                    "it true, or use encoder='gin'."
                )

    def learned(self) -> dict[str, Any]:
        """Return the settings that decide which numbers come out.

        Not among them: where it runs, and what is kept on disk meanwhile. Precision and the number
        of processes are: both change the arithmetic, the latter through BatchNorm.
        """
        others = ("accelerator", "checkpoint_every", "cache_views")
        return {key: value for key, value in self.to_json().items() if key not in others}


def group_settings(*groups: str) -> frozenset[str]:
    """Return the settings of ``Config`` that stand in these groups."""
    return frozenset(entry.name for entry in fields(Config) if entry.metadata["group"] in groups)


def check_setting(name: str, value: Any, owner: str) -> Any:
    """Return ``value`` as the type of the setting ``name``, whose rule it must keep.

    For whoever takes single settings: the rules stand in ``Config`` and nowhere else. ``owner`` is
    whose parameter the message speaks of. Raises ``ConfigError``.
    """
    return checked(Config.__dataclass_fields__[name], value, owner)


@cache
def load_recipe(name: str) -> Config:
    """Return the configuration of a shipped recipe; raises ``ConfigError`` for an unknown name."""
    return Config().updated(read_recipe(name))
