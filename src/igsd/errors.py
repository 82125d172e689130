"""The exceptions that igsd raises for something the user can fix.

Every message names the thing, the rule it broke, the value received, and the way out if there is
one. The command line prints only the message, without a traceback, and exits with 2.
"""

import contextlib
import difflib
import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class IGSDError(ValueError):
    """Base of every error that igsd raises on purpose."""


class DataError(IGSDError):
    """Input graphs, labels or files that break a documented rule."""


class ConfigError(IGSDError):
    """A setting that does not exist or has a value outside its range."""


class OtherRunError(ConfigError):
    """A checkpoint that another run has left; ``difference`` says how the two differ."""

    def __init__(self, path: object, difference: str) -> None:
        super().__init__(path, difference)
        self.path, self.difference = path, difference

    def __str__(self) -> str:
        return (
            f"The checkpoint {self.path} belongs to another run: {self.difference}. Use the same "
            "settings and data to resume, or another folder to start again."
        )


class ParameterError(ConfigError):
    """A parameter whose value breaks its rule, with the parts of its message.

    ``owner``: the class or function that has the ``parameter``. ``fault``: the end of the sentence,
    with the rule, the value received, and the way out.
    """

    def __init__(self, parameter: str, owner: str, fault: str) -> None:
        super().__init__(parameter, owner, fault)
        self.parameter, self.owner, self.fault = parameter, owner, fault

    def __str__(self) -> str:
        return f"The {self.parameter!r} parameter of {self.owner} {self.fault}"

    def of_estimator(self, owner: str) -> "ParameterError":
        """Return the error in the words of an estimator, which replaces the general owner IGSD."""
        parameter = "random_state" if self.parameter == "seed" else self.parameter
        return ParameterError(parameter, owner if self.owner == "IGSD" else self.owner, self.fault)

    def as_setting(self) -> str:
        """Return the message in the words of the command line, where parameters are settings."""
        name = "seed" if self.parameter == "random_state" else self.parameter
        return f"The setting {name!r} {self.fault}"


def need(extra: str, module: str, what: str = "This") -> Any:
    """Return an optional module for the purpose ``what``; ``ConfigError`` names a missing extra."""
    package = module.split(".")[0]
    try:
        importlib.import_module(package)
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f'{what} needs {package}, which is not installed: pip install "igsd[{extra}]".'
        ) from error


class StorageError(IGSDError):
    """A file that cannot be written, or read as what it should be."""


class TrainingError(IGSDError):
    """Training that cannot start or continue."""


class GraphIndexError(DataError, IndexError):
    """An index outside a set of graphs."""


class IGSDWarning(UserWarning):
    """Something the user should know, although work continues; a note on the command line."""


_NOT_THE_USERS = ("igsd", "sklearn", "joblib", "torch", "contextlib")


def warn_user(text: str, category: type[IGSDWarning] = IGSDWarning) -> None:
    """Warn with ``text`` at the user's own line that led here, however deep the call is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


@contextlib.contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """Yield a list that gets the texts of igsd's warnings in the block, each once, at its end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IGSDWarning)
        try:
            yield texts
        finally:
            found = (each for each in caught if issubclass(each.category, IGSDWarning))
            texts += dict.fromkeys(str(each.message) for each in found)


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return a sentence with the valid names closest to ``name``, or all if none is close."""
    names = sorted(valid)
    return did_you_mean(name, names) or f"Valid names: {enumerated(names, most=100)}."


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Return a question with the valid names closest to ``name``, empty if none is close."""
    by_lower = {valid_name.lower(): valid_name for valid_name in sorted(valid)}
    close = difflib.get_close_matches(name.lower()[:200], by_lower, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(repr(by_lower[c]) for c in close)}?" if close else ""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with its noun: ``1 graph``, ``2 graphs``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def shortened(text: str, most: int = 60) -> str:
    """Return at most ``most`` characters of a text that others wrote, for a message."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def enumerated(items: Sequence[Any], most: int = 5) -> str:
    """Return the items joined by commas; after ``most`` of them only a count of the rest."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(str(item) for item in items[:most]) + more


def listed(items: Sequence[str], word: str = "and") -> str:
    """Return the items as a phrase.

    >>> listed(["a", "b", "c"], "or")
    'a, b or c'
    """
    return f" {word} ".join([", ".join(items[:-1]), *items[-1:]] if len(items) > 1 else items)
