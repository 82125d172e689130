"""Rules for the parameters of the methods without a network, checked at ``fit``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from igsd.errors import ParameterError, nearest


@dataclass(frozen=True)
class Rule:
    """What a parameter must be: a whole number, a number, yes or no, or one of some words.

    ``minimum`` and ``maximum`` are allowed values themselves; ``above`` is not.
    """

    kind: type
    minimum: float = -math.inf
    maximum: float = math.inf
    above: float = -math.inf
    words: tuple[str, ...] = ()
    none: bool = False

    def describe(self) -> str:
        """Return the rule in words, to follow 'must be'."""
        if self.kind is bool:
            return "True or False"
        if self.kind is str:
            return "one of " + ", ".join(repr(word) for word in self.words)
        text = "a whole number" if self.kind is int else "a number"
        if self.minimum > -math.inf:
            text += f" from {self.minimum:g}"
        if self.above > -math.inf:
            text += f" above {self.above:g}"
        if self.maximum < math.inf:
            text += f" up to {self.maximum:g}"
        return text + (" or None" if self.none else "")

    def accepts(self, value: Any) -> bool:
        """Say whether a value keeps the rule."""
        if value is None:
            return self.none
        if self.kind is bool:
            return isinstance(value, bool | np.bool_)
        if self.kind is str:
            return value in self.words
        number = Integral if self.kind is int else Real
        if isinstance(value, bool | np.bool_) or not isinstance(value, number):
            return False
        return self.minimum <= float(value) <= self.maximum and float(value) > self.above


def check_settings(
    owner: str, values: Mapping[str, Any], rules: Mapping[str, Rule]
) -> dict[str, Any]:
    """Return the values as plain Python ones; raises ``ConfigError`` where one breaks its rule."""
    plain = dict(values)
    for name, rule in rules.items():
        value = plain[name]
        if not rule.accepts(value):
            hint = ""
            if rule.kind is str and isinstance(value, str):
                hint = " " + nearest(value, rule.words)
            fault = f"must be {rule.describe()}. Got {value!r} instead.{hint}"
            raise ParameterError(name, owner, fault)
        plain[name] = None if value is None else rule.kind(value)
    return plain
