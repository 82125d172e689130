"""``Settings``: a method's settings as a frozen dataclass whose fields know their rules."""

import json
import math
import operator
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self, dataclass_transform

from igsd.errors import ConfigError, ParameterError, nearest
from igsd.settings import own

Values = dict[str, Any]
"""Settings by name, as in a TOML or JSON file."""

RENAMED: dict[str, str] = {}
"""Old names of settings and their present names, so that old models, runs and records open."""

GROUPS = {
    "run": "The run",
    "method": "The method",
    "features": "Node features",
    "view": "The augmented view (Eq. diffusion, or a random change of the graph)",
    "encoder": "The encoder (Eq. GNN)",
    "heads": "Projector and predictor",
    "loss": "The objective (Eq. con, Eq. InfoNCE, Eq. EMA)",
    "labels": "Learning from few labels (Eq. semi, Eq. supcon)",
    "self-training": "Pseudo-labels (Alg. self-training)",
    "embedding": "The vectors users get (Eq. mix)",
    "runtime": "Where and how it runs",
}

_NOT_LEARNED = ("accelerator", "checkpoint_every", "cache_views", "processes", "vectors_path")

_BOUNDS = {
    "low": ("at least", operator.ge),
    "above": ("greater than", operator.gt),
    "high": ("at most", operator.le),
    "below": ("less than", operator.lt),
}

_MOST = {int: 1_000_000, float: 1e6}
"""The largest value of a number whose field has no upper bound of its own."""

_TYPES: dict[str, tuple[Any, str]] = {
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
}


def setting(
    default: Any,
    group: str,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    own: str = "",
    may_be: type | str | None = "",
    **bounds: float,
) -> Any:
    """Return a dataclass field with its rule; ``bounds``: ``low``, ``above``, ``high``, ``below``.

    ``may_be``: what else a text may be in Python. None stands for ``none``; ``list``: a list of
    names, which is kept as a text with commas, and None.

    ``low`` and ``high`` are allowed values, the other two are not. A number without an upper bound
    gets a general one: absurd values are refused here, not by a library that runs out of memory.
    ``own``: what users may bring instead of one of the ``choices``, a kind of ``settings/own.py``.
    """
    if type(default) in _MOST and not bounds.keys() & {"high", "below"}:
        bounds["high"] = _MOST[type(default)]
    limits = [(*_BOUNDS[key], bound) for key, bound in bounds.items()]
    rule: Values = {"group": group, "help": text, "choices": choices, "limits": limits}
    rule |= {"may_be": may_be, "own": own}
    return field(default=default, metadata=rule)


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Settings:
    """The settings of a method. Raises ``ConfigError`` for a value outside its rule.

    A method's settings are composed of groups (``igsd.settings.groups``) and of fields of its own,
    all made with ``setting``: ``class BYOLSettings(Training, Features, View, ...)``. Every subclass
    is a frozen dataclass without a decorator of its own.
    """

    groups: ClassVar[Mapping[str, str]] = GROUPS
    """Titles of the groups in which the settings are shown, in order."""
    besides: ClassVar[Mapping[str, Any]] = {}
    """Parameters of the estimator that are not settings: they do not change what is learned."""
    recipes: ClassVar[str | None] = None
    """The folder of the recipes that apply to the method, None if there are none."""
    section: ClassVar[str] = ""
    """The section of a recipe that holds values for this method only."""

    seed: int = setting(0, "run", "seed of everything random", low=0, high=2**32 - 1)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        for entry in fields(self):
            object.__setattr__(self, entry.name, _checked(entry, getattr(self, entry.name)))

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """Return the fields by group, the seed first; ``metadata`` holds the rule of each."""
        order = list(cls.groups)
        return sorted(
            fields(cls), key=lambda e: (e.name != "seed", order.index(e.metadata["group"]))
        )

    @classmethod
    def known(cls, values: Mapping[str, Any]) -> Values:
        """Return the values that are settings of this method, and leave out all others."""
        names = {entry.name for entry in fields(cls)}
        return {key: value for key, value in values.items() if key in names}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return stored settings: old names are understood, settings added since get their default.

        Raises ``ConfigError`` for a name that was never a setting of this method.
        """
        return cls().updated(present_names(values))

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings changed; raises ``ConfigError`` for an unknown name."""
        known = {entry.name for entry in fields(self)}
        for key in changes:
            if key not in known:
                raise ConfigError(f"There is no setting {key!r}. {nearest(key, known)}")
        return replace(self, **dict(changes))

    def learned(self) -> Values:
        """Return the settings that decide which numbers come out.

        Precision and the number of processes are among them because both change the arithmetic.
        The device and what is kept on disk are not.
        """
        return {key: value for key, value in self.to_json().items() if key not in _NOT_LEARNED}

    def to_toml(self) -> str:
        """Return the complete configuration as a TOML text, grouped and explained."""
        lines = []
        for group, title in self.groups.items():
            entries = [entry for entry in self.settings() if entry.metadata["group"] == group]
            lines += [f"# {title}"] if entries else []
            for entry in entries:
                value = json.dumps(getattr(self, entry.name), ensure_ascii=False)
                lines.append(f"{entry.name} = {value}  # {entry.metadata['help']}")
            lines += [""] if entries else []
        return "\n".join(lines)

    def to_json(self) -> Values:
        """Return the complete configuration as plain values."""
        return {entry.name: getattr(self, entry.name) for entry in self.settings()}


def present_names(values: Mapping[str, Any]) -> Values:
    """Return stored settings under their present names."""
    return {RENAMED.get(key, key): value for key, value in values.items()}


def type_name(entry: Field[Any]) -> str:
    """Return the name of a field's type, which postponed annotations store as text."""
    return entry.type if isinstance(entry.type, str) else entry.type.__name__


def _as_text(entry: Field[Any], value: Any) -> Any:
    """Return None or a list of names as the text that a setting keeps, anything else unchanged."""
    may_be = entry.metadata["may_be"]
    if value is None and may_be in (None, list):
        return "none"
    if may_be is list and isinstance(value, list | tuple):
        names = [name for name in value if isinstance(name, str)]
        if len(names) < len(value) or any("," in name for name in names):
            rule = "names without commas, as a list or as one text with commas between them"
            raise ParameterError(entry.name, "IGSD", f"must be {rule}. Got {value!r} instead.")
        return ",".join(names) or "none"
    return value


def _checked(entry: Field[Any], value: Any) -> Any:
    """Return ``value`` as the type of its field; raises ``ConfigError`` if it breaks a rule."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a NumPy scalar, as from a parameter grid
    value = _as_text(entry, value)
    choices, limits = entry.metadata["choices"], entry.metadata["limits"]
    expected, words = _TYPES[type_name(entry)]
    plain: Any = float(value) if expected is float and type(value) is int else value
    if type(plain) is not expected:
        rule = words
    elif expected is float and not math.isfinite(plain):
        rule = "finite"
    elif choices and plain not in choices and not _is_own(entry, plain):
        rule = f"one of {', '.join(map(repr, _all_choices(entry)))}"
    elif not all(holds(plain, bound) for _, holds, bound in limits):
        rule = " and ".join(f"{words} {bound}" for words, _, bound in limits)
    else:
        return plain
    raise ParameterError(entry.name, "IGSD", f"must be {rule}. Got {value!r} instead.")


def _is_own(entry: Field[Any], value: str) -> bool:
    """Return whether a text names something that users may bring for this setting."""
    kind = entry.metadata.get("own", "")
    return bool(kind) and own.is_own(kind, value)


def _all_choices(entry: Field[Any]) -> list[str]:
    """Return the valid texts of a setting, those of installed packages too."""
    kind = entry.metadata.get("own", "")
    return [*entry.metadata["choices"], *(own.offered(kind) if kind else ())]
