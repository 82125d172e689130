"""``mean_and_std``: how a result is written in a table."""

from __future__ import annotations


def mean_and_std(mean: float, std: float | None, digits: int = 1) -> str:
    """Return both with as many decimals; per cent are such already. One seed has no deviation.

    >>> mean_and_std(90.24, 0.7)
    '90.2 ± 0.7'
    """
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")
