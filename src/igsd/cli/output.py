"""What commands print besides their result: notes, and progress while inputs are opened."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from igsd.errors import IGSDError, IGSDWarning, ParameterError
from igsd.progress import progress_bar

if TYPE_CHECKING:
    from igsd.graphs.download import Progress
    from igsd.graphs.graphset import GraphSet


def say_note(text: str) -> None:
    """Print a note on standard error."""
    print(f"igsd: note: {text}", file=sys.stderr)


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings raised inside the block as notes, each text once.

    Warnings of igsd itself are always shown; those of other packages where Python would. Of
    several processes that train together, only the first prints.
    """
    shown: set[str] = set()

    def show(message: Warning | str, *args: Any, **kwargs: Any) -> None:
        from igsd.experiments.environment import is_main_process

        text = str(message)
        if text not in shown and is_main_process():
            shown.add(text)
            say_note(text)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=IGSDWarning)
        warnings.showwarning = show
        yield


def in_plain_words(error: IGSDError) -> str:
    """Return the message of an error in the words of the command line.

    In Python, ``epochs`` is a parameter of ``IGSD``; here it is a setting, and ``random_state`` is
    called ``seed``.
    """
    return error.as_setting() if isinstance(error, ParameterError) else str(error)


def open_model(path: str) -> Any:
    """Load a model for its vectors, with a note if they are not vectors of its own."""
    from igsd.baselines.registry import load_model, note_on_vectors

    model = load_model(path)
    if (note := note_on_vectors(model)) is not None:
        say_note(note)
    return model


def open_graphs(data: str, labels: str | None = None, *, quiet: bool = False) -> GraphSet:
    """Open DATA, showing progress on standard error where that takes long the first time.

    ``labels``: the column or file whose values become the classes, as in ``train --labels``.
    """
    from igsd.graphs.label_source import with_classes
    from igsd.graphs.open import open_data

    with shown_opening(data, quiet=quiet) as progress:
        graphs = open_data(data, progress=progress)
    return graphs if labels is None else with_classes(graphs, data, labels)


@contextlib.contextmanager
def shown_opening(data: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield a progress callback for opening DATA, or None if ``quiet``.

    A terminal shows what is being opened, since even reading a known data set can take seconds.
    """
    if quiet:
        yield None
        return
    with contextlib.ExitStack() as stack:
        if sys.stderr.isatty():
            print(f"opening {data} ...", end="\r", file=sys.stderr, flush=True)
            stack.callback(_clear_line)
        yield _OpeningProgress(data, stack)


class _OpeningProgress:
    """A progress callback that creates its bar on the first call: most data sets never call it."""

    def __init__(self, data: str, stack: contextlib.ExitStack) -> None:
        self._data, self._stack = data, stack
        self._advance: Any = None
        self._done = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show the progress; ``total`` is None if a server does not report a size."""
        if self._advance is None:
            _clear_line()
            say_note(f"{self._data} is downloaded or read for the first time, then cached.")
            bar = progress_bar(self._data, total or 0, shown=total is not None)
            self._advance = self._stack.enter_context(bar)
        self._advance(done - self._done)
        self._done = done


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
