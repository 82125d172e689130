"""``check_rate``: how much of a graph a random view may change."""

from __future__ import annotations

from igsd.errors import ParameterError


def check_rate(rate: float, owner: str) -> None:
    """Raise ``ConfigError`` unless a rate is in [0, 1). ``owner``: whose parameter it is."""
    if not 0 <= rate < 1:
        raise ParameterError("rate", owner, f"must be in [0, 1). Got {rate!r} instead.")
