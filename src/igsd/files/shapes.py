"""``read_json`` and ``fault``: JSON files, and whether they are what a ``TypedDict`` describes."""

import json
import stat
import sys
import types
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from igsd.errors import StorageError
from igsd.limits import MIB

_Found = tuple[str, str] | None
"""Where a value breaks which rule, None if it breaks none."""

MAX_MIB = 32
"""The size of the largest JSON file that is read; records have less than one."""

_DEEPEST = 20
_NUMBERS: dict[Any, tuple[tuple[type, ...], float, str]] = {
    int: ((int,), 2**63 - 1, "a whole number of at most 64 bits"),
    float: ((int, float), sys.float_info.max, "a finite number"),
}
_WORDS = {str: "a text", bool: "true or false", type(None): "null"}


def read_json(path: Path, what: str, way_out: str = "") -> Any:
    """Return the content of a JSON file that should be ``what``; raises ``StorageError``.

    The error names the file and the reason, and ends in the ``way_out``. Devices and pipes, which
    may never end, and files of more than ``MAX_MIB`` are refused.
    """
    cause: Exception | None = None
    reason = "is not a regular file, as it must be"
    try:
        if stat.S_ISREG(path.stat().st_mode):
            with open(path, "rb") as file:
                content = file.read(MAX_MIB * MIB + 1)
            if len(content) <= MAX_MIB * MIB:
                return json.loads(content)
            reason = f"has more than {MAX_MIB} MiB, the most that is read"
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        reason = "is nested too deeply" if isinstance(error, RecursionError) else "is not JSON"
        reason = "has bytes that are not UTF-8" if isinstance(error, UnicodeError) else reason
        cause = error
    raise StorageError(f"{path} is not {what}: it {reason}. {way_out}".rstrip()) from cause


def fault(value: object, shape: Any, required: Collection[str] = ()) -> str | None:
    """Return what is wrong with parsed JSON that should be as ``shape`` says, None if nothing is.

    ``shape``: a ``TypedDict`` or another type of plain values. Entries that a ``TypedDict`` does
    not name may hold anything of moderate depth. ``required``: entries that must be there.

    >>> fault({"x": [1, None]}, dict[str, list[float]])
    'x[1] must be a finite number. Got null.'
    """
    if found := _checker(shape)(value, 0):
        place, rule = found
        return f"{place.removeprefix('.') or 'It'} {rule}"
    there: Any = value
    return next((f"{key} is missing." for key in required if key not in there), None)


@cache
def _checker(shape: Any) -> Callable[[Any, int], _Found]:
    """Return the function that checks a value at some depth against a shape."""
    origin, inner = get_origin(shape) or shape, get_args(shape)
    if origin in (Union, types.UnionType):
        checks = [_checker(part) for part in inner]

        def one_of(value: Any, depth: int) -> _Found:
            found = [check(value, depth) for check in checks]
            # The part that fits furthest tells most.
            return None if None in found else max(filter(None, found), key=lambda pair: pair[0])

        return one_of
    if origin in (Any, object):
        return lambda value, depth: _checker(_GENERAL.get(type(value), type(value)))(value, depth)
    if origin in (list, dict, Mapping) or is_typeddict(origin):
        return _container(origin, inner)
    if origin in _NUMBERS:
        kinds, most, words = _NUMBERS[origin]

        def number(value: Any, depth: int) -> _Found:
            is_sound = type(value) in kinds and -most <= value <= most  # neither NaN nor infinity
            return None if is_sound else _broken(words, value)

        return number
    return lambda value, depth: None if type(value) is origin else _broken(_WORDS[origin], value)


def _container(origin: Any, inner: tuple[Any, ...]) -> Callable[[Any, int], _Found]:
    kind, words = (list, "a list") if origin is list else (dict, "an object")
    checks: dict[Any, Any] = {}
    required, other = list[str](), _checker(inner[-1] if inner else Any)
    if is_typeddict(origin):
        # Annotations may be texts, of which __required_keys__ knows nothing.
        hints = get_type_hints(origin, include_extras=True)
        required = [k for k, v in hints.items() if origin.__total__ or get_origin(v) is Required]
        checks = {key: _checker(hint) for key, hint in get_type_hints(origin).items()}

    def each(value: Any, depth: int) -> _Found:
        if type(value) is not kind:
            return _broken(words, value)
        if depth > _DEEPEST:
            return "", "is nested too deeply."
        if missing := next((key for key in required if key not in value), None):
            return f".{missing}", "is missing."
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            if found := checks.get(key, other)(entry, depth + 1):
                return (f".{key}" if kind is dict else f"[{key}]") + found[0], found[1]
        return None

    return each


_GENERAL: dict[Any, Any] = {dict: dict[str, Any], list: list[Any]}


def _broken(words: str, value: Any) -> tuple[str, str]:
    text = json.dumps(value)
    return "", f"must be {words}. Got {text if len(text) <= 60 else text[:60] + '...'}."
