"""Arguments that several commands have in common, and what is checked about them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from igsd.cli.notes import say_note
from igsd.errors import ConfigError, StorageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def add_command(
    commands: Any, name: str, short: str, description: str, after: str, **others: Any
) -> argparse.ArgumentParser:
    """Return the parser of a new command, whose texts stand in lines as they are written.

    ``short``: what the list of commands says of it; ``after``: what follows its options.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=short,
        description=description,
        epilog=after,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **others,
    )
    return parser


def add_data_argument(parser: Any) -> None:
    """Add DATA."""
    parser.add_argument("data", metavar="DATA", help="data-set name or path (see igsd --help)")


def add_model_and_data(parser: argparse.ArgumentParser) -> None:
    """Add MODEL and DATA."""
    parser.add_argument("model", metavar="MODEL", help="run folder, or file written by save")
    add_data_argument(parser)


def prepare_output(output: str, *inputs: str) -> Callable[[], None]:
    """Return what to call when ``output`` is written: it says which folder was made for it.

    Raises ``StorageError`` where the output cannot be written or would overwrite what is read,
    before the work whose result it is.
    """
    from igsd.atomic_file import check_writable

    target = Path(output)
    for given in inputs:
        if target.exists() and Path(given).exists() and target.samefile(given):
            raise StorageError(f"-o {output} is the input {given}. Give another name.")
    check_writable(target)
    if target.parent.exists():
        return lambda: None
    return lambda: say_note(f"the folder {target.parent} was made.")


def names_in(text: str) -> list[str]:
    """Return the names in ``NAME,NAME,...``, without the spaces around them.

    >>> names_in("igsd, wl,")
    ['igsd', 'wl']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_time(text: str, option: str) -> float:
    """Return the seconds of a time such as ``2h``, ``1h30m`` or ``90``, which are seconds.

    ``option``: what it was given to, for the ``ConfigError`` that another text raises.
    """
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise ConfigError(f"{option} takes a time such as 30m, 2h or 1h30m. Got {text!r}.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
