"""Numbers and lists in sentences: the right plural, and no endless enumerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with its noun: ``1 graph``, ``2 graphs``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def enumerated(items: Sequence[Any], most: int = 5) -> str:
    """Return the items joined by commas; of more than ``most`` the first ones and a count."""
    shown = ", ".join(str(item) for item in items[:most])
    more = len(items) - most
    return shown + (f" and {more} more" if more > 0 else "")
