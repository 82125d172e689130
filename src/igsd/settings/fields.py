"""``Settings``: a method's settings as a frozen dataclass whose fields know their rules."""

import json
import math
import operator
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from igsd.errors import ConfigError, ParameterError, nearest

Values = dict[str, Any]
"""Settings by name, as in a TOML or JSON file."""

RENAMED: dict[str, str] = {}
"""Old names of settings and their present names, so that old models, runs and records open."""

_NOT_LEARNED = ("accelerator", "checkpoint_every", "cache_views", "processes")

_BOUNDS = {
    "low": ("at least", operator.ge),
    "above": ("greater than", operator.gt),
    "high": ("at most", operator.le),
    "below": ("less than", operator.lt),
}


def setting(
    default: Any,
    group: str,
    text: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any:
    """Return a dataclass field with its rule: ``low`` and ``high`` are allowed, the others not."""
    rule = {"group": group, "help": text, "choices": choices, "low": low, "high": high}
    return field(default=default, metadata=rule | {"above": above, "below": below})


@dataclass(frozen=True)
class Settings:
    """The settings of a method. Raises ``ConfigError`` for a value outside its rule.

    A method's settings are composed of groups (``igsd.settings.groups``) and of fields of its own,
    all made with ``setting``: ``class BYOLSettings(Training, Features, View, ...)``.
    """

    groups: ClassVar[Mapping[str, str]] = {"run": "The run", "method": "The method"}
    """Titles of the groups in which the settings are shown, in order."""
    besides: ClassVar[Mapping[str, Any]] = {}
    """Parameters of the estimator that are not settings: they do not change what is learned."""
    recipes: ClassVar[str | None] = None
    """The folder of the recipes that apply to the method, None if there are none."""
    section: ClassVar[str] = ""
    """The section of a recipe that holds values for this method only."""

    seed: int = setting(
        0, "run", "seed of everything random in the method, and of its folds", low=0, high=2**32 - 1
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = checked(entry, getattr(self, entry.name), "IGSD")
            object.__setattr__(self, entry.name, value)

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
        return cls().updated({RENAMED.get(key, key): value for key, value in values.items()})

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
            if not entries:
                continue
            lines.append(f"# {title}")
            for entry in entries:
                value = json.dumps(getattr(self, entry.name), ensure_ascii=False)
                lines.append(f"{entry.name} = {value}  # {entry.metadata['help']}")
            lines.append("")
        return "\n".join(lines)

    def to_json(self) -> Values:
        """Return the complete configuration as plain values."""
        return {entry.name: getattr(self, entry.name) for entry in self.settings()}


def checked(entry: Field[Any], value: Any, owner: str) -> Any:
    """Return ``value`` as the type of its field; raises ``ConfigError`` if it breaks a rule.

    ``owner``: the estimator that the message names.
    """
    plain, rule = _coerced(entry, value, owner), entry.metadata
    if rule["choices"] and plain not in rule["choices"]:
        choices = ", ".join(map(repr, rule["choices"]))
        raise _broken(entry, owner, f"must be one of {choices}", value)
    bounds = [(*_BOUNDS[key], rule[key]) for key in _BOUNDS if rule[key] is not None]
    if not all(holds(plain, bound) for _, holds, bound in bounds):
        allowed = " and ".join(f"{words} {bound}" for words, _, bound in bounds)
        raise _broken(entry, owner, f"must be {allowed}", value)
    return plain


def _coerced(entry: Field[Any], value: Any, owner: str) -> Any:
    """Return ``value`` as the type of its field; only whole numbers may stand for another type."""
    kind = type_name(entry)
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a NumPy scalar, as from a parameter grid
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise _broken(entry, owner, "must be finite", value)
        return float(value)
    expected = {"int": int, "bool": bool, "str": str}.get(kind)
    if expected is None or type(value) is not expected:
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise _broken(entry, owner, f"must be {words.get(kind, 'a text')}", value)
    return value


def type_name(entry: Field[Any]) -> str:
    """Return the name of a field's type, which postponed annotations store as text."""
    return entry.type if isinstance(entry.type, str) else entry.type.__name__


def _broken(entry: Field[Any], owner: str, rule: str, value: Any) -> ParameterError:
    return ParameterError(entry.name, owner, f"{rule}. Got {value!r} instead.")
