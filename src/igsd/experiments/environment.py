"""The environment of a result: versions, commit, memory, time, and which process this is."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import igsd
from igsd.processes import peak_bytes

_PACKAGES = {
    "torch": "torch",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "lightning_fabric": "lightning-fabric",
}


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
    """Return ``{"id", "dirty"}`` of the running source; both None outside a git checkout.

    ``dirty``: whether the source of the package, not any other file, differs from the commit.
    """
    folder = Path(igsd.__file__).resolve().parent
    revision = None
    if "site-packages" not in folder.parts:  # there, a git folder above belongs to someone else
        revision = _git(folder, "rev-parse", "HEAD")
    if revision is None:
        return {"id": None, "dirty": None}
    changed = _git(folder, "status", "--porcelain", "--", ".")
    return {"id": revision, "dirty": None if changed is None else bool(changed)}


def peak_memory_mib() -> float | None:
    """Return the peak memory of this process in MiB, None if unknown."""
    return round(peak_bytes() / 2**20, 1) or None


def now() -> str:
    """Return the time in UTC, to the second, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def num_processes() -> int:
    """Return the number of processes that a launcher such as torchrun started; 1 without one."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Return whether this is the first of all processes, the only one that writes files.

    ``RANK`` is set by torchrun. Lightning Fabric's own launcher sets ``LOCAL_RANK`` and
    ``NODE_RANK`` alone.
    """
    if "RANK" in os.environ:
        return int(os.environ["RANK"]) == 0
    return all(int(os.environ.get(key, "0")) == 0 for key in ("LOCAL_RANK", "NODE_RANK"))


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git, or None if it is not installed or fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
