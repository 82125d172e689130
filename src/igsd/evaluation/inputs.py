"""Checks of what is evaluated: a model, features or a kernel, class codes, twin groups."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from igsd.errors import ConfigError, DataError, counted, enumerated

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SMALLEST_CLASS = 3
"""Graphs that a class needs: with fewer, a training part cannot be divided again."""

_MISSING = ("NAType", "NaTType")
"""Types of what pandas has in place of a missing value."""

_LARGEST = 1e150
"""Sums of squares of larger numbers may be infinite."""


def fitted_model(model: Any) -> Any:
    """Return a model that embeds graphs, loaded if its name, path or URL is given; None stays None.

    Raises ``ConfigError`` for an object without ``transform``, and ``StorageError`` as
    ``igsd.load_model`` does.
    """
    if isinstance(model, str | os.PathLike):
        import igsd  # the top of the package, which opens the models of every method

        model = igsd.load_model(model)
    if model is not None and (isinstance(model, type) or not hasattr(model, "transform")):
        is_class = isinstance(model, type)
        got = f"the class {model.__name__}" if is_class else f"a {type(model).__name__}"
        raise ConfigError(
            "The model must be a fitted estimator with a transform method, or the path of one that "
            f"was saved. Got {got}."
        )
    return model


def vectors_by(data: Any, model: Any) -> FloatArray:
    """Return the vectors [G, d] of ``data``, by a model if there is one; ``DataError`` as below."""
    if model is None and hasattr(data, "transform"):
        raise ConfigError(
            f"The first argument is a {type(data).__name__}, which has no graphs. Pass the graphs, "
            "and the fitted model as model=..."
        )
    return check_features(data if model is None else model.transform(data), "vectors")


def as_numbers(values: Any) -> FloatArray:
    """Return values as a C-ordered float64 array.

    Raises ``TypeError`` or ``ValueError`` for anything but real numbers, also where NumPy would
    count dates in some unit, drop imaginary parts, use what a mask hides, or find a whole number
    too large.
    """
    if np.ma.is_masked(values):
        raise ValueError("a masked entry has no value")
    if hasattr(values, "detach"):  # a tensor of PyTorch, perhaps with a gradient
        values = values.detach().cpu()
    array = np.asarray(values)
    if array.dtype == object:  # missing values of pandas
        flat = [np.nan if type(v).__name__ in _MISSING else v for v in array.reshape(-1)]
        array = np.array([*flat, None], object)[:-1].reshape(array.shape)
    if array.dtype.kind in "cmM":
        raise TypeError(f"got {array.dtype}")
    try:
        return np.asarray(array, dtype=np.float64, order="C")
    except OverflowError as error:
        raise ValueError(str(error)) from error


def check_features(X: Any, what: str = "features X") -> FloatArray:
    """Return the features as a C-ordered float64 array [n, d]; ``what``: their name in messages.

    Raises ``DataError`` if X is not a table of numbers, is empty, or holds NaN, infinity or numbers
    whose squares are infinite.
    """
    try:
        array = as_numbers(X)
    except (TypeError, ValueError) as error:
        raise DataError(f"The {what} must be numbers [graphs, features]: {error}.") from error
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"The {what} must be a table [graphs, features] with at least one row and one "
            f"column. Got shape {array.shape}."
        )
    bad = ~(np.abs(array) <= _LARGEST)  # true of NaN
    if bad.any():
        row, column = np.argwhere(bad)[0]
        rule = "finite" if not np.isfinite(array[row, column]) else f"at most {_LARGEST:g} in size"
        raise DataError(
            f"The {what} must be {rule}. Row {row}, column {column} (counted from 0) is "
            f"{array[row, column]}; {bad.any(axis=1).sum()} of {len(array)} rows have such a value."
        )
    return array


def check_kernel(K: Any) -> FloatArray:
    """Return a kernel as float64 [n, n]; ``DataError`` unless it is square, symmetric, finite."""
    array = check_features(K, "kernel K")
    if array.shape[0] != array.shape[1]:
        raise DataError(f"A precomputed kernel must be square [n, n]. Got shape {array.shape}.")
    if not np.allclose(array, array.T, rtol=1e-6, atol=1e-9 * float(np.abs(array).max())):
        raise DataError("A precomputed kernel must be symmetric. K and its transpose differ.")
    return array


def check_codes(
    y: Any, num_graphs: int | None = None, names: Sequence[Any] = (), *, gaps: bool = False
) -> IntArray:
    """Return the class codes as int64 [n]; ``names``: the names of the classes for messages.

    ``gaps``: allow graphs of unknown class (code -1). Raises ``DataError`` for an unknown class
    otherwise, if the number of codes is not ``num_graphs``, if all graphs are of one class, and if
    a class has fewer than ``SMALLEST_CLASS`` members.
    """
    codes = np.asarray(y)
    if codes.ndim != 1 or not np.issubdtype(codes.dtype, np.integer):
        raise DataError(
            "Class codes y must be a list of integers, one for each graph. "
            f"Got shape {codes.shape} of {codes.dtype}."
        )
    if num_graphs is not None and len(codes) != num_graphs:
        raise DataError(
            "There must be one class code for each graph. "
            f"Got {counted(len(codes), 'code')} for {counted(num_graphs, 'graph')}."
        )
    missing = np.flatnonzero(codes < 0)
    if missing.size and not gaps:
        raise DataError(
            f"A score needs the class of every graph, and {missing.size} of {len(codes)} have "
            f"none (the first is graph {missing[0]}). Leave those graphs out, or score methods "
            "that learn from few labels with protocol semi, which trains on them as graphs "
            "without a label."
        )
    classes, counts = np.unique(codes[codes >= 0], return_counts=True)
    if not len(classes):
        raise DataError("A score needs at least two classes. No graph has a known class.")
    shown = [repr(names[code]) if code < len(names) else str(code) for code in classes]
    if len(classes) < 2:
        raise DataError(
            f"A score needs at least two classes. All {counts[0]} graphs have the same label, "
            f"{shown[0]}."
        )
    pairs = zip(shown, counts, strict=True)
    small = [f"{name} has {count}" for name, count in pairs if count < SMALLEST_CLASS]
    if small:
        raise DataError(
            f"For a score every class needs at least {SMALLEST_CLASS} graphs: one to test on and, "
            f"in the training part, one to fit and one to choose C by. Class {enumerated(small)}. "
            "Leave the graphs of such a class out, or merge it with another."
        )
    return codes.astype(np.int64)


def check_groups(groups: Any, num_graphs: int) -> IntArray:
    """Return the twin groups as int64 [n]; raises ``DataError`` unless one integer per graph."""
    array = np.asarray(groups)
    if array.shape != (num_graphs,) or not np.issubdtype(array.dtype, np.integer):
        raise DataError(
            f"Twin groups must be {num_graphs} integers, one for each graph. "
            f"Got shape {array.shape} of {array.dtype}."
        )
    return array.astype(np.int64)
