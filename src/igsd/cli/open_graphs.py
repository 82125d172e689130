"""``open_graphs``: DATA as a command is given it, with a bar while it is first fetched or read."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from igsd.cli.notes import say_note
from igsd.progress import progress_bar

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet


def open_graphs(data: str, labels: str | None = None, *, quiet: bool = False) -> GraphSet:
    """Return the graphs of DATA; what takes long the first time is shown on standard error.

    ``labels``: the column or file whose values become the classes, as ``train --labels`` takes it.
    """
    from igsd.graphs.datasets import open_data
    from igsd.graphs.label_column import with_classes

    with contextlib.ExitStack() as stack:
        graphs = open_data(data, progress=None if quiet else _FirstTime(data, stack))
    return graphs if labels is None else with_classes(graphs, data, labels)


class _FirstTime:
    """A ``progress`` that opens its bar when there is something to show: most data open at once."""

    def __init__(self, data: str, stack: contextlib.ExitStack) -> None:
        self._data, self._stack = data, stack
        self._advance: Any = None
        self._done = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is; ``total`` is None where a server does not say it."""
        if self._advance is None:
            say_note(f"{self._data} is fetched or read for the first time, and kept for the next.")
            bar = progress_bar(self._data, total or 0, shown=total is not None)
            self._advance = self._stack.enter_context(bar)
        self._advance(done - self._done)
        self._done = done
