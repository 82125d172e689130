"""The process in which one side of a benchmark lives: built once, then run as often as asked.

A side has a process of its own, so that neither the allocator's settings nor the memory of one
side helps or hinders the other. It speaks JSON, a line for each request; what the work prints
goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO


def main(request: str) -> None:
    """Build the side that ``request`` names and run it for every line of standard input."""
    answers = _own_stdout()
    asked = json.loads(request)
    with threads(asked["threads"]):
        build = _find(asked["target"])
        started = time.process_time()
        work = build(**asked["arguments"])
        _say(answers, {"setup": time.process_time() - started, "peak": peak_mib()})
        for _ in sys.stdin:
            _say(answers, _measured(work))


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch and the BLAS libraries use so many threads inside the block."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(before)


def peak_mib() -> float:
    """Return the largest resident set of this process so far, in MiB.

    From the kernel's own mark where there is one: the peak that getrusage gives includes what the
    parent held when it started this process.
    """
    with contextlib.suppress(OSError), open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 2**10
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def _measured(work: Callable[[], Any]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    # What is heavy to turn into JSON comes as a function, called when the clock has stopped.
    result = result() if callable(result) else result
    return {"cpu": cpu, "wall": wall, "peak": peak_mib(), "result": result}


def _find(target: str) -> Callable[..., Callable[[], Any]]:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _own_stdout() -> TextIO:
    """Return standard output for answers alone; whatever else is printed goes to the errors."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _say(answers: TextIO, value: dict[str, Any]) -> None:
    print(json.dumps(value), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
