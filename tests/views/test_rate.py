from __future__ import annotations

import pytest

from igsd.errors import ConfigError
from igsd.views.rate import check_rate


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_out_of_range(rate: float) -> None:
    check_rate(0.0, "view")
    with pytest.raises(ConfigError, match=rf"'rate' parameter of view .*Got {rate} instead"):
        check_rate(rate, "view")
