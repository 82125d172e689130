"""``Workers``: processes of this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from igsd.errors import ConfigError

_LONGEST_START, _LONGEST_ANSWER = 8.0, 60.0
"""Seconds in which a scheduler must listen, and in which one on a busy machine must answer."""


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


def check_address(scheduler: str) -> tuple[str, int]:
    """Return host and port of a Dask scheduler's address; raises ``ConfigError``, connects not."""
    try:
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ConfigError(
            'The backend dask needs the package distributed: pip install "igsd[cluster]".'
        ) from error
    try:
        host, port = get_address_host_port(scheduler)
    except ValueError:
        host, port = "", 0
    if not host or not 0 < port < 2**16:
        raise ConfigError(
            "The address of a Dask scheduler must be SCHEME://HOST:PORT or HOST:PORT, as `dask "
            f"scheduler` prints it, for example tcp://10.0.0.1:8786. Got {scheduler!r}."
        )
    return host, port


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Yield a connection to a Dask scheduler; raises ``ConfigError`` where there is none."""
    host, port = check_address(scheduler)
    from distributed import Client

    try:
        if not scheduler.startswith("ucx"):  # every other scheme stands on TCP
            _wait_for_listener(host, port)
        client = Client(scheduler, timeout=_LONGEST_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"There is no Dask scheduler at {scheduler!r}. Start one with `dask scheduler` and "
            "give the address it prints, for example tcp://10.0.0.1:8786."
        ) from error
    # Of a lost connection it tells by its whole stack; one sentence below does.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            yield client
        except (asyncio.CancelledError, CancelledError) as error:
            raise ConfigError(
                f"The Dask scheduler at {scheduler} has ended, or cannot be reached any more. "
                "Finished runs have their records; start it again, and the same command goes on."
            ) from error


def _wait_for_listener(host: str, port: int) -> None:
    """Return when somebody listens; raises ``OSError`` where nobody does for some seconds.

    The system itself takes the connection, so a scheduler that is slow to answer is not missed.
    """
    end = time.monotonic() + _LONGEST_START
    while True:
        left = end - time.monotonic()
        try:
            socket.create_connection((host, port), timeout=max(left, 1.0)).close()
            return
        except OSError:
            if left <= 0:
                raise
        time.sleep(0.2)


def _checked(client: Any, scheduler: str) -> dict[str, int]:
    """Return the threads of each worker; raises ``ConfigError`` for workers that cannot be used."""
    threads: dict[str, int] = client.ncores()
    if not threads:
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has no workers. Start some with "
            f"`dask worker {scheduler} --nthreads 1`."
        )
    if len(threads) == 1:
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has one worker, and joblib would make all runs in "
            f"this process instead. Start another, `dask worker {scheduler} --nthreads 1`, or "
            "leave out --backend and --scheduler."
        )
    if max(threads.values()) > 1:
        raise ConfigError(
            "A Dask worker must have one thread, since runs of one process would share random "
            f"numbers: `dask worker {scheduler} --nthreads 1 --nworkers N`. Got one with "
            f"{max(threads.values())} threads."
        )
    return threads
