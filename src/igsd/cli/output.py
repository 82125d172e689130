"""What commands print besides their result: notes, and progress while inputs are opened."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from igsd.baselines.registry import load_model, note_on_vectors
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import open_data
from igsd.progress import Advance, printable, progress_bar, raw


def say_note(text: str) -> None:
    """Print a note on standard error."""
    print(f"igsd: note: {printable(text)}", file=sys.stderr)


def open_model(path: str) -> Any:
    """Load a model; print a note if its columns are similarities to training graphs."""
    model = load_model(path)
    if (note := note_on_vectors(model)) is not None:
        say_note(note)
    return model


def open_graphs(data: str, *, quiet: bool = False) -> GraphSet:
    """Open DATA, showing progress on standard error where that takes long the first time."""
    with shown_opening(data, quiet=quiet) as progress:
        return open_data(data, progress=progress)


@contextlib.contextmanager
def shown_opening(data: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield a progress callback for opening DATA, or None if ``quiet``.

    A terminal shows what is being opened, since even reading a known data set can take seconds.
    """
    if quiet:
        yield None
        return
    advance: Advance | None = None
    position = 0

    def show(done: int, total: int | None) -> None:
        nonlocal advance, position
        if advance is None:  # most data sets open without a single call, and need no bar
            _clear_line()
            if not os.path.isdir(data):
                say_note(f"{data} is downloaded or read for the first time, then cached.")
            bar = progress_bar(data, total or 0, shown=total is not None)
            advance = stack.enter_context(bar)
        advance(done - position)
        position = done

    with contextlib.ExitStack() as stack:
        if sys.stderr.isatty():
            print(f"opening {printable(data)} ...", end="\r", file=raw(sys.stderr), flush=True)
            stack.callback(_clear_line)
        yield show


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=raw(sys.stderr), flush=True)
