"""Attribute masking: some nodes hide what they are; their edges stay."""

from __future__ import annotations

import numpy as np

from igsd.views.hashed import node_uniform
from igsd.views.rate import check_rate


def masked_nodes(node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Return which nodes have their features hidden, a random share ``rate``, [n] bool.

    Whoever applies the mask puts zeros in place of hidden features. Raises ``ConfigError`` unless
    the rate is in [0, 1).
    """
    check_rate(rate, "masked_nodes")
    return node_uniform(node_ptr, graph_ids, seed) < rate
