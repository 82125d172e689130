"""What users see while a command runs: progress bars, and streams that cannot break the work."""

import contextlib
import errno
import html
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

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
    elif _is_notebook():
        yield from _notebook_bar(title, total, done)
    elif sys.stderr.isatty():
        yield from _terminal_bar(title, total, done)
    else:
        yield _line_writer(title, total, done)


def _terminal_bar(title: str, total: int, done: int) -> Iterator[Advance]:
    from rich import console, markup, progress

    texts = ("{task.description}", "{task.completed:.0f}/{task.total:.0f}", "{task.fields[note]}")
    name, count, notes = (progress.TextColumn(text) for text in texts)
    times = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
    columns = (name, progress.BarColumn(), count, *times, notes)
    title = markup.escape(printable(title))
    with progress.Progress(*columns, console=console.Console(file=raw(sys.stderr))) as bars:
        task = bars.add_task(title, total=total, completed=done, note="")
        yield lambda steps, note="": bars.update(task, advance=steps, note=note)


def _is_notebook() -> bool:
    """Return whether a Jupyter kernel runs this, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _notebook_bar(title: str, total: int, done: int) -> Iterator[Advance]:
    """Yield ``advance`` for a bar in the output of a cell, redrawn at most five times a second."""
    from IPython.display import HTML, display

    position, last, words = done, time.monotonic(), ""

    def shown() -> Any:
        count = f"{position:,}/{total:,} {words}".strip()
        bar = f'<progress value="{position}" max="{max(total, 1)}"></progress>'
        return HTML(f"{html.escape(printable(title))} {bar} {html.escape(printable(count))}")

    handle = display(shown(), display_id=True)

    def advance(steps: int, note: str = "") -> None:
        nonlocal position, last, words
        position, words = position + steps, note
        if time.monotonic() - last > 0.2:
            last = time.monotonic()
            handle.update(shown())

    try:
        yield advance
    finally:
        handle.update(shown())


def _line_writer(title: str, total: int, done: int) -> Advance:
    position, tenth = done, 10 * done // max(total, 1)

    def advance(steps: int, note: str = "") -> None:
        nonlocal position, tenth
        position += steps
        if 10 * position // max(total, 1) > tenth:
            tenth = 10 * position // max(total, 1)
            print(f"{title}: {position}/{total} {note}", file=sys.stderr, flush=True)

    return advance


# Controls but tab and newline, marks that change the direction of writing, and lone surrogates.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


_UNDECODED = re.compile(r"[\udc80-\udcff]+")


def readable_name(name: str) -> str:
    r"""Return the name of a file as text: UTF-8 in any locale, bytes that are not as ``\xff``.

    Python holds bytes that its locale does not know as lone surrogates, which no file can hold.

    >>> readable_name("caf\udcc3\udca9 \udcff.gml")
    'café \\xff.gml'
    """

    def decoded(found: re.Match[str]) -> str:
        return found[0].encode(errors="surrogateescape").decode(errors="backslashreplace")

    return _UNDECODED.sub(decoded, name)


def printable(text: str) -> str:
    r"""Return text with control characters escaped, as ids of a foreign table may hold them.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], readable_name(text))


class Steady:
    """A text stream whose failed writes do not abort the command.

    Control characters are escaped (a pipe may end at a terminal), and what the encoding lacks. What
    cannot be written, e.g. to a full disk, is dropped, and the error kept as ``lost``. With
    ``is_read``, a reader that stops reading (`head`) still raises ``BrokenPipeError``.
    """

    def __init__(self, stream: Any, *, is_read: bool, is_closed: bool = False) -> None:
        self.stream, self.is_read, self.is_closed = stream, is_read, is_closed
        self.lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write ``text``, escaped where needed."""
        with self._kept_going():
            if self.is_closed and text:
                raise OSError(errno.EBADF, "it is closed")
            shown = printable(text)
            try:
                self.stream.write(shown)
            except UnicodeEncodeError as error:
                codec = error.encoding
                self.stream.write(shown.encode(codec, "backslashreplace").decode(codec))
        return len(text)

    def flush(self) -> None:
        """Write what is still held back."""
        with self._kept_going():
            self.stream.flush()

    @contextlib.contextmanager
    def _kept_going(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self.is_read and isinstance(error, BrokenPipeError):
                raise
            self.lost = error


def html_facts(title: str, facts: Mapping[str, str]) -> str:
    """Return a small table as HTML for notebooks, everything escaped; empty facts are left out.

    >>> html_facts("a < b", {"graphs": "3", "note": ""})
    '<table><caption>a &lt; b</caption><tr><th>graphs</th><td>3</td></tr></table>'
    """
    rows = (
        f"<tr><th>{html.escape(printable(key))}</th><td>{html.escape(printable(text))}</td></tr>"
        for key, text in facts.items()
        if text
    )
    return f"<table><caption>{html.escape(printable(title))}</caption>{''.join(rows)}</table>"


def abridged(names: Sequence[object], most: int = 8) -> str:
    """Return names joined by commas, the first of many with how many there are.

    >>> abridged(["C", "N", "O"], most=2)
    'C, N, ... (3)'
    """
    shown = ", ".join(str(name)[:40] for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names):,})"


def raw(stream: Any) -> Any:
    """Return the stream below one of ``steady_streams``, for control sequences of our own."""
    return stream.stream if isinstance(stream, Steady) else stream


@contextlib.contextmanager
def steady_streams() -> Iterator[Steady]:
    """Make standard output and error ``Steady`` in the block; yields the former.

    A stream that was closed becomes the null device; otherwise the next file to be opened would get
    its number, and what a library prints would end up in that file.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(null, True)
        os.close(null)
    out, err = (
        Steady(s or open(os.devnull, "w"), is_read=s is sys.stdout, is_closed=s is None)  # noqa: SIM115
        for s in (sys.stdout, sys.stderr)
    )
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out
