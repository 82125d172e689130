"""``Workers``: processes of this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from igsd.errors import ConfigError


@dataclass(frozen=True)
class Workers:
    """Who runs the jobs: ``count`` processes here, or the workers of a Dask ``scheduler``."""

    count: int = 1
    scheduler: str | None = None


@contextlib.contextmanager
def backend(workers: Workers) -> Iterator[int]:
    """Let joblib use these workers inside the block; yield how many there are."""
    from joblib import parallel_config

    if workers.scheduler is None:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            yield workers.count
        return
    with _client(workers.scheduler) as client:
        count = len(_checked(client, workers.scheduler))
        with parallel_config(backend="dask", client=client):
            yield count


def num_workers(workers: Workers) -> int:
    """Return how many jobs run at a time; raises ``ConfigError`` where a cluster is not there."""
    if workers.scheduler is None:
        return workers.count
    with _client(workers.scheduler) as client:
        return len(_checked(client, workers.scheduler))


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Yield a connection to a Dask scheduler; raises ``ConfigError`` where there is none."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            'The backend dask needs the package distributed: pip install "igsd[cluster]".'
        ) from error
    try:
        client = Client(scheduler, timeout=15, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"There is no Dask scheduler at {scheduler!r}. Start one with `dask scheduler` and "
            "give the address it prints, for example tcp://10.0.0.1:8786."
        ) from error
    with client:
        yield client


def _checked(client: Any, scheduler: str) -> dict[str, int]:
    """Return the threads of each worker; raises ``ConfigError`` for workers that cannot be used."""
    threads: dict[str, int] = client.ncores()
    if not threads:
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has no workers. Start some with "
            f"`dask worker {scheduler} --nthreads 1`."
        )
    if max(threads.values()) > 1:
        raise ConfigError(
            "A Dask worker must have one thread, since runs of one process would share random "
            f"numbers: `dask worker {scheduler} --nthreads 1 --nworkers N`. Got one with "
            f"{max(threads.values())} threads."
        )
    return threads
