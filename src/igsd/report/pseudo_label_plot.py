"""A picture of self-training: how many pseudo-labels each round gave, and how right they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.atomic_file import atomic_file


def save_pseudo_label_plot(
    path: str | os.PathLike[str],
    rounds: Sequence[int],
    is_right: Sequence[bool | None],
    title: str = "",
) -> None:
    """Write a PNG of pseudo-labels over the rounds, whole or not at all.

    ``rounds``: the round of each pseudo-label; ``is_right``: whether it is the true class, None
    where that is not known. Bars: how many there are after each round. Line: how many per cent
    of those that can be checked are right.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    numbers, totals, shares = accumulated(rounds, is_right)
    figure = Figure(figsize=(7, 4), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.bar(numbers, totals, color="#56B4E9")
    axes.set_xlabel("round of self-training")
    axes.set_ylabel("pseudo-labels so far")
    axes.set_title(title)
    if np.isfinite(shares).any():
        _add_shares(axes.twinx(), numbers, shares)
    with atomic_file(path) as file:
        figure.savefig(file, format="png", metadata={"Software": None})


def accumulated(
    rounds: Sequence[int], is_right: Sequence[bool | None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rounds, pseudo-labels so far, share of right ones so far or NaN), [r] each."""
    when = np.asarray(rounds, np.int64)
    numbers = np.arange(1, int(when.max(initial=0)) + 1)
    known = np.array([value is not None for value in is_right], bool)
    right = np.array([bool(value) for value in is_right], bool)
    before = when[None, :] <= numbers[:, None]
    checked = (before & known).sum(axis=1)
    shares = (before & known & right).sum(axis=1) / np.where(checked > 0, checked, np.nan)
    return numbers, before.sum(axis=1), shares


def _add_shares(axes: Any, numbers: np.ndarray, shares: np.ndarray) -> None:
    axes.plot(numbers, 100 * shares, color="#D55E00", marker="o")
    axes.set_ylim(0, 105)
    axes.set_ylabel("of those, right (%)")
