"""How far the results of two sides differ."""

from __future__ import annotations

from typing import Any

import numpy as np


def largest_difference(ours: Any, theirs: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest number in them.

    Infinite where the shapes differ or a number is not finite.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    if not a.size:
        return 0.0
    scale = max(np.abs(a).max(), np.abs(b).max(), np.finfo(float).tiny)
    return float(np.abs(a - b).max() / scale)
