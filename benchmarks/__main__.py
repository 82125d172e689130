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
from dataclasses import replace
from pathlib import Path

import psutil

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.record import default_path, make_record, write_record
from benchmarks.row import QUIET, Row
from benchmarks.table import text_table
from igsd.errors import IGSDError, nearest

NAMES = (
    "epoch",
    "roofline",
    "threads",
    "ppr",
    "large",
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
    "variants",
)
"""The benchmarks: each a module here with ``rows(context)``."""

GUARDS = ("epoch", "roofline", "ppr", "batch", "embed", "smiles", "startup", "gine", "wl")
"""Those that guard a change of the hot paths."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        names = chosen(args.only or (",".join(NAMES) if args.all else None))
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
    names = tuple(only.split(",")) if only else GUARDS
    for name in names:
        if name not in NAMES:
            raise IGSDError(f"There is no benchmark {name!r}. {nearest(name, NAMES)}")
    return names


def run_benchmark(name: str, context: Context) -> list[Row]:
    """Return the rows of one benchmark, and tell on standard error how it goes."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    started, busy, own = time.perf_counter(), _busy(), _own()
    rows = guarded(name, "-", _rows, name, context)
    seconds = time.perf_counter() - started
    others = max(0.0, (_busy() - busy - (_own() - own)) / max(seconds, 0.1))
    rows = [replace(row, others=round(others, 2)) for row in rows]
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        print(f"  {row.name}, {row.data}: {ratio} {row.status}", file=sys.stderr, flush=True)
    told = f", {others:.1f} cores used by other programs" if others > QUIET else ""
    print(f"  {seconds:.0f} s{told}", file=sys.stderr, flush=True)
    return rows


def _busy() -> float:
    """Return the processor seconds of all programs since the machine started."""
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice)


def _own() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _rows(name: str, context: Context) -> list[Row]:
    return importlib.import_module(f"benchmarks.{name}").rows(context)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--all", action="store_true", help="all, also those that guard no change")
    parser.add_argument("--only", metavar="NAME,...", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--json", metavar="FILE", help="the record (default: results/benchmarks/)")
    parser.add_argument(
        "--repeats", metavar="N", type=int, default=99, help="at most N repeats, for a quick look"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
