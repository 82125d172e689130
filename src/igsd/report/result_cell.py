"""How a result is written in a table."""

from __future__ import annotations


def mean_and_std(mean: float, std: float | None, digits: int = 1) -> str:
    """Return both with as many decimals; per cent are such already. One seed has no deviation.

    >>> mean_and_std(90.24, 0.7)
    '90.2 ± 0.7'
    """
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def per_cent(share: float | None) -> str:
    """Return a share in per cent, a dash where there is none.

    >>> per_cent(0.9024), per_cent(None)
    ('90.2', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}"
