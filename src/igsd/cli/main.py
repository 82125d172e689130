"""``igsd``: finds the command, runs it, and turns errors into one sentence and an exit code.

0: done. 1: done in part (some runs failed). 2: invalid input. 130: stopped by Ctrl-C,
143: by SIGTERM.
"""

import argparse
import contextlib
import errno
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from igsd import __version__
from igsd.cli import COMMANDS, MAKE_RUNS, OUTPUTS
from igsd.errors import ConfigError, IGSDError, IGSDWarning, ParameterError
from igsd.files.remote import is_remote
from igsd.limits import library_errors
from igsd.processes import exit_code_of, signals_stop
from igsd.progress import printable, steady_streams

_DESCRIPTION = """\
Vectors for whole graphs with few labels or none: Iterative Graph Self-Distillation (IGSD).

DATA is the name of a data set (`igsd data list`), a TU folder or zip, a table of molecules
(.csv, .tsv, .smi, .sdf, .mol, also .gz; .parquet; .xlsx, FILE.xlsx:SHEET for one of several sheets;
- for standard input), a file of networks (.graphml, .gml, .gexf, .net, .json, .edgelist, .npz,
.npy) or a folder of them, or a file written by `igsd data import`. MODEL is a run folder made by
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


def make_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command line; only the command in ``arguments`` is imported."""
    parser = argparse.ArgumentParser(
        prog="igsd",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"igsd {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    requested = next((text for text in arguments if not text.startswith("-")), None)
    for name, summary in COMMANDS.items():
        if name == requested and name in MAKE_RUNS:
            importlib.import_module("igsd.cli.run_parsers").add_parser(name, commands)
        elif name == requested:
            importlib.import_module(f"igsd.cli.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser


def main(arguments: Sequence[str] | None = None, begin: Callable[[], None] = lambda: None) -> int:
    """Run the command line and return its exit code; ``begin`` is called before the command is."""
    with steady_streams() as out, contextlib.ExitStack() as handlers:
        code = _run(sys.argv[1:] if arguments is None else arguments, begin, handlers)
        with contextlib.suppress(BrokenPipeError):
            out.flush()
            if out.lost is None:
                return code
            code = _fail(f"Cannot write to standard output: {out.lost.strerror}.", code or 2)
        # The reader (`head`, a pager) has seen enough; the flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return code


def _run(
    arguments: Sequence[str], begin: Callable[[], None], handlers: contextlib.ExitStack
) -> int:
    """Return the exit code; until ``handlers`` is closed, SIGTERM does not cut a message short."""
    try:
        _refuse_empty(arguments)
        args = make_parser(arguments).parse_args(arguments)
        _check_places(args)
        begin()
        handlers.enter_context(signals_stop())
        with warnings_as_notes(), library_errors():
            return int(args.run(args))
    except SystemExit as end:  # argparse has printed help, or what is wrong
        return end.code if isinstance(end.code, int) else 0
    except ParameterError as error:
        return _fail(error.as_setting(), 2)
    except IGSDError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt as stop:
        return _fail(str(stop) or "Stopped.", exit_code_of(stop))
    except BrokenPipeError:
        return 0
    except OSError as error:
        return _fail(_describe(error), 2)


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Reject empty arguments, usually an unset shell variable."""
    for place, text in enumerate(arguments):
        if not text.strip() or (text.startswith("--") and text.endswith("=")):
            before = text.strip().rstrip("=") or (arguments[place - 1] if place else "igsd")
            raise ConfigError(
                f"The argument after {before} is empty. Give a value, or leave it out. Is a "
                "shell variable unset?"
            )


def _check_places(args: argparse.Namespace) -> None:
    """Raise ``ConfigError`` for a URL in place of an output that is written on this machine."""
    for name, option in OUTPUTS.items():
        if name == "output" and getattr(args, "takes_url", False):
            continue
        if is_remote(place := getattr(args, name, None)):
            raise ConfigError(
                f"{option} must be a path on this machine. Got the URL {place}. Write the file "
                "here and copy it: only tables of vectors and results can be written to URLs."
            )


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings raised inside the block as notes, each text once.

    Warnings of igsd itself are always shown; those of other packages where Python would. Of
    several processes that train together, only the first prints.
    """
    shown: set[str] = set()

    def show(message: Warning | str, *args: Any, **kwargs: Any) -> None:
        from igsd.experiments.environment import is_main_process

        text = str(message)
        if text not in shown and is_main_process():
            shown.add(text)
            print(f"igsd: note: {printable(text)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=IGSDWarning)
        warnings.showwarning = show
        yield


def _describe(error: OSError) -> str:
    place = f" {error.filename}" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"The disk is full, cannot write{place}. Free some space or choose another folder."
    return f"Cannot access{place}: {error.strerror or error}."


def _fail(text: str, code: int) -> int:
    print(f"igsd: {printable(text)}", file=sys.stderr)
    return code
