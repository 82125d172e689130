"""The exceptions that igsd raises for something the user can mend.

Every message names the thing, the rule it broke, what stood there, and the way out where there is
one. The command line prints the message alone, without a traceback, and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class IGSDError(ValueError):
    """Base of every error that igsd raises on purpose."""


class DataError(IGSDError):
    """Input graphs, labels or files that break a documented rule."""


class ConfigError(IGSDError):
    """A setting that does not exist or has a value outside its range."""


class StorageError(IGSDError):
    """A file that cannot be read or written as what it should be."""


class TrainingError(IGSDError):
    """Training that cannot start or cannot go on."""


class GraphIndexError(DataError, IndexError):
    """An index that is not in a set of graphs."""


class IGSDWarning(UserWarning):
    """Something the user should know, although work goes on; the command line prints a note."""


def nearest(name: str, valid: Iterable[str], *, count: int = 3) -> str:
    """Return a sentence with the valid names closest to ``name``, or all when none is close."""
    names = sorted(valid)
    close = difflib.get_close_matches(name, names, n=count, cutoff=0.5)
    if close:
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "Valid names: " + ", ".join(names) + "."
