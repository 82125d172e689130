"""``open_graphs``: DATA as a command is given it, with a bar while it is first fetched or read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from igsd.cli.notes import say_note
from igsd.progress import progress_bar

if TYPE_CHECKING:
    from igsd.graphs.download import Progress
    from igsd.graphs.graphset import GraphSet


def open_graphs(data: str, labels: str | None = None, *, quiet: bool = False) -> GraphSet:
    """Return the graphs of DATA; what takes long the first time is shown on standard error.

    ``labels``: the column or file whose values become the classes, as ``train --labels`` takes it.
    """
    from igsd.graphs.label_column import with_classes
    from igsd.graphs.open_data import open_data

    with shown_opening(data, quiet=quiet) as progress:
        graphs = open_data(data, progress=progress)
    return graphs if labels is None else with_classes(graphs, data, labels)


@contextlib.contextmanager
def shown_opening(data: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield a ``progress`` for what opens DATA, None where it shall be quiet.

    A terminal says what is opened until it is, since even reading a known set can take seconds.
    """
    if quiet:
        yield None
        return
    with contextlib.ExitStack() as stack:
        if sys.stderr.isatty():
            print(f"opening {data} ...", end="\r", file=sys.stderr, flush=True)
            stack.callback(_clear_line)
        yield _FirstTime(data, stack)


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _FirstTime:
    """A ``progress`` that opens its bar when there is something to show: most data open at once."""

    def __init__(self, data: str, stack: contextlib.ExitStack) -> None:
        self._data, self._stack = data, stack
        self._advance: Any = None
        self._done = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is; ``total`` is None where a server does not say it."""
        if self._advance is None:
            _clear_line()
            say_note(f"{self._data} is fetched or read for the first time, and kept for the next.")
            bar = progress_bar(self._data, total or 0, shown=total is not None)
            self._advance = self._stack.enter_context(bar)
        self._advance(done - self._done)
        self._done = done
