from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError
from igsd.views.rates import checked_rates


def test_one_rate_or_one_a_graph() -> None:
    assert checked_rates(0.2, 3, "view").tolist() == [0.2, 0.2, 0.2]
    assert checked_rates(np.array([0.0, 0.5]), 2, "view").tolist() == [0.0, 0.5]


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan"), np.array([0.5, 1.5])])
def test_the_first_that_is_out_of_range_is_told(rate: float | np.ndarray) -> None:
    wrong = np.atleast_1d(rate)[-1]
    with pytest.raises(ConfigError, match=rf"'rate' parameter of view .*Got {wrong} instead"):
        checked_rates(rate, 2, "view")
