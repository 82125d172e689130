"""Labels of graphs: which ones are missing, and whether they are classes or numbers."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np

from igsd.errors import DataError, counted, enumerated, warn_user
from igsd.files.columns import parse_number

MARKERS = ("?", "-", "na", "n/a", "#n/a", "nan", "none", "null")
"""Words that mean no value, as an empty cell does, in any case."""

Task = Literal["auto", "classes", "numbers"]

LARGEST = float(np.finfo(np.float32).max)
"""The largest number to predict: models hold 32-bit floats."""
SMALLEST = float(np.finfo(np.float32).tiny)
"""If no number to predict is of this size, all of them would be 0."""

_MEASURED = re.compile(r"[<>=~≤≥]{0,2} ?[+-]?\d.{0,30}")
"""A number, perhaps with a bound, a unit, a deviation or the number of measurements."""
_FRACTION = re.compile(r"\d[.,]\d")
# Whole numbers with more different values than this are counts rather than classes.
_MOST_CLASSES = 20


def drop_missing(
    values: Sequence[Any], name: str, *, counts: Iterable[int] | None = None, warn: bool = True
) -> list[Any]:
    """Return the labels of a column, or of ``y``, with None for those that are missing.

    A label is missing if it is None, empty or one of ``MARKERS``; ``-`` is a class if ``+`` also
    occurs. The whole number -1 is missing beside two or more other classes that are all whole
    numbers >= 0; otherwise it is a class (MUTAG's are -1 and 1). Numbers to predict are passed as
    text, for which -1 has no such meaning.

    ``counts``: how often each value occurs, for values that are given once.
    ``warn``: an ``IGSDWarning`` says what in ``name`` is taken as missing and how often, since a
    class name may equal a marker; that -1 is taken as a class, unless None marks what is
    missing; and which texts stay classes apart that differ only in case or blanks around them.
    """
    filled = [value for value in values if value not in (None, "")]
    pairs = zip(values, [1] * len(values) if counts is None else counts, strict=True)
    totals = [total for value, total in pairs if value not in (None, "")]
    markers = {value for value in filled if isinstance(value, str) and value.lower() in MARKERS}
    markers -= {"-"} if "+" in filled else set()
    missing = Counter[Any]()
    for value, total in zip(filled, totals, strict=True):
        if value in markers:
            missing[value] += total
    others = {v for v in filled if not is_minus_one(v)} - markers
    whole = all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in others)
    num_minus_one = sum(t for v, t in zip(filled, totals, strict=True) if is_minus_one(v))
    if num_minus_one and whole and len(others) >= 2:
        missing[-1] = num_minus_one
    if warn and missing:
        listed = enumerated([f"{marker!r} ({count})" for marker, count in missing.most_common()])
        are = "is" if missing.total() == 1 else "are"
        warn_user(
            f"{missing.total()} of {counted(sum(totals), 'label')} in {name!r} {are} taken as "
            f"missing: {listed}. If one of them is a class, give it another name."
        )
    if warn and num_minus_one and -1 not in missing and None not in values:
        warn_user(
            f"-1 in {name!r} ({num_minus_one}) is taken as a class: it means no label only beside "
            "two or more other classes that are all whole numbers >= 0. Leave missing labels "
            "empty (None or NaN in Python)."
        )
    if warn and (alike := _alike(filled)):
        warn_user(
            f"Classes in {name!r} that differ only in upper and lower case, or in blanks around "
            f"them, are different classes: {enumerated(alike, 3)}. If they are one, write it the "
            "same way everywhere."
        )
    return [None if value in (None, "") or value in missing else value for value in values]


def _alike(values: Sequence[Any]) -> list[str]:
    """Return the texts, no numbers, that are the same but for case and blanks around them."""
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(value for value in values if isinstance(value, str)):
        groups.setdefault(text.strip().casefold(), []).append(text)
    several = [group for word, group in groups.items() if len(group) > 1 and word not in MARKERS]
    return [
        " and ".join(map(repr, group)) for group in several if number_of(group[0].strip()) is None
    ]


def is_minus_one(value: object) -> bool:
    """Return whether a class is the whole number -1."""
    return isinstance(value, int) and value == -1


def class_of_text(text: str) -> int | str:
    """Return the class that a cell names: whole numbers are the same however written, 1.0 as 1.

    Those of more than 64 bits, which no file of igsd holds as numbers, are their digits as text.
    """
    if number_of(text) is None:
        return text
    try:
        value = Decimal(text)  # exact, whereas a float has 53 bits: large classes stay apart
    except InvalidOperation:  # an exponent beyond any float
        return text
    whole = int(value)
    if value != whole:
        return text
    return whole if abs(whole) < 2**63 else str(whole)


@dataclass(frozen=True)
class LabelTexts:
    """Columns of labels as written: ``texts`` [columns][G], empty where unknown.

    ``lines`` [G]: their lines in the file, if they come from one.
    """

    names: tuple[str, ...]
    texts: list[list[str]]
    lines: list[int] | None = None


@dataclass(frozen=True, eq=False)
class GraphLabels:
    """Labels of graphs, as estimators take them.

    ``y``: a list of class names, None where unknown; or numbers [G] or [G, t], NaN where unknown.
    ``names``: of the columns.
    """

    y: Any
    are_classes: bool
    names: tuple[str, ...]

    @property
    def task(self) -> str:
        """What they are: ``classes`` or ``numbers``."""
        return "classes" if self.are_classes else "numbers"

    @property
    def is_known(self) -> np.ndarray:
        """Whether a graph has a label, [G] bool."""
        if self.are_classes:
            return np.array([value is not None for value in self.y])
        return ~np.isnan(self.y.reshape(len(self.y), -1)).all(axis=1)


def read_labels(columns: LabelTexts, task: Task, *, warn: bool) -> GraphLabels:
    """Return the labels in columns of text; ``warn``: warn of what ``drop_missing`` drops."""
    name, times = Counter(columns.names).most_common(1)[0]
    if times > 1:
        raise DataError(f"The label column {name!r} is named {times} times. Name each column once.")
    pairs = list(zip(columns.names, columns.texts, strict=True))
    texts = [[v or "" for v in drop_missing(column, name, warn=False)] for name, column in pairs]
    # Decided by most of the cells: one ``>5`` must not turn numbers into classes.
    is_classes = len(texts) == 1 and not are_numbers(texts[0])
    if task == "auto" and is_classes:
        _refuse_measured(texts[0], columns.names[0])
    if (task == "auto" and is_classes) or task == "classes":
        name = columns.names[0]
        if len(pairs) > 1:
            raise DataError(
                f"Classes are one column. Got {', '.join(columns.names)}. Name one of them, and "
                "train a model for each. Columns of 0 and 1 can be learned together: leave --task "
                "out."
            )
        cells = [class_of_text(text) for text in columns.texts[0]]
        return class_labels(drop_missing(cells, name, warn=warn), name)
    if warn:
        for name, column in pairs:
            drop_missing(column, name)
    return number_labels(replace(columns, texts=texts))


def _refuse_measured(texts: list[str], name: str) -> None:
    """Raise ``DataError`` for numbers with units, bounds or commas, which are read as text."""
    filled = [text for text in texts if text]
    odd = [text for text in filled if _MEASURED.fullmatch(text) and not _is_whole(text)]
    is_measured = len(set(odd)) > _MOST_CLASSES or any(map(_FRACTION.search, odd))
    if is_measured and 2 * len(odd) >= len(filled):
        raise DataError(
            f"The labels in {name!r} look like measured numbers, some with units, bounds, commas "
            "or text among them "
            f"({enumerated([repr(text) for text in dict.fromkeys(odd)], 3)}), which cannot be "
            "learned as numbers. Write numbers alone, with points, and leave unknown ones empty; "
            "if they are classes, say --task classes, or task='classes' in Python."
        )


def _is_whole(text: str) -> bool:
    number = number_of(text)
    return number is not None and number.is_integer()


def class_labels(values: Sequence[Any], name: str) -> GraphLabels:
    """Return classes as labels, None where unknown; ``DataError`` if every label is unique."""
    classes = [None if value is None else str(value) for value in values]
    known = [value for value in classes if value is not None]
    if len(known) > _MOST_CLASSES and len(set(known)) == len(known):
        raise DataError(
            f"No two of the {len(known)} labels in {name!r} are the same, so they are names rather "
            "than classes, and nothing can be learned from them. Name another column."
        )
    return GraphLabels(classes, True, (name,))


def number_labels(columns: LabelTexts) -> GraphLabels:
    """Return columns of text as numbers, NaN where empty; raises ``DataError`` for other text."""
    values = []
    for name, texts in zip(columns.names, columns.texts, strict=True):
        values.append([number_of(text) if text else math.nan for text in texts])
        sizes = [0.0 if v is None or math.isnan(v) else abs(v) for v in values[-1]]
        are_tiny = max(sizes, default=0.0) < SMALLEST  # one such number among others is a zero
        if shown := _cells(columns, texts, [s > LARGEST or (are_tiny and s > 0) for s in sizes]):
            raise DataError(
                f"Numbers in the label column {name!r} must be of a size between {SMALLEST:.3g} "
                f"and {LARGEST:.3g} (32-bit floats). Got {enumerated(shown)}. Empty such "
                "cells, or write all numbers in another unit."
            )
        if bad := _cells(columns, texts, [value is None for value in values[-1]]):
            filled = counted(sum(1 for text in texts if text), "filled cell")
            raise DataError(
                f"The label column {name!r} must hold finite numbers or nothing here. Of {filled}, "
                f"{'1 is' if len(bad) == 1 else f'{len(bad)} are'} neither: {enumerated(bad)}. "
                "Empty such cells or write numbers; if all cells name classes, say --task classes, "
                "or task='classes' in Python."
            )
    table = np.array(values, dtype=np.float64).T
    return GraphLabels(table[:, 0] if len(values) == 1 else table, False, columns.names)


def _cells(columns: LabelTexts, texts: list[str], is_bad: list[bool]) -> list[str]:
    """Return the text and place of every bad cell of a column, as messages show them."""
    place, numbers = ("line", columns.lines) if columns.lines else ("graph", range(len(texts)))
    cells = zip(texts, numbers, is_bad, strict=True)
    return [f"{text!r} ({place} {number})" for text, number, bad in cells if bad]


def check_enough(labels: GraphLabels) -> None:
    """Raise ``DataError`` unless there are two classes, or two graphs with every number."""
    names = enumerated([repr(name) for name in labels.names])
    if not labels.is_known.any():
        raise DataError(
            f"{names} holds no label: it is empty for all {counted(len(labels.y), 'graph')}. "
            "Fill it in for some graphs, or train without labels."
        )
    if labels.are_classes:
        if len(classes := {value for value in labels.y if value is not None}) < 2:
            same = f"All labels in {names} are {classes.pop()!r}"
            raise DataError(f"{same}. There must be graphs of at least two classes.")
        return
    known = (~np.isnan(labels.y.reshape(len(labels.y), -1))).sum(axis=0)
    for name, count in zip(labels.names, known.tolist(), strict=True):
        if count < 2:
            known_for = f"{name!r} is known for {counted(count, 'graph')}"
            raise DataError(f"{known_for}; at least two are needed.")


def are_numbers(texts: list[str]) -> bool:
    """Return whether a column holds numbers to predict rather than classes, for the most part."""
    filled = [text for text in texts if text]
    values = [value for value in map(number_of, filled) if value is not None]
    is_measured = len(set(values)) > _MOST_CLASSES or any(map(is_fraction, filled))
    return is_measured and 2 * len(values) > len(filled)


def is_fraction(text: str) -> bool:
    """Return whether a text is a number that is not whole."""
    value = number_of(text)
    return value is not None and not value.is_integer()


def number_of(text: str) -> float | None:
    """Parse a finite number; return None if the text is not one."""
    try:
        value = parse_number(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
