"""``Settings``: a method's settings as a frozen dataclass whose fields know their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from igsd.errors import ConfigError, ParameterError, nearest


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
    """Return a dataclass field that knows its rule; ``above`` and ``below`` are not allowed."""
    rule = {"group": group, "help": text, "choices": choices, "low": low, "high": high}
    return field(default=default, metadata=rule | {"above": above, "below": below})


@dataclass(frozen=True)
class Settings:
    """The settings of a method. Raises ``ConfigError`` for a value outside its rule.

    A method adds fields made with ``setting``. A subclass of another method's settings names those
    that it has no use for in ``leaves_out``.
    """

    groups: ClassVar[Mapping[str, str]] = {"run": "The run"}
    """Titles of the groups in which the settings are shown, in order."""
    leaves_out: ClassVar[frozenset[str]] = frozenset()
    """Settings of a parent class that this method has no use for."""
    besides: ClassVar[Mapping[str, Any]] = {}
    """Parameters of its estimator that are no settings: they do not change what is learned."""

    seed: int = setting(
        0, "run", "seed of what the method draws, and of its folds", low=0, high=2**32 - 1
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = checked(entry, getattr(self, entry.name), "IGSD")
            object.__setattr__(self, entry.name, value)

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """Return the settings of this method in order, each with its rule as ``metadata``."""
        return [entry for entry in fields(cls) if entry.name not in cls.leaves_out]

    @classmethod
    def known(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of ``values``, say the settings of another method, that this one has too."""
        names = {entry.name for entry in cls.settings()}
        return {key: value for key, value in values.items() if key in names}

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings changed; raises ``ConfigError`` for an unknown key."""
        known = {entry.name for entry in self.settings()}
        for key in changes:
            if key not in known:
                raise ConfigError(f"There is no setting {key!r}. {nearest(key, known)}")
        return replace(self, **dict(changes))

    def learned(self) -> dict[str, Any]:
        """Return the settings that decide which numbers come out: all of them."""
        return self.to_json()

    def to_toml(self) -> str:
        """Return the complete configuration as a TOML text, grouped and explained."""
        lines = []
        for group, title in self.groups.items():
            entries = [entry for entry in self.settings() if entry.metadata["group"] == group]
            if not entries:
                continue
            lines.append(f"# {title}")
            for entry in entries:
                value = _toml(getattr(self, entry.name))
                lines.append(f"{entry.name} = {value}  # {entry.metadata['help']}")
            lines.append("")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the complete configuration as plain values."""
        return {entry.name: getattr(self, entry.name) for entry in self.settings()}


def checked(entry: Field[Any], value: Any, owner: str) -> Any:
    """Return ``value`` as the type of its field; raises ``ConfigError`` where it breaks a rule.

    ``owner``: whose parameter the message speaks of.
    """
    plain, rule = _coerced(entry, value, owner), entry.metadata
    if rule["choices"] and plain not in rule["choices"]:
        choices = ", ".join(map(repr, rule["choices"]))
        raise _broken(entry, owner, f"must be one of {choices}", value)
    low, high, above, below = (rule[key] for key in ("low", "high", "above", "below"))
    if (
        (low is not None and plain < low)
        or (above is not None and plain <= above)
        or (high is not None and plain > high)
        or (below is not None and plain >= below)
    ):
        raise _broken(entry, owner, f"must be {_bounds(rule)}", value)
    return plain


def _bounds(rule: Mapping[str, Any]) -> str:
    """Return the whole range in words: ``greater than 0 and less than 1``."""
    words = {"low": "at least", "above": "greater than", "high": "at most", "below": "less than"}
    present = [f"{text} {rule[key]}" for key, text in words.items() if rule[key] is not None]
    return " and ".join(present)


def _coerced(entry: Field[Any], value: Any, owner: str) -> Any:
    """Return ``value`` as the type of its field; whole numbers pass for numbers, nothing else."""
    kind = str(entry.type)
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a NumPy scalar, as parameter grids give them
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        if value != value or value in (float("inf"), float("-inf")):
            raise _broken(entry, owner, "must be finite", value)
        return float(value)
    expected = {"int": int, "bool": bool, "str": str}.get(kind)
    if expected is None or type(value) is not expected:
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise _broken(entry, owner, f"must be {words.get(kind, 'a text')}", value)
    return value


def _broken(entry: Field[Any], owner: str, rule: str, value: Any) -> ParameterError:
    return ParameterError(entry.name, owner, f"{rule}. Got {value!r} instead.")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
