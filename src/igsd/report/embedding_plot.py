"""A picture of embeddings: their two main directions, coloured by class or by number."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from igsd.atomic_file import atomic_file

# Okabe and Ito's colours, which the colour-blind can tell apart, ordered so that neighbours
# also differ in brightness; marks differ too, so that a grey print can be read.
_COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#F0E442", "#009E73", "#CC79A7")
_UNKNOWN = "#999999"
_MARKS = ("o", "^", "s", "D", "v", "P", "X", "*")
_MOST_CLASSES = 20


def save_embedding_plot(
    path: str | os.PathLike[str],
    vectors: np.ndarray,
    classes: np.ndarray | None = None,
    class_names: Sequence[Any] = (),
    title: str = "",
) -> None:
    """Write a PNG of embeddings [G, d] in their two main directions, whole or not at all.

    ``classes`` [G] are codes into ``class_names``, -1 where unknown; without them, or with more
    than 20 classes, all points look the same.
    """
    _save(path, vectors, title, lambda axes, points: _classes(axes, points, classes, class_names))


def save_number_plot(
    path: str | os.PathLike[str], vectors: np.ndarray, values: np.ndarray, name: str, title: str
) -> None:
    """Write a PNG of embeddings [G, d] coloured by ``values`` [G], NaN where unknown.

    Whole or not at all. ``name``: what the values are.
    """
    _save(path, vectors, title, lambda axes, points: _numbers(axes, points, values, name))


def _save(
    path: str | os.PathLike[str],
    vectors: np.ndarray,
    title: str,
    draw: Callable[[Any, np.ndarray], None],
) -> None:
    """Write the picture; ``draw`` puts the points [G, 2] into its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points, shares = main_directions(vectors)
    # A figure of its own, not pyplot's: no window system, no global state.
    figure = Figure(figsize=(7, 5.5), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    draw(axes, points)
    axes.set_title(title)
    axes.set_xlabel(f"first main direction ({100 * shares[0]:.0f} % of the variance)")
    axes.set_ylabel(f"second main direction ({100 * shares[1]:.0f} %)")
    with atomic_file(path) as file:
        figure.savefig(file, format="png", metadata={"Software": None})


def main_directions(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (points [G, 2], shares of the variance [2]): PCA of standardised columns."""
    values = np.asarray(vectors, np.float64)
    deviation = values.std(axis=0)
    values = (values - values.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    # The covariance is d x d however many graphs there are.
    spectrum, directions = np.linalg.eigh(values.T @ values)
    top = directions[:, ::-1][:, :2]
    # A direction has no sign of its own: the largest weight is made positive.
    top = top * np.where(np.take_along_axis(top, np.abs(top).argmax(0)[None], 0) < 0, -1.0, 1.0)
    shares = np.maximum(spectrum[::-1][:2], 0) / max(spectrum.sum(), np.finfo(float).tiny)
    missing = 2 - top.shape[1]
    return np.pad(values @ top, ((0, 0), (0, missing))), np.pad(shares, (0, missing))


def _classes(
    axes: Any, points: np.ndarray, classes: np.ndarray | None, class_names: Sequence[Any]
) -> None:
    size = _mark_size(points)
    if classes is None or len(class_names) > _MOST_CLASSES or not len(class_names):
        axes.scatter(*points.T, s=size, c=_COLOURS[0], alpha=0.7, linewidths=0)
        return
    for code in [*range(len(class_names)), -1]:
        chosen = np.asarray(classes) == code
        if chosen.any():
            name = "unknown" if code < 0 else f"class {class_names[code]}"
            axes.scatter(
                *points[chosen].T,
                s=size,
                c=_UNKNOWN if code < 0 else _COLOURS[code % len(_COLOURS)],
                marker="." if code < 0 else _MARKS[(code + code // 8) % len(_MARKS)],
                alpha=0.75,
                linewidths=0,
                label=f"{name} ({int(chosen.sum())})",
            )
    axes.legend(loc="best", fontsize="small", framealpha=0.8)


def _numbers(axes: Any, points: np.ndarray, values: np.ndarray, name: str) -> None:
    """Draw points in colours between the 2nd and the 98th hundredth, so that no outlier rules."""
    known, size = np.isfinite(values), _mark_size(points)
    if not known.all():
        unknown = points[~known].T
        axes.scatter(*unknown, s=size, c=_UNKNOWN, marker=".", alpha=0.5, linewidths=0)
    if known.any():
        low, high = np.percentile(values[known], [2, 98])
        shown = axes.scatter(
            *points[known].T, s=size, c=values[known], vmin=low, vmax=high, linewidths=0
        )
        axes.figure.colorbar(shown, ax=axes, label=name, extend="both")


def _mark_size(points: np.ndarray) -> float:
    return float(np.clip(6000 / len(points), 4, 36))
