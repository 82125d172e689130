"""``claim``: a file beside a record says which command makes it, so that several share a folder.

Its first line names the machine and the process of the command, its second has a dot for each
process that has begun the run. It is gone when the run has ended.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from igsd.experiments.job import Job


def claim(job: Job) -> bool:
    """Take a job for this command; False where another command on this machine has it.

    What a command that is gone, or one on another machine, has left does not count: at worst a run
    is made twice, to the same record.
    """
    path = claim_path(job)
    if _owner(path) == _myself():
        return True
    if _is_alive(_owner(path)):
        return False
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(f"{_myself()}\n")
    except FileExistsError:  # another command was faster
        return False
    return True


def begin(job: Job) -> int:
    """Note that a process begins a job; return how many had begun it before."""
    path = claim_path(job)
    begun = _lines(path)[1].count(".")
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write("." if _owner(path) else "\n.")
    return begun


def release(job: Job) -> None:
    """Give a job back, whoever has it."""
    claim_path(job).unlink(missing_ok=True)


def clear_leftovers(job: Job) -> None:
    """Remove what a killed process of this command left beside the records of a job."""
    if _owner(claim_path(job)) != _myself():
        return
    for run in job.runs:
        path = job.path_of(run.seed)
        for left in path.parent.glob(f".{path.name}.*"):
            left.unlink(missing_ok=True)


def claim_path(job: Job) -> Path:
    """Return the file that stands beside the (first) record of a job while it is made."""
    path = job.path_of(job.runs[0].seed)
    return path.with_name(f".{path.name}.running")


def _lines(path: Path) -> tuple[str, str]:
    """Return owner and dots, empty where there is no such file."""
    try:
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    except OSError:
        return "", ""
    return first, rest


def _owner(path: Path) -> str:
    return _lines(path)[0]


def _myself() -> str:
    return f"{platform.node()} {os.getpid()} {_born(os.getpid())}"


def _is_alive(owner: str) -> bool:
    """Say whether a command still runs on this machine; its number may belong to another by now."""
    parts = owner.split(" ")
    if len(parts) != 3 or parts[0] != platform.node() or not parts[1].isdigit():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return _born(pid) == parts[2]


def _born(pid: int) -> str:
    """Return when a process began, as the system counts it (Linux); elsewhere always the same."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "-"
    return stat.rpartition(")")[2].split()[19]
