"""``nice_ticks``: round numbers along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most ``most`` + 1 round numbers from at or below ``low`` to at or above ``high``.

    >>> nice_ticks(0.3, 9.2)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if not high > low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = _round_step((high - low) / max(most - 1, 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """Return a tick with as many digits as its axis needs."""
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=1.0)
    digits = next((d for d in range(8) if abs(step - round(step, d)) <= 1e-6 * step), 8)
    return f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"


def _round_step(rough: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is not below ``rough``."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * (1 - 1e-9))
