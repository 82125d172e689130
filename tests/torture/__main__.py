"""``python -m tests.torture``: attacks igsd, prints a table of what was tried and what failed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.record import FOLDER, TORTURE, default_path, make_torture_record, write_record
from igsd.report.render import plain_table
from tests.torture.attack import SIZES, Attack, run_rows
from tests.torture.modules import MODULES


def main(arguments: list[str] | None = None) -> int:
    """Return 1 if anything failed, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    text = "only these attacks"
    parser.add_argument(
        "modules", nargs="*", metavar="ATTACK", help=f"{text}: {', '.join(MODULES)}"
    )
    parser.add_argument("--size", choices=SIZES, default="usual", help="how much is tried")
    parser.add_argument("--seed", type=int, default=0, help="other mutants, other moments")
    parser.add_argument(
        "--folder", type=Path, help="where to work, kept (default: a temporary one)"
    )
    parser.add_argument("--record", action="store_true", help="write a record to results/torture")
    args = parser.parse_args(arguments)
    if unknown := set(args.modules) - set(MODULES):
        parser.error(f"there is no attack {sorted(unknown)[0]!r}; there are {', '.join(MODULES)}")
    if args.record and args.modules:
        parser.error("--record is for a run of all attacks")
    chosen = {name: rows for name, rows in MODULES.items() if name in (args.modules or MODULES)}
    with tempfile.TemporaryDirectory(prefix="igsd-torture-") as temporary:
        folder = (args.folder or Path(temporary)).resolve()
        start, rows = time.monotonic(), []
        for row in run_rows(Attack(folder, args.size, args.seed), chosen):
            state = f"skipped: {row.skipped}" if row.skipped else f"{len(row.failures)} failed"
            print(f"{row.name}: {row.tried} tried, {state}", file=sys.stderr, flush=True)
            for failure in row.failures:
                print(f"    {failure}", file=sys.stderr, flush=True)
            rows.append(row)
    cells = [
        [r.name, "-" if r.skipped else str(r.tried), r.skipped or str(len(r.failures))]
        for r in rows
    ]
    print(plain_table(("attack", "tried", "failed"), cells, left=(0,)))
    failed, tried = sum(len(row.failures) for row in rows), sum(row.tried for row in rows)
    print(f"\n{tried} tried, {failed} failed, {(time.monotonic() - start) / 60:.0f} minutes.")
    if args.record:
        record = make_torture_record([row.to_json() for row in rows], args.size, args.seed)
        path = default_path(record, FOLDER.with_name(TORTURE))
        write_record(path, record)
        print(f"record: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
