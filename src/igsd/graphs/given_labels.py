"""``GivenLabels``: columns of text as the classes or the numbers that estimators take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from igsd.errors import DataError
from igsd.graphs.missing_values import (
    class_of_text,
    warn_of_class_minus_one,
    warn_of_markers,
    without_markers,
)
from igsd.wording import counted, enumerated

Task = Literal["auto", "classes", "numbers"]

# Whole numbers with more different values than this are rather counts than classes.
_MOST_CLASSES = 20


@dataclass(frozen=True)
class LabelTexts:
    """Columns of labels as they are written: ``texts`` [columns][G], empty where unknown.

    ``lines`` [G]: where they stand in their file, if they come from one.
    """

    names: tuple[str, ...]
    texts: list[list[str]]
    lines: list[int] | None = None

    def place(self, graph: int) -> str:
        """Return where the labels of a graph stand: its line, or the graph itself."""
        return f"graph {graph}" if self.lines is None else f"line {self.lines[graph]}"


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """Labels of the graphs of a set, as estimators take them.

    ``y``: a list of class names, None where unknown; or numbers [G] or [G, t], NaN where unknown.
    ``names``: of the columns.
    """

    y: Any
    are_classes: bool
    names: tuple[str, ...]

    @property
    def is_known(self) -> np.ndarray:
        """Whether a graph has a label, [G] bool."""
        if self.are_classes:
            return np.array([value is not None for value in self.y])
        return ~np.isnan(self.y.reshape(len(self.y), -1)).all(axis=1)


def read_labels(columns: LabelTexts, task: Task, *, told: bool) -> GivenLabels:
    """Return the labels in columns where markers of ``missing_values`` mean no label.

    ``told``: an ``IGSDWarning`` says which texts are taken for markers, and where -1 is none.
    """
    plain = replace(columns, texts=[without_markers(column) for column in columns.texts])
    of_classes = _are_classes(plain, task)
    texts = [without_markers(column, of_classes=of_classes) for column in columns.texts]
    for name, column, rest in zip(columns.names, columns.texts, texts, strict=True):
        if told:
            warn_of_markers(column, name, of_classes=of_classes)
        if told and of_classes:
            warn_of_class_minus_one(rest, name)
    return typed_labels(replace(columns, texts=texts), as_classes=of_classes)


def typed_labels(columns: LabelTexts, *, as_classes: bool) -> GivenLabels:
    """Return columns of text as classes or as numbers, one entry per graph; empty is unknown.

    Raises ``DataError`` for classes that rather name the graphs, and for text among numbers.
    """
    names = columns.names
    if as_classes:
        if len(names) > 1:
            raise DataError(
                f"Classes are one column. Got {', '.join(names)}. Name one of them, or say --task "
                "numbers (task='numbers' in Python) where they are numbers."
            )
        classes = [str(class_of_text(text)) if text else None for text in columns.texts[0]]
        _check_repeats(classes, names[0])
        return GivenLabels(classes, True, names)
    values = np.array([_numbers(columns, place) for place in range(len(names))]).T
    return GivenLabels(values[:, 0] if len(names) == 1 else values, False, names)


def check_enough(given: GivenLabels) -> None:
    """Raise ``DataError`` for labels that nothing can be learned from.

    Classes must be at least two, and every number known of at least two graphs.
    """
    names = enumerated([repr(name) for name in given.names])
    if not given.is_known.any():
        raise DataError(
            f"{names} holds no label: it is empty for each of the {counted(len(given.y), 'graph')}."
            " Fill it in for some graphs, or train without labels."
        )
    if given.are_classes:
        classes = {value for value in given.y if value is not None}
        if len(classes) < 2:
            raise DataError(
                f"All labels in {names} are {classes.pop()!r}. There must be graphs of at least "
                "two classes."
            )
        return
    known = (~np.isnan(given.y.reshape(len(given.y), -1))).sum(axis=0)
    for name, count in zip(given.names, known.tolist(), strict=True):
        if count < 2:
            raise DataError(
                f"{name!r} is known of {counted(count, 'graph')}; it must be of at least two."
            )


def _are_classes(columns: LabelTexts, task: Task) -> bool:
    """Say whether the labels are classes, by what they look like where that is left open.

    A column that is mostly numbers is one of numbers: a lone ``>5`` once made a class of each.
    """
    if task != "auto":
        return task == "classes"
    return len(columns.texts) == 1 and not are_numbers(columns.texts[0])


def _check_repeats(values: list[str | None], name: str) -> None:
    """Raise ``DataError`` for many classes of which no two graphs share one: names, rather."""
    known = [value for value in values if value is not None]
    if len(known) > _MOST_CLASSES and len(set(known)) == len(known):
        raise DataError(
            f"No two of the {len(known)} labels in {name!r} are the same, so they are rather names "
            "than classes, and nothing can be learned from them. Name another column."
        )


def are_numbers(texts: list[str]) -> bool:
    """Say whether a column is rather numbers to predict than classes, for the most part."""
    filled = [text for text in texts if text]
    values = [value for value in map(number_of, filled) if value is not None]
    are_many = len(set(values)) > _MOST_CLASSES
    is_measured = are_many or any(map(is_fraction, filled))
    return is_measured and 2 * len(values) > len(filled)


def _numbers(columns: LabelTexts, column: int) -> list[float]:
    """Return the numbers of a column, NaN where empty; raises ``DataError`` for other text."""
    texts = columns.texts[column]
    values = [number_of(text) if text else math.nan for text in texts]
    bad = [f"{texts[i]!r} ({columns.place(i)})" for i, value in enumerate(values) if value is None]
    if bad:
        filled = counted(sum(1 for text in texts if text), "filled cell")
        raise DataError(
            f"The label column {columns.names[column]!r} must hold numbers or nothing here. Of "
            f"{filled}, {'1 is' if len(bad) == 1 else f'{len(bad)} are'} neither: "
            f"{enumerated(bad)}. Empty such cells or write numbers; where all cells name classes, "
            "say --task classes, or task='classes' in Python."
        )
    return [value for value in values if value is not None]


def is_fraction(text: str) -> bool:
    """Say whether a text is a number that is not whole."""
    value = number_of(text)
    return value is not None and not value.is_integer()


def number_of(text: str) -> float | None:
    """Return the number that a text is, None where it is none."""
    try:
        return float(text)
    except ValueError:
        return None
