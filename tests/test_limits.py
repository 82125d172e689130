from __future__ import annotations

import pytest

from igsd.baselines.kernels.wl import WLKernel
from igsd.errors import ConfigError, IGSDError
from igsd.limits import (
    LimitError,
    MemoryLimitError,
    TimeLimitError,
    check_time,
    free_memory,
    limits,
    reserve,
)
from tests.small_graphs import make_graphs


def test_memory() -> None:
    with limits(memory_gib=1.0):
        reserve(2.0**29, "a table")
        with pytest.raises(MemoryLimitError, match=r"^OMR: a table needs 2.0 GiB.*is 1.0 GiB"):
            reserve(2.0**31, "a table")


def test_without_a_limit_the_machine_is_one() -> None:
    assert free_memory() > 2**20
    reserve(2.0**20, "a table")
    with pytest.raises(MemoryLimitError, match=r"^OMR: .*free memory"):
        reserve(2.0**60, "a table")


def test_time() -> None:
    check_time("anything")
    with limits(seconds=1e-9), pytest.raises(TimeLimitError, match=r"^> limit: a sum was not done"):
        check_time("a sum")
    check_time("anything")


def test_inner_limits_leave_the_outer_ones() -> None:
    with limits(memory_gib=1.0):
        with limits(seconds=100.0), pytest.raises(MemoryLimitError):
            reserve(2.0**31, "a table")
        with limits(memory_gib=4.0):
            reserve(2.0**31, "a table")
        with pytest.raises(MemoryLimitError):
            reserve(2.0**31, "a table")


def test_the_words_of_the_table() -> None:
    assert MemoryLimitError.word == "OMR"
    assert TimeLimitError.word == "> limit"
    assert issubclass(LimitError, IGSDError)


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"memory_gib": -1.0}])
def test_wrong_limits(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="above 0"), limits(**wrong):
        pass


def test_a_kernel_leaves_what_was_there() -> None:
    graphs = make_graphs(20)
    kernel = WLKernel().fit(graphs)
    with limits(memory_gib=1e-6), pytest.raises(LimitError):
        kernel.kernel(graphs)
    assert kernel.kernel(graphs).shape == (20, 20)
