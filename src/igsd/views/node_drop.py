"""Random node removal: each node goes with the same probability, and its edges with it."""

from __future__ import annotations

import numpy as np

from igsd.views.hashed import node_uniform
from igsd.views.rate import check_rate


def kept_nodes(node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Return which nodes stay when a random share ``rate`` is removed, [n] bool.

    At least one node of every graph stays. ``induced`` makes the view. Raises ``ConfigError``
    unless the rate is in [0, 1).
    """
    check_rate(rate, "kept_nodes")
    numbers = node_uniform(node_ptr, graph_ids, seed)
    # The node with the largest number stays whatever the rate, so that no graph is left empty.
    largest = np.repeat(np.maximum.reduceat(numbers, node_ptr[:-1]), np.diff(node_ptr))
    return (numbers >= rate) | (numbers == largest)
