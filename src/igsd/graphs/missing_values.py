"""What tables write where a value is unknown, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from igsd.errors import warn_user
from igsd.wording import counted, enumerated

MARKERS = ("?", "-", "na", "n/a", "#n/a", "nan", "none", "null")
"""Texts that mean no value, as an empty cell does, in capitals or not."""


def markers_in(texts: Sequence[str]) -> Counter[str]:
    """Return the texts of a column that mark a missing value, and how many there are of each.

    In a column that has ``+``, ``-`` is its opposite and no marker.
    """
    no_marker = "-" if "+" in texts else None
    return Counter(text for text in texts if text.lower() in MARKERS and text != no_marker)


def without_markers(texts: Sequence[str]) -> list[str]:
    """Return the texts of a column, empty where one only marks a missing value."""
    found = markers_in(texts)
    return ["" if text in found else text for text in texts]


def warn_of_markers(texts: Sequence[str], name: str) -> None:
    """Warn which labels of the column ``name`` are taken for missing ones; empty ones plainly are.

    A class may be called like that, and would be lost without a word.
    """
    found = markers_in(texts)
    if not found:
        return
    listed = enumerated([f"{marker!r} ({count})" for marker, count in found.most_common()])
    filled = sum(1 for text in texts if text)
    unknown = "1 is" if found.total() == 1 else f"{found.total()} are"
    warn_user(
        f"Of {counted(filled, 'filled cell')} in {name!r}, {unknown} taken as unknown: {listed}. "
        "Write a class that is called so in other words.",
    )
