"""The rules for ``y`` of a classifier: which graphs have a class, and which classes there are."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from igsd.errors import DataError, warn_user
from igsd.graphs.missing_values import is_minus_one, minus_one_is_unknown
from igsd.wording import counted, enumerated

_NO_LABEL = "Mark graphs without a label by None or NaN"


def read_classes(y: Any, num_graphs: int) -> list[Any]:
    """Return one plain value per graph: its class, or None where it has none.

    None and NaN mark graphs without a label. So does -1, but only in a ``y`` of whole numbers
    without any of those two, by the rule of ``minus_one_is_unknown``. Beside None or NaN, -1 is a
    class like any other (MUTAG's classes are -1 and 1). Whole numbers in a float array are taken as
    integers.

    Warns of -1 beside None or NaN where without those it would mark a graph without a label.
    Raises ``DataError`` for a ``y`` of another length, and for values that are no classes.
    """
    values = [_plain(value, place) for place, value in enumerate(_as_list(y, num_graphs))]
    if not any(is_minus_one(v) for v in values):
        return values
    if any(value is None for value in values):
        _warn_of_two_signs(values)
        return values
    others = [value for value in values if not is_minus_one(value)]
    if not others or (minus_one_is_unknown(values) and _holds_integers(y)):
        return [None if is_minus_one(value) else value for value in values]
    found = enumerated(sorted({str(v) for v in others})) or "nothing"
    raise DataError(
        f"y holds -1 beside {found}. -1 means 'no label' only where y is whole numbers and the "
        f"others are all >= 0 and at least two different classes. {_NO_LABEL} instead; then -1 is "
        "a class like any other. A y without gaps may name its classes by text, or be the codes "
        "0, 1, ... in the column 'classes' of a GraphSet, whose names are in its 'class_names'."
    )


def encode_classes(y: Any, num_graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes [G] int64, -1 without a label; the classes in order, [C]).

    Raises ``DataError`` for labels of no graph or of one class only, and for classes of different
    kinds. Warns of a class with a single graph: it has no other to be pulled to.
    """
    if y is None:
        raise DataError(
            "A classifier needs labels: give y, with None or NaN for graphs without one. "
            "igsd.IGSD learns without any."
        )
    values = read_classes(y, num_graphs)
    known = [value for value in values if value is not None]
    if not known:
        raise DataError(
            f"y holds no label: all of its {counted(num_graphs, 'entry', 'entries')} mark graphs "
            "without one. A classifier needs some graphs of each class; igsd.IGSD needs none."
        )
    kinds = {"text" if isinstance(value, str) else "numbers" for value in known}
    if len(kinds) > 1:
        raise DataError("The classes in y must be all text or all whole numbers. Got both.")
    classes = sorted(set(known))
    if len(classes) < 2:
        raise DataError(
            f"A classifier needs labelled graphs of at least two classes. All "
            f"{counted(len(known), 'label')} in y are {classes[0]!r}."
        )
    table = {value: code for code, value in enumerate(classes)}
    codes = np.array([-1 if v is None else table[v] for v in values], np.int64)
    _warn_of_single_graphs(codes, classes)
    return codes, np.array(classes)


def codes_of(y: Any, classes: np.ndarray, num_graphs: int) -> np.ndarray:
    """Return the codes of known classes, -1 without a label, [G] int64.

    Raises ``DataError`` for a class that was not among ``classes``.
    """
    table = {value.item(): code for code, value in enumerate(classes)}
    values = [_plain(value, place) for place, value in enumerate(_as_list(y, num_graphs))]
    if -1 not in table:  # the model has no class -1, so it can only mean a gap
        values = [None if is_minus_one(value) else value for value in values]
    unknown = sorted({str(v) for v in values if v is not None and v not in table})
    if unknown:
        raise DataError(
            f"The model does not know {counted(len(unknown), 'class', 'classes')} of y: "
            f"{enumerated(unknown)}. It was trained on {enumerated(list(classes), 20)}. Leave "
            "those graphs out, or train with labels of that class."
        )
    return np.array([-1 if v is None else table[v] for v in values], np.int64)


def _as_list(y: Any, num_graphs: int) -> list[Any]:
    """Return ``y`` as a list of single values; raises ``DataError`` for another shape or length."""
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise DataError(f"y must be a list with one label per graph. Got {type(y).__name__}.")
    array = y if isinstance(y, list | tuple) else np.asarray(y)
    if getattr(array, "ndim", 1) != 1:
        raise DataError(
            f"y must have one class per graph, shape ({num_graphs},). Got shape {array.shape}."  # type: ignore[union-attr]
        )
    if len(array) != num_graphs:
        raise DataError(
            f"There must be one label per graph, None or NaN where it is unknown. Got "
            f"{counted(len(array), 'label')} for {counted(num_graphs, 'graph')}."
        )
    return list(array)


def _plain(value: Any, place: int) -> Any:
    """Return a label as int, bool, str or None; raises ``DataError`` for anything else."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)) or _is_missing(value):
        return None
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, numbers.Real) and float(value).is_integer():
        return int(float(value))
    if isinstance(value, numbers.Real):
        raise DataError(
            f"A class must be text or a whole number. Graph {place} has {value}. For numbers to "
            "predict, use a regressor."
        )
    raise DataError(
        f"A class must be text or a whole number, or None. Graph {place} has a "
        f"{type(value).__name__}."
    )


def _is_missing(value: Any) -> bool:
    """Say whether this is pandas' own sign for a missing value."""
    return type(value).__name__ in ("NAType", "NaTType")


def _warn_of_two_signs(values: list[Any]) -> None:
    known = [value for value in values if value is not None]
    if minus_one_is_unknown(known):
        count = sum(1 for value in known if is_minus_one(value))
        warn_user(
            f"y holds -1 ({count}) beside None or NaN ({len(values) - len(known)}), so -1 is taken "
            f"as a class like {enumerated(sorted(set(known) - {-1}))}. {_NO_LABEL} only, if it is "
            "none."
        )


def _holds_integers(y: Any) -> bool:
    """Say whether ``y`` is of whole numbers as it was given: -1.0 is no sign of a gap."""
    if isinstance(y, list | tuple):
        return all(isinstance(value, numbers.Integral) for value in y)
    array = np.asarray(y)
    if array.dtype == object:
        return all(isinstance(value, numbers.Integral) for value in array)
    return array.dtype.kind in "iu"


def _warn_of_single_graphs(codes: np.ndarray, classes: list[Any]) -> None:
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    single = [classes[code] for code in np.flatnonzero(counts == 1)]
    if single:
        warn_user(
            f"{counted(len(single), 'class has', 'classes have')} a single labelled graph: "
            f"{enumerated(single)}. What such graphs have in common cannot be seen from one.",
        )
