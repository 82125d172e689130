"""The environment of a result: versions, commit, processor, times, threads, and which process."""

import contextlib
import os
import platform
import subprocess
import time
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

import igsd

_PACKAGES = {"torch": "torch", "numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
_PACKAGES |= {"lightning_fabric": "lightning-fabric", "rdkit": "rdkit"}


def versions() -> dict[str, str | None]:
    """Return the versions of Python, igsd and the libraries that affect results."""
    found: dict[str, str | None] = {"python": platform.python_version(), "igsd": igsd.__version__}
    for key, package in _PACKAGES.items():
        try:
            found[key] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[key] = None
    return found


def commit() -> dict[str, str | bool | None]:
    """Return ``{"id", "dirty"}`` of the package's own source; both None outside a checkout."""
    folder = Path(igsd.__file__).resolve().parent
    # In site-packages, a git folder above belongs to someone else.
    is_own = "site-packages" not in folder.parts
    revision = _git(folder, "rev-parse", "HEAD") if is_own else None
    if revision is None:
        return {"id": None, "dirty": None}
    changed = _git(folder, "status", "--porcelain", "--", ".")
    return {"id": revision, "dirty": None if changed is None else bool(changed)}


@cache
def processor() -> str:
    """Return the name of the processor, as far as the system tells, and PyTorch's instructions.

    The same seed gives other roundings with other instructions.
    """
    import torch

    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        name = next(found, name)
    return f"{name} ({torch.backends.cpu.get_cpu_capability()})"


def now() -> str:
    """Return the time in UTC, to the second, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Stopwatch:
    """The seconds of the steps of a run (``seconds``), and the processor time of all of them.

    The latter includes child processes that have ended.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._used = sum(os.times()[:4])
        self._begin = time.perf_counter()

    def lap(self, step: str) -> None:
        """Note the seconds since the last step, or since the start, as those of ``step``."""
        end = time.perf_counter()
        self.seconds[step] = round(end - self._begin, 3)
        self._begin = end

    @property
    def cpu_seconds(self) -> float:
        """The processor time since the start."""
        return round(sum(os.times()[:4]) - self._used, 3)


def num_threads() -> int:
    """Return the number of threads that torch computes with in this process."""
    import torch

    return torch.get_num_threads()


def num_processes() -> int:
    """Return the number of processes that a launcher such as torchrun started; 1 without one."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Return whether this is the first of all processes, the only one that writes files."""
    # torchrun sets RANK; Lightning Fabric's own launcher sets the other two alone.
    keys = ("RANK",) if "RANK" in os.environ else ("LOCAL_RANK", "NODE_RANK")
    return all(int(os.environ.get(key, "0")) == 0 for key in keys)


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git, or None if it is not installed or fails."""
    try:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
