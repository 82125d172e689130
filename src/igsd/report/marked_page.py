"""``update_page``: a command that brings the rendered part of a page up to date, or checks it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from igsd.atomic_file import write_text
from igsd.errors import IGSDError, StorageError

Render = Callable[[Path, Path], dict[Path, str]]
"""From (page, folder of records) to the text of every file that is made of the records."""


def update_page(
    arguments: Sequence[str] | None, render: Render, *, module: str, about: str, command: str
) -> int:
    """Return the exit code of ``python -m MODULE RECORDS PAGE [--check]``.

    Files that ``render`` makes different from what they are get written; with ``--check`` nothing
    is, and the code is 1 where one differs. 2: the input is wrong. ``command``: what to run then.
    """
    args = _parse(arguments, module, about)
    try:
        made = render(Path(args.page), Path(args.records))
        changed = [path for path, text in made.items() if text != _text_or_none(path)]
        for path in () if args.check else changed:
            write_text(path, made[path])
    except IGSDError as error:
        print(f"{module.partition('.')[0]}: {error}", file=sys.stderr)
        return 2
    for path in changed if args.check else ():
        print(f"{path} differs from {args.records}: run `{command}`.", file=sys.stderr)
    return 1 if changed and args.check else 0


def read_page(path: Path) -> str:
    """Return the text of a page; raises ``StorageError`` where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error


def _text_or_none(path: Path) -> str | None:
    return read_page(path) if path.exists() else None


def _parse(arguments: Sequence[str] | None, module: str, about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("records", metavar="RECORDS", help="folder of the records")
    parser.add_argument("page", metavar="PAGE", help="Markdown file with the two markers")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where they differ")
    return parser.parse_args(arguments)
