"""Arguments that several commands have in common, and what is checked about them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from igsd.cli.notes import say_note
from igsd.errors import StorageError


def add_data_argument(parser: Any) -> None:
    """Add DATA."""
    parser.add_argument("data", metavar="DATA", help="data-set name or path (see igsd --help)")


def add_model_and_data(parser: argparse.ArgumentParser) -> None:
    """Add MODEL and DATA."""
    parser.add_argument("model", metavar="MODEL", help="run folder, or file written by save")
    add_data_argument(parser)


def prepare_output(output: str, *inputs: str) -> Callable[[], None]:
    """Return what to call when ``output`` is written: it says which folder was made for it.

    Raises ``StorageError`` where the output would overwrite what is read.
    """
    target = Path(output)
    for given in inputs:
        if target.exists() and Path(given).exists() and target.samefile(given):
            raise StorageError(f"-o {output} is the input {given}. Give another name.")
    if target.parent.exists():
        return lambda: None
    return lambda: say_note(f"the folder {target.parent} was made.")
