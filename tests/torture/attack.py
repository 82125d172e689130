"""What every attack shares: its size, its folder, processes that may die, and the table."""

from __future__ import annotations

import contextlib
import io
import itertools
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

ROOT = Path(__file__).parents[2]
MEMORY = 2 * 2**30
SECONDS = 60.0
SIZES = ("short", "usual", "all")
_LONGEST = 900.0
_MODULES = ["igsd.cli.train", "igsd.cli.embed", "igsd.cli.data", "igsd.cli.report"]
_MODULES += ["igsd.cli.compare", "igsd.cli.reproduce", "igsd.cli.tune", "tests.torture.warm"]


@dataclass
class Row:
    """One kind of attack: how often it was ``tried``, and a sentence per failure."""

    name: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    skipped: str = ""

    def count(self, fault: str | None, what: object = "") -> None:
        """Count an attempt; ``fault``: what was wrong, None if nothing was."""
        self.tried += 1
        if fault is not None:
            self.failures.append(f"{what}: {fault}" if what != "" else fault)

    def to_json(self) -> dict[str, Any]:
        """Return what a record keeps."""
        failed = {"tried": self.tried, "failed": len(self.failures)}
        return {"name": self.name, **failed, "skipped": self.skipped}


@dataclass
class Attack:
    """The size of an attack, the folder it may use, and where its random choices begin."""

    folder: Path
    size: str = "usual"
    seed: int = 0

    def amount(self, short: int, usual: int, everything: int | None = None) -> int:
        """Return how often something is tried in an attack of this size."""
        return {"short": short, "usual": usual, "all": everything or usual}[self.size]

    def rng(self, name: str) -> np.random.Generator:
        """Return the generator of one row, which does not depend on the other rows."""
        return np.random.default_rng([self.seed, *name.encode()])

    def place(self, name: str) -> Path:
        """Return an empty folder."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a process of the attack: its own cache, one thread, no data."""
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        "IGSD_CACHE": str(folder / "cache"),
        "IGSD_DATA": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def _context() -> Any:
    """Return the context of processes that are forked from one that has imported everything."""
    os.environ |= {
        k: v for k, v in environment(ROOT).items() if k in ("OMP_NUM_THREADS", "PYTHONPATH")
    }
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_MODULES)
    return context


CONTEXT = _context()


# Commands in this process


def command(*arguments: object) -> tuple[int, str, str]:
    """Return (exit code, output, errors) of the command line in this process."""
    from igsd.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse's own
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def fault_of(
    arguments: Sequence[object], *, codes: Iterable[int] = (0, 1, 2), may_need_memory: bool = False
) -> str | None:
    """Return what is wrong with how a command ends: it must succeed, or end in a sentence."""
    code, out, err = command(*arguments)
    shown = err.strip()[-300:]
    if code not in codes:
        return f"exit code {code}: {shown}"
    if "Traceback" in out + err:
        return f"a traceback: {shown}"
    if code == 2 and not shown:
        return "exit code 2 without a sentence"
    if not may_need_memory and "out of memory" in err.lower():
        return f"needs more than {MEMORY / 2**30:.0f} GiB: {shown}"
    return None


def fault_of_error(error: BaseException) -> str | None:
    """Return a fault unless the error is one of igsd, which is a sentence."""
    from igsd.errors import IGSDError

    if isinstance(error, IGSDError):
        return None
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "igsd" in f.filename]
    return f"{type(error).__name__} at {' '.join(own[-2:])}: {str(error)[:200]}"


# A process that runs many jobs, and may die of one


class Batch:
    """Runs jobs in one process under a limit of memory and time; starts another if one ends it.

    A job is a function that can be imported, and its arguments. It returns None or its fault. Its
    ``seconds`` are those of the processor, so that a busy machine makes no failures; ``patience``:
    seconds on the clock, for jobs that wait.
    """

    def __init__(
        self,
        folder: Path,
        *,
        memory: int = MEMORY,
        seconds: float = SECONDS,
        patience: float = 10 * SECONDS,
    ) -> None:
        self.folder, self.memory = folder, memory
        self.seconds, self.patience = seconds, patience
        self._process: Any = None

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def run(self, function: Callable[..., str | None], *arguments: Any) -> str | None:
        """Return the fault of one job, None without one."""
        if self._process is None:
            self._start()
        start, used = time.monotonic(), _processor_seconds(self._process.pid)
        self._pipe.send((function, arguments))
        while not self._pipe.poll(0.5):
            spent = _processor_seconds(self._process.pid) - used
            if spent > self.seconds or time.monotonic() - start > self.patience:
                self._end()
                return f"not done after {min(self.seconds, self.patience):.0f} s"
        try:
            return self._pipe.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self._end()
            return f"the process died ({_name_of(code)})"

    def _start(self) -> None:
        self._pipe, other = CONTEXT.Pipe()
        arguments = (other, self.memory, str(self.folder), environment(self.folder))
        self._process = CONTEXT.Process(target=_serve, args=arguments)
        self._process.start()
        other.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Any, memory: int, folder: str, variables: Mapping[str, str]) -> None:
    """Run jobs until the other end of the pipe is closed."""
    os.environ |= variables
    os.chdir(folder)
    _silence(os.devnull)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
    with contextlib.suppress(EOFError):
        while True:
            function, arguments = pipe.recv()
            try:
                fault = function(*arguments)
            except BaseException as error:
                fault = fault_of_error(error) or f"an error of igsd: {error}"
            pipe.send(fault)


def _silence(path: str) -> None:
    """Send what this process prints to a file, also what libraries print."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(handle, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))


def _processor_seconds(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _name_of(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


# Commands in processes of their own, which may be killed


@dataclass(frozen=True)
class Death:
    """Where a process kills itself: at the ``nth`` time that it writes a file ``name``.

    ``moment``: ``writing`` (half of it is written), ``renaming`` or ``renamed``.
    """

    name: str
    nth: int
    moment: str

    def arrange(self) -> None:
        """Make this process kill itself there."""
        seen, fsync, rename = itertools.count(1), os.fsync, os.replace

        def is_it(path: str) -> bool:
            return self.name in Path(path).name and next(seen) == self.nth

        def new_fsync(handle: int) -> None:
            path = os.readlink(f"/proc/self/fd/{handle}")
            if self.moment == "writing" and is_it(path):
                os.ftruncate(handle, os.fstat(handle).st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)
            fsync(handle)

        def new_replace(source: str, target: str) -> None:
            is_here = self.moment != "writing" and is_it(str(target))
            if is_here and self.moment == "renaming":
                os.kill(os.getpid(), signal.SIGKILL)
            rename(source, target)
            if is_here:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync, os.replace = new_fsync, new_replace  # type: ignore[assignment]


class Command:
    """A command line in a process of its own, forked from one that has imported igsd."""

    def __init__(
        self,
        folder: Path,
        *arguments: object,
        death: Death | None = None,
        cache: Path | None = None,
    ) -> None:
        self.folder, self.arguments = folder, [str(argument) for argument in arguments]
        self.output = folder / f".output-{time.monotonic_ns()}"
        variables = environment(cache or folder)
        work = (self.arguments, str(folder), str(self.output), variables, death)
        self.process = CONTEXT.Process(target=_run, args=work)
        self.process.start()

    def wait(self, seconds: float = _LONGEST) -> int:
        """Return the exit code, negative for a signal; kills a process that takes too long."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.kill()
            return 124
        return self.process.exitcode

    def kill(self) -> None:
        """Kill the process with -9."""
        self.process.kill()
        self.process.join()

    def text(self) -> str:
        """Return what was printed."""
        return self.output.read_text() if self.output.exists() else ""

    def fault(self, codes: Iterable[int] = (0,)) -> str | None:
        """Wait, and return what is wrong with how it ended."""
        code, text = self.wait(), self.text()
        if code not in codes or "Traceback" in text:
            return f"{self.arguments[0]} ended with {code}: {text.strip()[-300:]}"
        return None


def _run(
    arguments: list[str],
    folder: str,
    output: str,
    variables: Mapping[str, str],
    death: Death | None,
) -> None:
    from igsd.cli.main import main

    os.environ |= variables
    os.chdir(folder)
    _silence(output)
    if death is not None:
        death.arrange()
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fresh_command(folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a command in a new interpreter, as a shell would."""
    return subprocess.Popen(
        [sys.executable, "-m", "igsd", *map(str, arguments)],
        cwd=folder,
        env=os.environ | environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run_rows(
    attack: Attack, modules: Mapping[str, Callable[[Attack], Iterator[Row]]]
) -> Iterator[Row]:
    """Yield the rows of modules; an attack that fails itself is a failure of its row."""
    for name, rows in modules.items():
        try:
            yield from rows(attack)
        except Exception as error:
            text = "".join(traceback.format_exception(error)[-3:])
            yield Row(name, 1, [f"the attack itself failed: {text}"])
