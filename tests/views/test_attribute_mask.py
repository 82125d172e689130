from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError
from igsd.views.attribute_mask import masked_nodes


def test_the_share_hidden_is_the_rate() -> None:
    ptr = np.array([0, 20_000])
    assert not masked_nodes(ptr, np.arange(1), 0.0, seed=1).any()
    assert masked_nodes(ptr, np.arange(1), 0.3, seed=1).mean() == pytest.approx(0.3, abs=0.015)


def test_a_graph_hides_the_same_nodes_in_every_batch() -> None:
    whole = masked_nodes(np.array([0, 6, 16]), np.array([0, 1]), 0.4, 3)
    alone = masked_nodes(np.array([0, 10]), np.array([1]), 0.4, 3)
    np.testing.assert_array_equal(alone, whole[6:])
    assert (masked_nodes(np.array([0, 50]), np.array([1]), 0.4, 4)[:10] != alone).any()


def test_a_rate_out_of_range_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'rate' parameter of masked_nodes"):
        masked_nodes(np.array([0, 2]), np.arange(1), 1.0, 0)
