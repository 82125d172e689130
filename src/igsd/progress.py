"""``progress_bar``: the progress display of everything that takes long."""

import contextlib
import sys
from collections.abc import Callable, Iterator

Advance = Callable[..., None]
"""``advance(steps, note="")`` moves a progress bar by some steps and shows a note beside it."""


@contextlib.contextmanager
def progress_bar(title: str, total: int, *, shown: bool, done: int = 0) -> Iterator[Advance]:
    """Yield ``advance(steps, note)``, which moves a bar on standard error.

    On a terminal the bar moves in place. Elsewhere (a log file, a cluster) a line is written at
    every tenth. With ``shown=False`` nothing is written.
    """
    if not shown:
        yield lambda steps, note="": None
    elif sys.stderr.isatty():
        yield from _terminal_bar(title, total, done)
    else:
        yield _line_writer(title, total, done)


def _terminal_bar(title: str, total: int, done: int) -> Iterator[Advance]:
    from rich import console, progress

    texts = ("{task.description}", "{task.completed:.0f}/{task.total:.0f}", "{task.fields[note]}")
    name, count, notes = (progress.TextColumn(text) for text in texts)
    times = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
    columns = (name, progress.BarColumn(), count, *times, notes)
    with progress.Progress(*columns, console=console.Console(stderr=True)) as bars:
        task = bars.add_task(title, total=total, completed=done, note="")
        yield lambda steps, note="": bars.update(task, advance=steps, note=note)


def _line_writer(title: str, total: int, done: int) -> Advance:
    position, tenth = done, 10 * done // max(total, 1)

    def advance(steps: int, note: str = "") -> None:
        nonlocal position, tenth
        position += steps
        if 10 * position // max(total, 1) > tenth:
            tenth = 10 * position // max(total, 1)
            print(f"{title}: {position}/{total} {note}", file=sys.stderr, flush=True)

    return advance
