"""``checked_rates``: how much of each graph a random view changes."""

from __future__ import annotations

import numpy as np

from igsd.errors import ParameterError


def checked_rates(rate: float | np.ndarray, num_graphs: int, owner: str) -> np.ndarray:
    """Return the rate of each graph, [B] float64, from one number or one number a graph.

    Raises ``ConfigError`` unless every rate is in [0, 1). ``owner``: whose parameter it is.
    """
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), (num_graphs,))
    wrong = ~((rates >= 0) & (rates < 1))
    if wrong.any():
        first = float(rates[wrong][0])
        raise ParameterError("rate", owner, f"must be in [0, 1). Got {first!r} instead.")
    return rates
