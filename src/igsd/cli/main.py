"""``igsd``: finds the command, runs it, and turns errors into one sentence and an exit code.

0: done. 1: done in part (some runs failed). 2: the input was wrong. 130: stopped by Ctrl-C,
143: by SIGTERM.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence

from igsd import __version__
from igsd.cli import (
    compare,
    data,
    embed,
    evaluate,
    neighbors,
    predict,
    report,
    reproduce,
    train,
    tune,
)
from igsd.cli.notes import in_plain_words, warnings_as_notes
from igsd.cli.termination import exit_code_of, sigterm_stops
from igsd.errors import IGSDError

_DESCRIPTION = """\
Vectors for whole graphs with few labels or none: Iterative Graph Self-Distillation (IGSD).

DATA is the name of a data set (`igsd data list`), a TU folder or zip, a table with SMILES
(.csv, .tsv, also .gz), or a file written by `igsd data import`. MODEL is a run folder made by
`igsd train`, or a file written by `model.save` in Python."""

_EXAMPLES = """\
examples:
  igsd data show MUTAG
  igsd train MUTAG -o runs/first
  igsd embed runs/first molecules.csv -o vectors.parquet
  igsd evaluate --recipe molecules MUTAG --seeds 3
  igsd compare MUTAG --methods igsd,wl,graph2vec
  igsd neighbors runs/first MUTAG --query 0 -k 5

`igsd COMMAND --help` explains a command."""

_COMMANDS = (
    data,
    train,
    embed,
    predict,
    evaluate,
    compare,
    tune,
    reproduce,
    report,
    neighbors,
)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="igsd",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"igsd {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = make_parser().parse_args(arguments)
    try:
        with warnings_as_notes(), sigterm_stops():
            code = args.run(args)
        sys.stdout.flush()
        return code
    except IGSDError as error:
        return _say(in_plain_words(error), 2)
    except KeyboardInterrupt as stop:
        return _say(str(stop) or "Stopped.", exit_code_of(stop))
    except MemoryError:
        return _say(
            "There is not enough memory for this. Try a smaller --set batch_size, fewer --jobs, or "
            "a smaller part of the data.",
            2,
        )
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough; the flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(_os_error(error), 2)


def _os_error(error: OSError) -> str:
    place = f" {error.filename}" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"The disk is full, cannot write{place}. Free some space or choose another folder."
    return f"The system refuses{place}: {error.strerror or error}."


def _say(text: str, code: int) -> int:
    print(f"igsd: {text}", file=sys.stderr)
    return code
