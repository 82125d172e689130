from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.kernels.wl import WLKernel
from igsd.errors import ConfigError, IGSDError, StorageError, TrainingError
from igsd.limits import (
    LimitError,
    MemoryLimitError,
    TimeLimitError,
    check_time,
    free_memory,
    library_errors,
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


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (MemoryError(), MemoryLimitError, "Out of memory. Use a smaller batch_size"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 8 bytes\nat"),
            MemoryLimitError,
            "Out of memory .* smaller batch_size",
        ),
        (RuntimeError("CUDA out of memory."), MemoryLimitError, "smaller batch_size"),
        (ValueError("array is too big; x"), MemoryLimitError, "smaller batch_size"),
        (np.linalg.LinAlgError("Singular matrix"), TrainingError, "Singular matrix.*singular"),
        (OverflowError("int too large"), ConfigError, "too large to compute with"),
    ],
)
def test_what_a_library_cannot_compute_is_a_sentence(
    error: Exception, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text), library_errors():
        raise error


def test_other_errors_stay_as_they_are() -> None:
    for error in (RuntimeError("a bug"), ValueError("a bug"), StorageError("out of memory")):
        with pytest.raises(type(error)) as found, library_errors():
            raise error
        assert found.value is error
