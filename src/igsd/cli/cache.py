"""``igsd cache``: what the cache holds, and how to empty it."""

from argparse import Namespace
from datetime import datetime
from typing import Any

from igsd.cli.options import add_command
from igsd.errors import counted
from igsd.files.cache import (
    DEFAULT_LIMIT,
    KINDS,
    LIMIT_VARIABLE,
    cache_dir,
    cache_limit,
    cached_files,
    remove,
    size_text,
)
from igsd.report.aligned import print_table

_ABOUT = {
    "datasets": "data sets, downloaded or parsed",
    "views": "diffusions of whole data sets",
    "vectors": "vectors of whole data sets",
    "corpus": "molecules of `igsd pretrain`",
    "encoders": "encoders that were pre-trained for a comparison",
    "notes": "which notes on tables were shown in full",
}

_DESCRIPTION = f"""\
The cache holds what can be made again: {", ".join(KINDS)}. It is the folder in IGSD_CACHE, by
default igsd in the user's cache folder. When a file is added and the cache exceeds
{LIMIT_VARIABLE} (such as 500 MB; default: {DEFAULT_LIMIT}), the files that were not used for the
longest time are removed. Views of parts of a data set, such as folds, are not kept."""

_EXAMPLES = """\
examples:
  igsd cache show
  igsd cache clear
  igsd cache clear views"""


def add_parser(commands: Any) -> None:
    """Add the command and its subcommands to the parser."""
    parser = add_command(commands, "cache", run_show, _DESCRIPTION, _EXAMPLES)
    parts = parser.add_subparsers(metavar="show|clear", required=True)
    part = parts.add_parser("show", help="the folder, its limit, and what is in it")
    part.set_defaults(run=run_show)
    summary = "remove what is in it, or one kind of files"
    text = "Removes cached files without asking. Commands that run meanwhile make them again."
    part = parts.add_parser("clear", help=summary, description=text)
    text = f"{', '.join(KINDS)} (default: all)"
    part.add_argument("kinds", nargs="*", metavar="KIND", help=text)
    part.set_defaults(run=run_clear)


def run_show(args: Namespace) -> int:
    """Print the folder of the cache, its limit, and the number and size of its files."""
    limit, files = cache_limit(), cached_files()
    print(f"folder  {cache_dir()}")
    print(f"limit   {size_text(limit)}\n")
    lines = []
    for kind in KINDS:
        mine = [file for file in files if file.kind == kind]
        last = max((file.used for file in mine), default=None)
        day = "-" if last is None else f"{datetime.fromtimestamp(last):%Y-%m-%d %H:%M}"
        size = size_text(sum(file.size for file in mine))
        lines.append([kind, str(len(mine)), size, day, _ABOUT[kind]])
    lines.append(["all", str(len(files)), size_text(sum(file.size for file in files)), "", ""])
    print_table(["kind", "files", "size", "last used", "what"], lines, left=(0, 3, 4))
    return 0


def run_clear(args: Namespace) -> int:
    """Remove the files of the cache, or of some kinds, and print what was removed."""
    kinds = args.kinds or KINDS
    files = cached_files(kinds)
    for kind in KINDS:
        mine = [file for file in files if file.kind == kind]
        for file in mine:
            remove(file)
        if mine:
            size = size_text(sum(file.size for file in mine))
            print(f"removed {counted(len(mine), 'file')} of {kind}, {size}")
    if not files:
        print(f"nothing to remove in {cache_dir()}")
    return 0
