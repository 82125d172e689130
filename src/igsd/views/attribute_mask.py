"""Attribute masking: some nodes hide what they are; their edges stay."""

from __future__ import annotations

import numpy as np

from igsd.views.hashed import node_uniform
from igsd.views.rates import checked_rates


def masked_nodes(
    node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float | np.ndarray, seed: int
) -> np.ndarray:
    """Return which nodes have their features hidden, a random share ``rate``, [n] bool.

    ``rate``: one number, or one for each graph [B]. Whoever applies the mask puts zeros in
    place of hidden features. Raises ``ConfigError`` unless rates are in [0, 1).
    """
    sizes = np.diff(node_ptr)
    rates = checked_rates(rate, len(sizes), "masked_nodes")
    return node_uniform(node_ptr, graph_ids, seed) < np.repeat(rates, sizes)
