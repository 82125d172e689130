"""Folds side by side in processes, with the same numbers for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from igsd.errors import ConfigError
from igsd.training.interrupt import deaf_children

T = TypeVar("T")


def map_folds(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int = 1
) -> list[T]:
    """Return ``[function(*a) for a in arguments]``, by ``n_jobs`` processes (-1: all cores).

    Each call runs on one BLAS thread, with one process too: how many threads share a matrix product
    changes its last digits, and a score should not depend on the machine's cores.

    Raises ConfigError if ``n_jobs`` is neither positive nor -1.
    """
    if n_jobs < 1 and n_jobs != -1:
        raise ConfigError(f"n_jobs must be a positive number, or -1 for all cores. Got {n_jobs}.")
    if n_jobs == 1:
        return [_single_threaded(function, a) for a in arguments]
    from joblib import Parallel, delayed

    work = (delayed(_single_threaded)(function, a) for a in arguments)
    with deaf_children():
        results = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator")(work)
    return list(results)


def _single_threaded(function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return function(*arguments)
