"""What users bring by name: ``module:name``, or the name that an installed package offers it under.

A package offers methods, views, encoders, losses and readers of graph files by entry points, e.g.
``[project.entry-points."igsd.methods"]`` in its ``pyproject.toml``. They are looked up when a name
is not one of igsd's own, and for help texts and errors; nothing is imported before it is used.
"""

import contextlib
import hashlib
import importlib
import inspect
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from igsd.errors import (
    ConfigError,
    IGSDError,
    ParameterError,
    nearest,
    shortened,
    warn_user,
)
from igsd.limits import is_out_of_memory

KINDS = {
    "methods": "method",
    "views": "view",
    "encoders": "encoder",
    "losses": "loss",
    "readers": "reader",
}
"""What can be brought, as the entry points ``igsd.KIND``, and the word for one of each."""

PARTS = {"encoder": "encoders", "view": "views", "loss": "losses"}
"""The settings that name a part of a method, and their kinds."""

_TYPED = "IGSD_OWN_PARTS"
"""Places that the user has named on the command line; child processes inherit them."""

_OURS = ("igsd", "torch", "lightning_fabric", "torchmetrics")
_LIBRARIES = (sysconfig.get_paths()["stdlib"], "site-packages", "<frozen")
_HERE = str(Path(__file__).parents[1]) + os.sep

_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_FILE = re.compile(r"(.*[/\\])?(?P<module>[^/\\]+)\.py:(?P<path>.+)")


def is_place(name: str) -> bool:
    """Return whether a text has the form ``module:name``.

    >>> is_place("my_package.kernels:MyKernel"), is_place("wl")
    (True, False)
    """
    return _PLACE.fullmatch(name) is not None


@cache
def offered(kind: str) -> dict[str, str]:
    """Return what installed packages offer of a kind: the place ``module:name`` by its name."""
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=f"igsd.{kind}")}


def is_own(kind: str, name: Any) -> bool:
    """Return whether a name refers to a user-supplied part of this kind.

    Raises ``ConfigError`` for ``FILE.py:NAME``.
    """
    if isinstance(name, str):
        _refuse_file(kind, name)
    return isinstance(name, str) and (is_place(name) or name in offered(kind))


def offered_besides(kind: str, taken: Iterable[str]) -> dict[str, str]:
    """Return what packages offer under names that are free; warns of names that igsd has taken."""
    found, known = dict(offered(kind)), set(taken)
    for name in sorted(found.keys() & known):
        warn_user(
            f"The {KINDS[kind]} {name!r} of {found.pop(name)} is left out: igsd has one of that "
            "name. Rename it among the entry points of its package."
        )
    return found


def find(kind: str, name: str) -> Any:
    """Return the object of a kind that a name stands for, imported now.

    ``name``: ``module:name``, or a name among the entry points. A module is looked for among the
    installed packages, then in the working folder. Raises ``ConfigError`` if there is none, if it
    cannot be imported, and for a part of a method that cannot be called.
    """
    _refuse_file(kind, name)
    word, place = KINDS[kind], name if is_place(name) else offered(kind).get(name)
    if place is None:
        raise ConfigError(f"There is no {word} {name!r}. {nearest(name, offered(kind))}")
    module, _, path = place.partition(":")
    if module == "__main__":
        raise ConfigError(
            f"The {word} {name!r} is defined in the script itself, where other processes do not "
            f"find it. Put it into a file, e.g. mine.py, and name it mine:{path}."
        )
    found: Any = _imported(module, f"The {word} {name!r}")
    for part in path.split("."):
        if not hasattr(found, part):
            raise ConfigError(
                f"The {word} {name!r} does not exist: {module} has no {path!r}. "
                f"{nearest(path, _names_in(found))}"
            )
        found = getattr(found, part)
    if kind != "methods" and not callable(found):  # what a method must be, the registry says
        raise ConfigError(
            f"The {word} {name!r} must be something that can be called, such as a function. It is "
            f"{shortened(repr(found))}, of type {type(found).__name__}."
        )
    return found


def _refuse_file(kind: str, name: str) -> None:
    """Raise ``ConfigError`` for the path of a file where its module is meant."""
    if meant := _FILE.fullmatch(name):
        module, path = meant["module"], meant["path"]
        raise ConfigError(
            f"The {KINDS[kind]} {name!r} is named by its module, not by its file: write "
            f"{module}:{path}, and run igsd in the folder that holds {module}.py."
        )


def _names_in(found: Any) -> list[str]:
    """Return the public names of a module or class, without the modules it imports."""
    named = {k: v for k, v in vars(found).items() if not k.startswith("_")}
    return [key for key, value in named.items() if not inspect.ismodule(value)]


def allow(settings: Mapping[str, Any]) -> list[str]:
    """Let methods import the parts that these settings name as ``module:name``; return those.

    For settings that the user has typed, perhaps after ``METHOD.``; raises ``ConfigError`` if there
    is no such part. Other settings, such as those of a file, may come from strangers.
    """
    found = []
    for key, value in settings.items():
        kind = PARTS.get(key.rpartition(".")[2])
        if kind is not None and isinstance(value, str) and is_place(value):
            find(kind, value)
            found.append(value)
    typed = os.environ.get(_TYPED, "").split()
    if found:
        os.environ[_TYPED] = " ".join(dict.fromkeys([*typed, *found]))
    return found


def part(kind: str, name: str, given: Any, known: Iterable[str]) -> Any:
    """Return a part of a method: the one ``given``, or the one that a package offers by this name.

    None for a name that is one of igsd's, ``known``. A place ``module:name`` is imported only if
    the user has typed it (``allow``), since settings and models may come from strangers: raises
    ``ConfigError``.
    """
    if given is not None or name in known:
        return given
    if name in offered(kind) or (is_place(name) and name in os.environ.get(_TYPED, "").split()):
        return find(kind, name)
    word = KINDS[kind]
    raise ConfigError(
        f"The {word} {name!r} is your own, and only its name is known here. Give it itself: "
        f"{word}=... for a new model, load(path, {word}=...) for a saved one; on the command "
        f"line --set {word}={name}. A package can offer it under the entry points igsd.{kind}."
    )


def place_of(found: Any) -> str:
    """Return ``module:name`` of a function, a class, or of the class of another object."""
    named = found if hasattr(found, "__qualname__") else type(found)
    name = named.__qualname__.replace("<locals>.", "").replace("<lambda>", "lambda_")
    return f"{named.__module__}:{name}"


def source_checksum(found: Any) -> str:
    """Return the SHA-256 of the file that defines a class or function, empty if it has none."""
    try:
        file = inspect.getsourcefile(found) or inspect.getfile(found)
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (TypeError, OSError):  # defined in a notebook, or part of Python itself
        return ""


def _imported(module: str, subject: str) -> Any:
    """Return a module, from the working folder if it is nowhere else."""
    top, here = module.split(".")[0], os.getcwd()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        is_here = Path(here, f"{top}.py").exists() or Path(here, top).is_dir()
        if error.name != top:  # something that it needs
            raise _broken(subject, error) from error
        if not is_here or here in sys.path:
            raise ConfigError(
                f"{subject} cannot be imported: there is no module {top!r}. Install it, or run "
                f"igsd in the folder that holds {top}.py."
            ) from error
    except (Exception, SystemExit) as error:
        raise _broken(subject, error) from error
    sys.path.append(here)  # last, so that no installed module is hidden; child processes get it
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise _broken(subject, error) from error


def _broken(subject: str, error: BaseException) -> ConfigError:
    return ConfigError(f"{subject} cannot be imported: {what_was_raised(error)}.")


@contextlib.contextmanager
def called(word: str, found: Any, rule: str) -> Iterator[None]:
    """Raise ``ParameterError`` with the rule for whatever a user's own part raises in the block.

    ``word``: view, loss or encoder, the parameter that it was given by. ``rule``: what it must be,
    the rest of a sentence. ``found``: the part; None if the block does other work as well, and a
    user's own layer counts only if the error comes from one of its methods.
    """
    try:
        yield
    except IGSDError:
        raise
    except Exception as error:
        culprit = _layer_of_user(error) if found is None else found
        if culprit is None or is_out_of_memory(error):
            raise
        fault = f"{rule}. {place_of(culprit)} raised {what_was_raised(error, culprit)}."
        raise ParameterError(word, "IGSD", fault) from error


def _layer_of_user(error: BaseException) -> Any:
    """Return the outermost layer that is neither igsd's nor PyTorch's and led to an error."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        layer = frame.f_locals.get("self")
        package = type(layer).__module__.partition(".")[0]
        if hasattr(layer, "named_parameters") and package not in _OURS:
            return layer
    return None


def what_was_raised(error: BaseException, found: Any = None) -> str:
    """Return an error of code that is not igsd's, and where it was raised, for a message.

    ``found``: the function, class or layer that was called, whose definition is named if no line of
    the user's led to the error, as with a wrong number of parameters. With ``IGSD_TRACEBACK=1`` in
    the environment its traceback is printed as well.
    """
    if os.environ.get("IGSD_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exception(error)
    reason = shortened(" ".join(str(error).split()), 300)
    where = _where_raised(error, found) or _where_defined(found)
    return f"{type(error).__name__}{': ' if reason else ''}{reason}{where}"


def _where_raised(error: BaseException, found: Any) -> str:
    """Return `` (FILE, line N)`` of the last line of the user's, or of the package of ``found``."""
    package = str(getattr(found, "__module__", None) or "").partition(".")[0]
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        top = frame.f_globals.get("__name__", "").partition(".")[0]
        if top != "igsd" and (top == package or _is_users(frame.f_code.co_filename)):
            return f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return ""


def _where_defined(found: Any) -> str:
    """Return `` (FILE, line N)`` of the definition of the user's function, class or layer."""
    if not (inspect.isroutine(found) or inspect.isclass(found)):
        kind = type(found)
        found = kind.forward if hasattr(kind, "forward") else vars(kind).get("__call__")
    try:
        file, line = inspect.getfile(found), inspect.getsourcelines(found)[1]
    except (TypeError, OSError):  # not written in Python, or in a notebook that is gone
        return ""
    return f" ({Path(file).name}, line {line})" if _is_users(file) else ""


def _is_users(file: str) -> bool:
    """Return whether a file of code is neither igsd's nor that of a library."""
    return not file.startswith(_HERE) and not any(place in file for place in _LIBRARIES)
