"""Processes that work for the tests: those of a pool, and those of a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).parents[2]


def processes_at_work(parent: psutil.Process | None = None) -> list[psutil.Process]:
    """Return the processes that make calls for another, by default this one, at work or idle."""
    found = []
    for child in (parent or psutil.Process()).children():
        with contextlib.suppress(psutil.Error):  # it has ended
            if "popen_loky_posix" in " ".join(child.cmdline()):
                found.append(child)
    return found


class DaskProcesses(NamedTuple):
    """The address of a scheduler, its process and those of its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@contextlib.contextmanager
def dask_processes(folder: Path, workers: int = 2, **environment: str) -> Iterator[DaskProcesses]:
    """Start a Dask scheduler and workers of one thread; wait until they are there."""
    from distributed import Client

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address, base = f"tcp://127.0.0.1:{port}", [sys.executable, "-m", "dask"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet |= {"cwd": folder, "env": os.environ | {"PYTHONPATH": path} | environment}
    options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    processes = [subprocess.Popen([*base, "scheduler", *options], **quiet)]
    try:
        for number in range(workers):
            options = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            options += ["--name", str(number), "--local-directory", str(folder / f"dask-{number}")]
            processes.append(subprocess.Popen([*base, "worker", *options], **quiet))
        with Client(address, timeout=120, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
        yield DaskProcesses(address, processes[0], processes[1:])
    finally:
        for process in processes:
            process.kill()
            process.wait()
