"""``python -m benchmarks``: runs the benchmarks, prints one table, writes one record.

Exits with 1 if a row misses its bar or the results of its two sides differ, after all rows.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.record import default_path, make_record, write_record
from benchmarks.row import Row
from benchmarks.table import text_table
from igsd.errors import IGSDError, nearest

NAMES = (
    "epoch",
    "roofline",
    "threads",
    "ppr",
    "svm",
    "batch",
    "embed",
    "smiles",
    "scaling",
    "memory",
    "startup",
    "million",
    "mpnn",
    "gine",
    "wl",
    "pygcl",
    "learned",
    "search",
    "importing",
)
"""The benchmarks: each a module here with ``rows(context)``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        names = chosen(args.only)
    except IGSDError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    load, started = [os.getloadavg()[0]], time.perf_counter()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="igsd-benchmarks-") as folder:
        context = Context(Path(folder), repeats=args.repeats)
        for name in names:
            rows += run_benchmark(name, context)
    record = make_record(rows, time.perf_counter() - started, [*load, os.getloadavg()[0]])
    print(text_table(rows))
    path = Path(args.json) if args.json else default_path(record)
    write_record(path, record)
    failed = [row for row in rows if row.failed]
    print(f"\n{len(rows)} rows, {len(failed)} miss their bar or differ. Record: {path}")
    return 1 if failed else 0


def chosen(only: str | None) -> tuple[str, ...]:
    """Return the benchmarks to run; raises ``IGSDError`` for a name that is none."""
    names = tuple(only.split(",")) if only else NAMES
    for name in names:
        if name not in NAMES:
            raise IGSDError(f"There is no benchmark {name!r}. {nearest(name, NAMES)}")
    return names


def run_benchmark(name: str, context: Context) -> list[Row]:
    """Return the rows of one benchmark, and tell on standard error how it goes."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    started = time.perf_counter()
    rows = guarded(name, "-", _rows, name, context)
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        print(f"  {row.name}, {row.data}: {ratio} {row.status}", file=sys.stderr, flush=True)
    print(f"  {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    return rows


def _rows(name: str, context: Context) -> list[Row]:
    return importlib.import_module(f"benchmarks.{name}").rows(context)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="NAME,...", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--json", metavar="FILE", help="the record (default: results/benchmarks/)")
    parser.add_argument(
        "--repeats", metavar="N", type=int, default=99, help="at most N repeats, for a quick look"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
