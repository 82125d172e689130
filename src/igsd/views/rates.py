"""``checked_rates``: how much of each graph a random view changes."""

from __future__ import annotations

import numpy as np

from igsd.errors import ConfigError


def checked_rates(rate: float | np.ndarray, num_graphs: int, owner: str) -> np.ndarray:
    """Return the rate of each graph, [B] float64, from one number or one number a graph.

    Raises ``ConfigError`` unless every rate is in [0, 1). ``owner``: whose parameter it is.
    """
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), (num_graphs,))
    wrong = ~((rates >= 0) & (rates < 1))
    if wrong.any():
        raise ConfigError(
            f"The 'rate' parameter of {owner} must be in [0, 1). "
            f"Got {float(rates[wrong][0])!r} instead."
        )
    return rates
