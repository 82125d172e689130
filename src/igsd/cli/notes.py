"""Python's warnings as the command line says them: ``igsd: note: ...``, each once."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from igsd.errors import IGSDError, IGSDWarning, ParameterError


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print what is warned of inside the block as notes on standard error.

    Warnings of igsd itself are always shown; those of other packages where Python would.
    """
    said: set[str] = set()

    def show(message: Warning | str, *others: Any, **more: Any) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            say_note(text)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=IGSDWarning)
        warnings.showwarning = show
        yield


def say_note(text: str) -> None:
    """Print one note on standard error."""
    print(f"igsd: note: {text}", file=sys.stderr)


def in_plain_words(error: IGSDError) -> str:
    """Return the message of an error in the words of the command line.

    The same errors are raised in Python, where ``epochs`` is a parameter of ``IGSD``; here it is a
    setting, and ``random_state`` is called ``seed``.
    """
    return error.as_setting() if isinstance(error, ParameterError) else str(error)
