"""``Config``: every setting of an IGSD run, with its rule, in one frozen dataclass.

A setting has one name everywhere: a keyword of ``igsd.IGSD``, a key in a TOML file, the left side
of ``--set key=value``. Only ``seed`` is called ``random_state`` in Python, as in scikit-learn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError, nearest

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


def _setting(
    default: Any,
    group: str,
    text: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Return a dataclass field that knows its rule."""
    rule = {"group": group, "help": text, "choices": choices, "low": low, "high": high}
    return field(default=default, metadata=rule)


@dataclass(frozen=True)
class Config:
    """All settings of self-supervised IGSD. Raises ``ConfigError`` for a value outside its rule."""

    seed: int = _setting(
        0, "run", "seed of weights, batches and random views", low=0, high=2**32 - 1
    )
    epochs: int = _setting(20, "run", "passes over the graphs", low=0)
    batch_size: int = _setting(128, "run", "graphs per step; the others are negatives", low=2)
    learning_rate: float = _setting(1e-3, "run", "step size of Adam", low=0.0)
    weight_decay: float = _setting(0.0, "run", "L2 penalty of Adam", low=0.0)

    node_features: str = _setting(
        "auto", "features", "auto, or label, degree, attributes, constant joined by +"
    )
    degree_cap: int = _setting(64, "features", "degrees from here on share a column", low=1)

    view: str = _setting("ppr", "view", "kind of view", choices=("ppr", "heat", "edge-drop"))
    teleport: float = _setting(0.2, "view", "alpha of PPR", low=0.0, high=1.0)
    heat_time: float = _setting(5.0, "view", "t of the heat kernel", low=0.0)
    threshold: float = _setting(1e-3, "view", "entries of S below this are dropped", low=0.0)
    top_k: int = _setting(0, "view", "keep the k largest entries a row instead; 0: off", low=0)
    drop_rate: float = _setting(0.2, "view", "share of edges that edge-drop removes", low=0, high=1)
    exact_limit: int = _setting(2000, "view", "larger graphs are diffused by a series", low=1)
    cache_views: bool = _setting(True, "view", "keep the diffusion of the training set on disk")

    encoder: str = _setting("gin", "encoder", "kind of layer", choices=("gin", "gcn"))
    num_layers: int = _setting(4, "encoder", "number of layers", low=1)
    hidden_dim: int = _setting(64, "encoder", "width of a layer", low=1)
    encoder_batch_norm: bool = _setting(True, "encoder", "BatchNorm in every layer")
    readout: str = _setting("sum", "encoder", "sum, mean, max, or several joined by +")
    concat_layers: bool = _setting(True, "encoder", "readouts of all layers side by side")

    projector: bool = _setting(True, "heads", "use the projector g")
    predictor: bool = _setting(True, "heads", "use the predictor h")
    head_hidden_dim: int = _setting(1024, "heads", "hidden width of both", low=1)
    head_dim: int = _setting(256, "heads", "output width of both", low=1)
    head_batch_norm: bool = _setting(True, "heads", "BatchNorm before their ReLU")

    temperature: float = _setting(0.2, "loss", "temperature of InfoNCE; the paper's is 1", low=0.0)
    ema_decay: float = _setting(0.99, "loss", "tau of the teacher", low=0.0, high=1.0)

    mix_weight: float = _setting(0.5, "embedding", "lambda: share of the student", low=0, high=1)
    embed_views: str = _setting(
        "graph",
        "embedding",
        "graph: Eq. mix; both: the view's beside it",
        choices=("graph", "both"),
    )

    accelerator: str = _setting("auto", "runtime", "device kind, as Lightning Fabric names it")
    devices: int = _setting(1, "runtime", "processes, one device each", low=1)
    precision: str = _setting(
        "32-true",
        "runtime",
        "number format, as Lightning Fabric names it",
        choices=("32-true", "bf16-mixed", "16-mixed"),
    )
    checkpoint_every: int = _setting(200, "runtime", "steps between checkpoints", low=1)

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = _coerce(entry.name, str(entry.type), getattr(self, entry.name))
            object.__setattr__(self, entry.name, value)
            _check(entry.name, value, entry.metadata)
        for name in ("learning_rate", "temperature", "heat_time"):
            if getattr(self, name) == 0:
                raise ConfigError(_message(name, "must be greater than 0", getattr(self, name)))
        if not 0 < self.teleport < 1:
            raise ConfigError(_message("teleport", "must be between 0 and 1", self.teleport))
        if self.threshold >= 1:
            raise ConfigError(_message("threshold", "must be below 1", self.threshold))
        if self.drop_rate >= 1:
            raise ConfigError(_message("drop_rate", "must be below 1", self.drop_rate))
        if self.embed_views == "both" and self.view == "edge-drop":
            raise ConfigError(
                "embed_views='both' needs a view that is the same each time, but view='edge-drop' "
                "is random. Use embed_views='graph', or view='ppr'."
            )

    def updated(self, changes: Mapping[str, Any]) -> Config:
        """Return a copy with some settings changed; raises ``ConfigError`` for an unknown key."""
        known = {entry.name for entry in fields(self)}
        for key in changes:
            if key not in known:
                raise ConfigError(f"There is no setting {key!r}. {nearest(key, known)}")
        return replace(self, **dict(changes))

    def learned(self) -> dict[str, Any]:
        """Return the settings that decide which numbers come out.

        Not among them: where it runs, and what is kept on disk meanwhile. Precision and the number
        of processes are: both change the arithmetic, the latter through BatchNorm.
        """
        others = ("accelerator", "checkpoint_every", "cache_views")
        return {key: value for key, value in self.to_json().items() if key not in others}

    def to_toml(self) -> str:
        """Return the complete configuration as a TOML text, grouped and explained."""
        lines = []
        for group, title in GROUPS.items():
            lines.append(f"# {title}")
            for entry in fields(self):
                if entry.metadata["group"] == group:
                    value = _toml(getattr(self, entry.name))
                    lines.append(f"{entry.name} = {value}  # {entry.metadata['help']}")
            lines.append("")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the complete configuration as plain values."""
        return asdict(self)


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes."""
    folder = resources.files("igsd.recipes")
    return sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")
    )


def load_recipe(name: str) -> Config:
    """Return the configuration of a shipped recipe; raises ``ConfigError`` for an unknown name."""
    if name not in recipe_names():
        raise ConfigError(f"There is no recipe {name!r}. {nearest(name, recipe_names())}")
    text = (resources.files("igsd.recipes") / f"{name}.toml").read_text()
    return Config().updated(tomllib.loads(text))


def read_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a TOML file; raises ``ConfigError`` where it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}.") from error


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Return the settings of ``key=value`` texts, values read as TOML or else as plain text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign:
            raise ConfigError(
                f"--set takes key=value, for example epochs=40. Got {pair!r} instead."
            )
        try:
            settings[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key.strip()] = {"True": True, "False": False}.get(text.strip(), text.strip())
    return settings


def _coerce(name: str, kind: str, value: Any) -> Any:
    """Return ``value`` as the type of its field; whole numbers pass for numbers, nothing else."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a NumPy scalar, as parameter grids give them
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        if value != value or value in (float("inf"), float("-inf")):
            raise ConfigError(_message(name, "must be finite", value))
        return float(value)
    expected = {"int": int, "bool": bool, "str": str}.get(kind)
    if expected is None or type(value) is not expected:
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise ConfigError(_message(name, f"must be {words.get(kind, 'a text')}", value))
    return value


def _check(name: str, value: Any, rule: Mapping[str, Any]) -> None:
    if rule["choices"] and value not in rule["choices"]:
        raise ConfigError(
            _message(name, "must be one of " + ", ".join(map(repr, rule["choices"])), value)
        )
    if rule["low"] is not None and value < rule["low"]:
        raise ConfigError(_message(name, f"must be at least {rule['low']}", value))
    if rule["high"] is not None and value > rule["high"]:
        raise ConfigError(_message(name, f"must be at most {rule['high']}", value))


def _message(name: str, rule: str, value: Any) -> str:
    return f"The {name!r} parameter of IGSD {rule}. Got {value!r} instead."


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
