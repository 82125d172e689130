"""Validation of ``y``: which graphs have a class or a number, and how numbers are scaled."""

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np

from igsd.errors import DataError, counted, enumerated, shortened, warn_user
from igsd.evaluation.inputs import as_numbers
from igsd.files.arrays import Header
from igsd.graphs.labels import LARGEST, MARKERS, drop_missing, is_minus_one


def encode_classes(y: Any, num_graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes [G] int64, -1 without a label; the classes in order, [C]).

    Missing labels are recognised by ``igsd.graphs.labels.drop_missing``. Whole numbers in a float
    array are read as integers. Raises ``DataError`` if the length is wrong, if values are not
    classes or of different types, and if there are fewer than two classes. Warns of a class with a
    single graph.
    """
    if y is None:
        raise DataError(
            "A classifier needs labels: give y, with None or NaN for graphs without one. "
            "igsd.IGSD learns without any."
        )
    values = drop_missing(_plain_labels(y, num_graphs), "y")
    known = [value for value in values if value is not None]
    if not known:
        raise DataError(
            f"y has no label: {counted(num_graphs, 'entry', 'entries')}, all missing. A classifier "
            "needs some graphs of each class; igsd.IGSD needs no labels."
        )
    if len({isinstance(value, str) for value in known}) > 1:
        raise DataError("The classes in y must be all text or all whole numbers. Got both.")
    classes = sorted(set(known))
    if len(classes) < 2:
        raise DataError(
            "A classifier needs labelled graphs of at least two classes. All "
            f"{counted(len(known), 'label')} in y are {classes[0]!r}."
        )
    table = {value: code for code, value in enumerate(classes)}
    codes = np.array([-1 if v is None else table[v] for v in values], np.int64)
    single = [classes[i] for i in np.flatnonzero(np.bincount(codes[codes >= 0]) == 1)]
    if single:
        warn_user(
            f"{counted(len(single), 'class has', 'classes have')} a single labelled graph: "
            f"{enumerated(single)}. A model cannot learn from one graph what they have in common."
        )
    return codes, class_array(classes)


def class_array(classes: list[Any]) -> np.ndarray:
    """Return classes, whole numbers or texts, as an array.

    NumPy makes floats, which round, of whole numbers on both sides of 2^63.
    """
    array = np.array(classes)
    return np.array(classes, dtype=object) if array.dtype.kind == "f" else array


def codes_of(y: Any, classes: np.ndarray, num_graphs: int) -> np.ndarray:
    """Return the codes [G] int64 of labels, -1 if missing; ``DataError`` for an unknown class."""
    table = {value: code for code, value in enumerate(classes.tolist())}
    values = _plain_labels(y, num_graphs)
    # A marker that is not a class of the model can only mean a missing label.
    markers = {v for v in values if v == "" or is_minus_one(v) or str(v).lower() in MARKERS}
    markers -= set(table)
    values = [None if v in markers else v for v in values]
    unknown = sorted({str(v) for v in values if v is not None and v not in table})
    if unknown:
        raise DataError(
            f"The model does not know {counted(len(unknown), 'class', 'classes')} of y: "
            f"{enumerated(unknown)}. It was trained on {enumerated(list(classes), 20)}. Leave "
            "those graphs out, or train with labels of that class."
        )
    return np.array([-1 if v is None else table[v] for v in values], np.int64)


def accuracy(codes: np.ndarray, probabilities: np.ndarray, weights: Any = None) -> float:
    """Return the accuracy of the most probable classes; graphs with code -1 do not count."""
    known = codes >= 0
    if not known.any():
        raise DataError("A score needs labels, but y has none.")
    hits = (probabilities.argmax(axis=1) == codes)[known]
    return float(np.average(hits, weights=_checked_weights(weights, known)))


def _checked_weights(weights: Any, known: np.ndarray) -> np.ndarray:
    """Return the weights of the ``known`` [G] graphs; raises ``DataError`` for invalid ones."""
    if weights is None:
        return np.ones(int(known.sum()))
    try:
        values = as_numbers(weights)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must hold numbers: {error}.") from error
    if values.shape != known.shape:
        raise DataError(
            f"sample_weight must have one weight for each of the {len(known)} graphs. Got shape "
            f"{values.shape}."
        )
    values = values[known]
    if not np.isfinite(values).all() or values.min() < 0 or values.sum() == 0:
        raise DataError(
            "sample_weight must hold finite numbers >= 0, and not only zeros where y is known."
        )
    return values


def _plain_labels(y: Any, num_graphs: int) -> list[Any]:
    """Return the labels as by ``_plain``; raises ``DataError`` if shape or length are wrong."""
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise DataError(f"y must be a list with one label per graph. Got {type(y).__name__}.")
    if isinstance(y, np.ma.MaskedArray):
        y = np.ma.filled(y.astype(object), None)
    array: Any = y if isinstance(y, list | tuple) else np.asarray(y)
    if getattr(array, "ndim", 1) != 1:
        raise DataError(
            f"y must have one class per graph, shape ({num_graphs},). Got shape {array.shape}. "
            "IGSDRegressor takes several columns; of molecules it learns those of 0 and 1 as "
            "probabilities."
        )
    if len(array) != num_graphs:
        raise DataError(
            f"y must have one label per graph, None or NaN if it is unknown. Got "
            f"{counted(len(array), 'label')} for {counted(num_graphs, 'graph')}."
        )
    return [_plain(value, place) for place, value in enumerate(array)]


def _plain(value: Any, place: int) -> Any:
    """Return a label as int, bool, str or None; raises ``DataError`` for anything else."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    is_pandas_missing = type(value).__name__ in ("NAType", "NaTType")
    if value is None or is_pandas_missing or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, numbers.Real):
        if float(value).is_integer():
            return int(cast(Any, value))
        raise DataError(
            f"A class must be text or a whole number. Graph {place} has {value}. To predict "
            "numbers, use a regressor."
        )
    kind = type(value).__name__
    raise DataError(f"A class must be text, a whole number or None. Graph {place} has a {kind}.")


@dataclass(frozen=True)
class TargetScale:
    """Mean and standard deviation of each target over the labelled training graphs.

    ``is_single``: ``y`` and predictions are [G]. ``names``: of the targets, if they have any.
    """

    mean: np.ndarray
    scale: np.ndarray
    is_single: bool
    names: tuple[str, ...] = ()

    @classmethod
    def fit(cls, targets: np.ndarray, *, is_single: bool, names: tuple[str, ...] = ()) -> Self:
        """Return the scale of targets [G, t], ignoring NaN; 0 if constant, to predict the value.

        Raises ``DataError`` unless there is a name for each target, or none at all.
        """
        if len(names) not in (0, targets.shape[1]):
            raise DataError(
                f"target_names must be a list with a name for each of the {targets.shape[1]} "
                f"targets. Got {len(names)}: {enumerated(names)}."
            )
        deviation = np.nanstd(targets, axis=0)
        is_constant = np.nanmin(targets, axis=0) == np.nanmax(targets, axis=0)
        is_constant |= deviation == 0  # of numbers whose squares are too small for a float
        if is_constant.any():
            which = _listed(names, is_constant)
            warn_user(
                f"All known values of target {which} are equal, or nearly, so there is "
                "nothing to learn and one value is predicted. Is it the right column?"
            )
        # Mean and deviation of equal numbers may be off by rounding.
        mean = np.where(is_constant, np.nanmin(targets, axis=0), np.nanmean(targets, axis=0))
        scale = np.where(is_constant, 0.0, deviation)
        return cls(mean, scale, is_single, names)

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of the targets; ``value``, or ``value0`` and so on, where they have none."""
        count = len(self.mean)
        numbered = tuple(f"value{i}" for i in range(count)) if count > 1 else ("value",)
        return self.names or numbered

    def listed(self, which: np.ndarray) -> str:
        """Return the names, or else the places from 0, of the targets ``which`` [t] bool."""
        return _listed(self.names, which)

    def unscaled(self, which: np.ndarray) -> Self:
        """Return the same with the targets ``which`` [t] bool left as they are."""
        mean, scale = np.where(which, 0.0, self.mean), np.where(which, 1.0, self.scale)
        return replace(self, mean=mean, scale=scale)

    def standardised(self, targets: np.ndarray) -> np.ndarray:
        """Return the targets with mean 0 and variance 1, float32; constant ones are 0."""
        return ((targets - self.mean) / np.where(self.scale > 0, self.scale, 1)).astype(np.float32)

    def restored(self, outputs: np.ndarray) -> np.ndarray:
        """Return outputs [G, t] in the units of the targets, [G] if there is one per graph."""
        values = outputs.astype(np.float64) * self.scale + self.mean
        return values[:, 0] if self.is_single else values

    def score(self, y: Any, predicted: np.ndarray, weights: Any = None) -> float:
        """Return the mean R^2 of predicted targets [G] or [G, t]; unknown targets do not count.

        Raises ``DataError`` unless ``y`` has as many targets as the model.
        """
        from sklearn.metrics import r2_score  # slow to import, and only for scores

        targets = self.read_like(y, len(predicted))
        predicted = predicted.reshape(targets.shape)
        scores = [
            r2_score(
                targets[known, i],
                predicted[known, i],
                sample_weight=_checked_weights(weights, known),
            )
            for i, known in enumerate(~np.isnan(targets).T)
            if known.any()
        ]
        if not scores:
            raise DataError("A score needs targets, but y has none.")
        return float(np.mean(scores))

    def read_like(self, y: Any, num_graphs: int) -> np.ndarray:
        """Return the targets [G, t] of ``y``; raises ``DataError`` unless they are the model's."""
        targets, expected = read_targets(y, num_graphs)[0], len(self.mean)
        if targets.shape[1] != expected:
            found = targets.shape[1]
            raise DataError(f"The model predicts {expected} targets per graph. Got y with {found}.")
        return targets

    def to_json(self) -> Header:
        """Return the scale as plain values."""
        values = {"mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return values | {"is_single": self.is_single, "names": list(self.names)}

    @classmethod
    def from_json(cls, value: Header) -> Self:
        """Return the scale from the values of ``to_json``."""
        mean, scale = np.array(value["mean"]), np.array(value["scale"])
        return cls(mean, scale, bool(value["is_single"]), tuple(value["names"]))


def _listed(names: tuple[str, ...], which: np.ndarray) -> str:
    return ", ".join(str(names[i]) if names else str(i) for i in np.flatnonzero(which))


def target_names_of(y: Any, names: Any, count: int) -> tuple[str, ...]:
    """Return the names of the targets: those that are given, or the columns of a data frame."""
    if names is None:
        columns = [str(name) for name in getattr(y, "columns", ())]
        names = columns if len(columns) == count else ()
    return tuple(names)


def read_targets(y: Any, num_graphs: int) -> tuple[np.ndarray, bool]:
    """Return (targets [G, t] float64, NaN if unknown; whether there is one per graph).

    ``y``: numbers [G] or [G, t], None or NaN if unknown. Raises ``DataError`` if the length is
    wrong, and for values that are not numbers, infinite or beyond ``LARGEST``.
    """
    if y is None:
        raise DataError(
            "A regressor needs targets: give y, NaN where unknown. igsd.IGSD learns without any."
        )
    try:
        if isinstance(y, np.ma.MaskedArray):
            y = np.ma.filled(y.astype(np.float64), np.nan)
        values = as_numbers(y).copy()
    except (TypeError, ValueError) as error:
        raise DataError(
            "y must hold numbers, [graphs] or [graphs, targets], NaN or None where unknown"
            f"{_first_text(y) or f': {error}'}."
        ) from error
    if values.ndim not in (1, 2) or 0 in values.shape:
        shape = values.shape
        raise DataError(f"y must be numbers [graphs] or [graphs, targets]. Got shape {shape}.")
    if len(values) != num_graphs:
        raise DataError(
            "y must have one target, or one row of targets, per graph, NaN where unknown. Got "
            f"{len(values)} for {counted(num_graphs, 'graph')}."
        )
    targets = values.reshape(num_graphs, -1)
    if (is_bad := (np.abs(targets) > LARGEST).any(axis=1)).any():
        place = int(np.argmax(is_bad))
        raise DataError(
            f"Targets must be finite and at most {LARGEST:.3g} (32-bit floats), or NaN. "
            f"Graph {place} has {targets[place]}."
        )
    return targets, values.ndim == 1


def _first_text(y: Any) -> str:
    """Return which graph has the first value that is not a number, empty if none has."""
    for place, value in enumerate(y if hasattr(y, "__iter__") else ()):
        try:
            as_numbers(value)
        except (TypeError, ValueError):
            return f". Graph {place} has {shortened(repr(value))}"
    return ""


def are_binary(targets: np.ndarray) -> np.ndarray:
    """Return which of several targets hold 0 and 1 and nothing else but NaN, [t] bool.

    A single target of numbers is never one of these: such a column is read as classes.
    """
    is_zero, is_one = targets == 0, targets == 1
    has_both = is_zero.any(axis=0) & is_one.any(axis=0)
    is_binary = has_both & (is_zero | is_one | np.isnan(targets)).all(axis=0)
    return is_binary & (targets.shape[1] > 1)


def check_known(targets: np.ndarray) -> None:
    """Raise ``DataError`` unless every target is known for at least two graphs."""
    known = (~np.isnan(targets)).sum(axis=0)
    if not known.any():
        raise DataError("y has no target, only NaN. A regressor needs some; igsd.IGSD needs none.")
    few = [f"{column} ({known[column]})" for column in np.flatnonzero(known < 2)]
    if few:
        raise DataError(
            "Every target must be known for at least two graphs. Too few values for target "
            f"{enumerated(few)}: leave it out, or add labels."
        )
