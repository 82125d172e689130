"""What stands where a value is unknown, in tables and in classes, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from igsd.errors import warn_user
from igsd.wording import counted, enumerated

MARKERS = ("?", "-", "na", "n/a", "#n/a", "nan", "none", "null")
"""Texts that mean no value, as an empty cell does, in capitals or not."""


def is_minus_one(value: Any) -> bool:
    """Say whether a class is the whole number -1."""
    return isinstance(value, int) and value == -1


def minus_one_is_unknown(classes: Iterable[Any]) -> bool:
    """Say whether -1 among these classes marks graphs without one, as in scikit-learn.

    Only where the others are all whole numbers >= 0 and at least two different ones: MUTAG's own
    classes are -1 and 1.
    """
    others = [value for value in classes if not is_minus_one(value)]
    whole = all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in others)
    return whole and len(set(others)) >= 2


def markers_in(texts: Sequence[str], *, of_classes: bool = False) -> Counter[str]:
    """Return the texts of a column that mark a missing value, and how many there are of each.

    In a column that has ``+``, ``-`` is its opposite and no marker. ``of_classes``: so may be -1,
    by the rule of ``minus_one_is_unknown``; in a column of numbers it is one of them.
    """
    no_marker = "-" if "+" in texts else None
    found = Counter(text for text in texts if text.lower() in MARKERS and text != no_marker)
    if of_classes:
        classes = {text: class_of_text(text) for text in texts if text and text not in found}
        if minus_one_is_unknown(classes.values()):
            found.update(text for text in texts if is_minus_one(classes.get(text)))
    return found


def class_of_text(text: str) -> int | str:
    """Return the class that a cell names: whole numbers are the same however written, 1.0 as 1."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else text


def without_markers(texts: Sequence[str], *, of_classes: bool = False) -> list[str]:
    """Return the texts of a column, empty where one only marks a missing value."""
    found = markers_in(texts, of_classes=of_classes)
    return ["" if text in found else text for text in texts]


def warn_of_markers(texts: Sequence[str], name: str, *, of_classes: bool = False) -> None:
    """Warn which labels of the column ``name`` are taken for missing ones; empty ones plainly are.

    A class may be called like that, and would be lost without a word.
    """
    found = markers_in(texts, of_classes=of_classes)
    if not found:
        return
    listed = enumerated([f"{marker!r} ({count})" for marker, count in found.most_common()])
    filled = sum(1 for text in texts if text)
    unknown = "1 is" if found.total() == 1 else f"{found.total()} are"
    warn_user(
        f"Of {counted(filled, 'filled cell')} in {name!r}, {unknown} taken as unknown: {listed}. "
        "Write a class that is called so in other words.",
    )


def warn_of_class_minus_one(texts: Sequence[str], name: str) -> None:
    """Warn where -1 in a column of classes, its markers taken out, is one of them."""
    count = sum(1 for text in texts if is_minus_one(class_of_text(text)))
    if count:
        warn_user(
            f"{counted(count, 'cell')} -1 in {name!r} {'is' if count == 1 else 'are'} taken as a "
            "class: -1 means unknown only beside at least two different whole numbers >= 0, and "
            "no other classes. Empty the cells whose class is unknown."
        )
