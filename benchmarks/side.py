"""``Side``: one side of a benchmark in a process of its own, seen from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class SideError(RuntimeError):
    """Raised when the process of a side ends before it has answered."""


@dataclass(frozen=True)
class Run:
    """One run of a side: seconds of CPU and of wall time, peak memory in MiB, and its result."""

    cpu: float
    wall: float
    peak: float
    result: Any


class Side:
    """A piece of work, ``target`` ("module:function"), built once and run as often as asked.

    The function gets ``arguments`` (plain JSON values) and returns the work: a function without
    arguments whose result is plain JSON, or a function that gives it after the clock has stopped.
    ``setup`` are the CPU seconds it took to build, ``setup_peak`` the memory in MiB by then.
    """

    def __init__(
        self,
        target: str,
        *,
        threads: int = 1,
        paths: tuple[Path, ...] = (),
        environment: Mapping[str, str] | None = None,
        **arguments: Any,
    ) -> None:
        self.target = target
        request = {"target": target, "threads": threads, "arguments": arguments}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", json.dumps(request)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(threads, paths) | dict(environment or {}),
        )
        ready = self._answer()
        self.setup: float = ready["setup"]
        self.setup_peak: float = ready["peak"]

    def run(self) -> Run:
        """Return one run of the work; raises ``SideError`` where its process has ended."""
        if self.process.stdin is None or self.process.poll() is not None:
            raise SideError(f"{self.target} is no longer running.")
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return Run(**self._answer())

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> Side:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.process.kill()
        self.close()

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            self.close()
            raise SideError(
                f"{self.target} ended with exit code {self.process.returncode} and no answer; what "
                "went wrong stands on standard error above."
            )
        return json.loads(line)


def run_once(target: str, **arguments: Any) -> Run:
    """Return a single run of a side; see ``Side`` for the arguments."""
    with Side(target, **arguments) as side:
        return side.run()


def _environment(threads: int, paths: tuple[Path, ...]) -> dict[str, str]:
    """Return the environment of a side: so many threads, no accelerator, the same packages."""
    own = [str(path) for path in (*paths, ROOT, ROOT / "src")]
    inherited = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    counts = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    return (
        os.environ
        | counts
        | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(own + inherited)}
    )
