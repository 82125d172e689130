from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info

from igsd.errors import ConfigError
from igsd.evaluation.parallel import map_folds


def _threads(number):
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))
    return number, max((pool["num_threads"] for pool in threadpool_info()), default=1)


def test_order_and_single_threads():
    assert map_folds(_threads, [(3,), (1,), (2,)]) == [(3, 1), (1, 1), (2, 1)]


@pytest.mark.slow
def test_processes_give_the_same():
    assert map_folds(_threads, [(3,), (1,)], n_jobs=2) == [(3, 1), (1, 1)]


@pytest.mark.parametrize("n_jobs", [0, -2])
def test_number_of_processes(n_jobs):
    with pytest.raises(ConfigError, match="n_jobs"):
        map_folds(_threads, [], n_jobs)
