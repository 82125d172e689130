"""The rules for ``y`` of a regressor: numbers to predict, NaN where unknown, and their scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.errors import DataError, warn_user
from igsd.wording import counted, enumerated


@dataclass(frozen=True)
class TargetScale:
    """Mean and deviation of each target over the labelled graphs of training.

    ``is_single``: the user gave one number per graph and gets one back. ``names``: of the targets,
    where they have any.
    """

    mean: np.ndarray
    scale: np.ndarray
    is_single: bool
    names: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls, targets: np.ndarray, *, is_single: bool, names: tuple[str, ...] = ()
    ) -> TargetScale:
        """Return the scale of targets [G, t], NaN left out.

        A constant target has scale 0, so that its value is what is predicted, whatever is learned.
        """
        is_constant = np.nanmin(targets, axis=0) == np.nanmax(targets, axis=0)
        if is_constant.any():
            which = [str(names[i]) if names else str(i) for i in np.flatnonzero(is_constant)]
            warn_user(
                f"All known values of target {', '.join(which)} are the same: there is nothing to "
                "learn from them, and that value is predicted. Are they the right ones?",
            )
        # Mean and deviation of equal numbers may be off by rounding.
        mean = np.where(is_constant, np.nanmin(targets, axis=0), np.nanmean(targets, axis=0))
        scale = np.where(is_constant, 0.0, np.nanstd(targets, axis=0))
        return cls(mean, scale, is_single, names)

    def standardised(self, targets: np.ndarray) -> np.ndarray:
        """Return the targets with mean 0 and deviation 1, float32; constant ones are 0."""
        return ((targets - self.mean) / np.where(self.scale > 0, self.scale, 1)).astype(np.float32)

    def restored(self, outputs: np.ndarray) -> np.ndarray:
        """Return outputs [G, t] in the units of the targets; [G] where there is one per graph."""
        values = outputs.astype(np.float64) * self.scale + self.mean
        return values[:, 0] if self.is_single else values

    def to_json(self) -> dict[str, Any]:
        """Return the scale as plain values."""
        return {
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "is_single": self.is_single,
            "names": list(self.names),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TargetScale:
        """Return the scale that ``to_json`` gave."""
        mean, scale = np.array(value["mean"]), np.array(value["scale"])
        return cls(mean, scale, bool(value["is_single"]), tuple(value["names"]))


def read_targets(y: Any, num_graphs: int) -> tuple[np.ndarray, bool]:
    """Return (targets [G, t] float64, NaN where unknown; whether there is one per graph).

    ``y``: numbers [G] or [G, t], None or NaN where there is none. Raises ``DataError`` for another
    length, for what is no number, and for infinity.
    """
    if y is None:
        raise DataError(
            "A regressor needs targets: give y, with NaN where there is none. igsd.IGSD learns "
            "without any."
        )
    try:
        values = np.array(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "y must hold numbers, [graphs] or [graphs, targets], NaN or None where unknown: "
            f"{error}."
        ) from error
    if values.ndim not in (1, 2) or 0 in values.shape:
        raise DataError(
            f"y must be numbers of shape [graphs] or [graphs, targets]. Got shape {values.shape}."
        )
    if len(values) != num_graphs:
        raise DataError(
            "There must be one target, or one row of targets, per graph, NaN where unknown. Got "
            f"{len(values)} for {counted(num_graphs, 'graph')}."
        )
    is_single = values.ndim == 1
    values = values.reshape(num_graphs, -1)
    if np.isinf(values).any():
        place = int(np.argwhere(np.isinf(values))[0][0])
        raise DataError(f"Targets must be finite or NaN. Graph {place} has {values[place]}.")
    return values, is_single


def check_known(targets: np.ndarray) -> None:
    """Raise ``DataError`` unless every target is known of at least two graphs."""
    known = (~np.isnan(targets)).sum(axis=0)
    if not known.any():
        raise DataError(
            "y holds no target: all of it is NaN. A regressor needs some numbers; igsd.IGSD none."
        )
    few = [f"{column} ({known[column]})" for column in np.flatnonzero(known < 2)]
    if few:
        raise DataError(
            "Every target must be known of at least two graphs. Too few are known of target "
            f"{enumerated(few)}: leave it out, or add labels."
        )
