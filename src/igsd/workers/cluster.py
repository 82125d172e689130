"""The workers of a Dask scheduler as a ``Pool``."""

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError
from typing import Any

from igsd import __version__
from igsd.errors import ConfigError, enumerated, need
from igsd.workers.pools import called
from igsd.workers.tasks import Arguments, Pool, T, WorkerLostError

# In seconds.
_LOOK_EVERY = 1.0
_LONGEST_START = 8.0  # until a scheduler listens
_LONGEST_ANSWER = 60.0  # until it answers, on a busy machine
_LONGEST_WITHOUT = 60.0  # without any worker, before the work is given up


class Cluster(Pool):
    """The workers of a Dask scheduler, which itself repeats the calls of a killed worker."""

    def __init__(self, client: Any, scheduler: str) -> None:
        self._client, self._scheduler = client, scheduler
        self.size = num_workers(client, scheduler)
        self._looked = time.monotonic()

    def submit(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """Hand a call to the scheduler."""
        call = (function, arguments, __version__)
        return self._client.submit(called, *call, pure=False)

    def wait(self, calls: Collection[Any], seconds: float | None) -> Collection[Any]:
        """Wait until a call has ended, at most ``seconds``; return the calls that have ended."""
        from distributed import TimeoutError as TooLate
        from distributed import wait

        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _LOOK_EVERY if end is None else min(max(end - time.monotonic(), 0), _LOOK_EVERY)
            with contextlib.suppress(TooLate, TimeoutError), self._client.as_current():
                done = wait(list(calls), timeout=left or 0.01, return_when="FIRST_COMPLETED").done
                return list(done)
            self._look()
            if end is not None and time.monotonic() >= end:
                return ()

    def _look(self) -> None:
        """Count the workers; raises ``ConfigError`` if there has been none for a minute."""
        if count := len(self._client.ncores()):
            self.size, self._looked = count, time.monotonic()
        elif time.monotonic() - self._looked > _LONGEST_WITHOUT:
            raise ConfigError(
                f"The Dask scheduler at {self._scheduler} has lost all its workers, and for "
                f"{_LONGEST_WITHOUT:g} seconds none came back. Start some with "
                f"`dask worker {self._scheduler} --nthreads 1`, and give the same command again."
            )

    def result(self, call: Any) -> Any:
        """Return the call itself, whose result stays with its worker until it is collected.

        Raises what the call raised, and ``WorkerLostError`` if it has killed workers.
        """
        return call if call.status == "finished" else self.collect(call)

    def collect(self, value: Any) -> Any:
        """Return the result of a call, which Dask repeats if its worker has died meanwhile."""
        from distributed import Future
        from distributed.scheduler import KilledWorker

        if not isinstance(value, Future):
            return value
        try:
            self.wait([value], None)
            return value.result()
        except KilledWorker as error:
            raise WorkerLostError(
                "One part of the work has ended several Dask workers, possibly because their "
                "memory ran out. Start workers with more memory."
            ) from error
        except (ModuleNotFoundError, RuntimeError) as error:
            # The scheduler unpickles calls, too, and wraps the error.
            missing = error.__cause__ if isinstance(error, RuntimeError) else error
            name = getattr(missing, "name", None) or ""
            if name.split(".")[0] != "igsd":
                raise
            raise ConfigError(
                f"The Dask scheduler at {self._scheduler}, or a worker of it, cannot import "
                f"{name}: install igsd {__version__} there, the version of this command."
            ) from error

    def everywhere(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return the results of a function on all workers."""
        return list(self._client.run(function, *arguments).values())

    def cancel(self, call: Any) -> None:
        """Forget a call; a worker that has begun it finishes it."""
        call.cancel()

    def share(self, value: Any) -> Any:
        """Return a value that is sent to each worker once, and again if that worker dies."""
        return self._client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


def check_address(scheduler: str) -> tuple[str, int]:
    """Return host and port of a Dask scheduler; raises ``ConfigError``. Does not connect."""
    comm = need("cluster", "distributed.comm", "The backend dask")
    try:
        host, port = comm.get_address_host_port(scheduler)
    except ValueError:
        host, port = "", 0
    if not host or not 0 < port < 2**16:
        raise ConfigError(
            "The address of a Dask scheduler must be SCHEME://HOST:PORT or HOST:PORT, as `dask "
            f"scheduler` prints it, for example tcp://10.0.0.1:8786. Got {scheduler!r}."
        )
    return host, port


@contextlib.contextmanager
def cluster(scheduler: str) -> Iterator[Cluster]:
    """Yield the workers of a Dask scheduler; raises ``ConfigError`` if they cannot be used."""
    host, port = check_address(scheduler)
    import dask
    from distributed import Client

    try:
        if not scheduler.startswith("ucx"):  # every other scheme is based on TCP
            wait_for_listener(host, port)
        client = Client(scheduler, timeout=_LONGEST_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"There is no Dask scheduler at {scheduler!r}. Start one with `dask scheduler` and "
            "give the address it prints, for example tcp://10.0.0.1:8786."
        ) from error
    # It would print a traceback for a lost connection; the error below is enough.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        try:
            yield Cluster(client, scheduler)
        except (asyncio.CancelledError, CancelledError) as error:
            raise ConfigError(
                f"The Dask scheduler at {scheduler} has ended, or cannot be reached any more. "
                "Restart it, and give the same command again: finished runs and parts of an import "
                "are kept, shards of other commands are computed again."
            ) from error


def wait_for_listener(host: str, port: int) -> None:
    """Return when the port is open; raises ``OSError`` if it is not within some seconds.

    The operating system accepts the connection, so a scheduler that is slow to answer counts.
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


def num_workers(client: Any, scheduler: str) -> int:
    """Return the number of workers; raises ``ConfigError`` if they are unusable."""
    if not (threads := client.ncores()):
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
    versions = client.get_versions(packages=["igsd"])
    found = {"the scheduler": versions["scheduler"], **versions["workers"]}
    igsd = {name: facts["packages"].get("igsd") or "none" for name, facts in found.items()}
    if others := [
        f"{name} has {version}" for name, version in igsd.items() if version != __version__
    ]:
        raise ConfigError(
            f"A Dask cluster needs igsd {__version__}, the version of this command, or results "
            f"could differ: {enumerated(others)}. Install it there."
        )
    return len(threads)
