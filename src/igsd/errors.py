"""The exceptions that igsd raises for something the user can mend.

Every message names the thing, the rule it broke, what stood there, and the way out where there is
one. The command line prints the message alone, without a traceback, and exits with 2.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable


class IGSDError(ValueError):
    """Base of every error that igsd raises on purpose."""


class DataError(IGSDError):
    """Input graphs, labels or files that break a documented rule."""


class ConfigError(IGSDError):
    """A setting that does not exist or has a value outside its range."""


class ParameterError(ConfigError):
    """A parameter whose value breaks its rule, with the parts that its sentence is made of.

    ``owner``: whose ``parameter`` it is. ``fault`` ends the sentence: the rule, what was given
    instead, and the way out where there is one.
    """

    def __init__(self, parameter: str, owner: str, fault: str) -> None:
        super().__init__(parameter, owner, fault)
        self.parameter, self.owner, self.fault = parameter, owner, fault

    def __str__(self) -> str:
        return f"The {self.parameter!r} parameter of {self.owner} {self.fault}"

    def of_estimator(self, owner: str) -> ParameterError:
        """Return the error as the user of an estimator knows it: of ``owner``, who has no seed.

        The rules of settings are IGSD's, whoever uses them, and the seed is set as 'random_state'.
        """
        parameter = "random_state" if self.parameter == "seed" else self.parameter
        return ParameterError(parameter, owner if self.owner == "IGSD" else self.owner, self.fault)

    def as_setting(self) -> str:
        """Return the message in the words of the command line, where parameters are settings."""
        name = "seed" if self.parameter == "random_state" else self.parameter
        return f"The setting {name!r} {self.fault}"


class StorageError(IGSDError):
    """A file that cannot be read or written as what it should be."""


class TrainingError(IGSDError):
    """Training that cannot start or cannot go on."""


class GraphIndexError(DataError, IndexError):
    """An index that is not in a set of graphs."""


class IGSDWarning(UserWarning):
    """Something the user should know, although work goes on; the command line prints a note."""


_NOT_THE_USERS = ("igsd", "sklearn", "joblib", "torch", "contextlib")


def warn_user(text: str, category: type[IGSDWarning] = IGSDWarning) -> None:
    """Warn of ``text`` at the line of the user's own that led here, however deep that is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def nearest(name: str, valid: Iterable[str], *, count: int = 3) -> str:
    """Return a sentence with the valid names closest to ``name``, or all when none is close."""
    names = sorted(valid)
    return did_you_mean(name, names, count=count) or f"Valid names: {', '.join(names)}."


def did_you_mean(name: str, valid: Iterable[str], *, count: int = 3) -> str:
    """Return a question with the valid names closest to ``name``, empty when none is close."""
    by_lower = {valid_name.lower(): valid_name for valid_name in sorted(valid)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=count, cutoff=0.5)
    return f"Did you mean {' or '.join(repr(by_lower[c]) for c in close)}?" if close else ""
