"""``python -m tests.torture``: attacks igsd, prints a table of what was tried and what failed."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.record import FOLDER, TORTURE, default_path, make_torture_record, write_record
from igsd.experiments.environment import commit
from igsd.files.atomic import write_json
from igsd.report.aligned import plain_table
from tests.torture.attack import SIZES, Attack, Row, run_rows
from tests.torture.modules import MODULES

UNFINISHED = FOLDER.parents[1] / ".cache" / "torture-{}-{}.json"
"""What a run with ``--record`` has done, so that the same command continues it on the same code."""


def read_done(path: Path) -> dict[str, list[Row]]:
    """Return the rows of the attacks that are done, none if the code has changed since."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text())
    if stored["commit"] != commit():
        return {}
    print(f"continuing after {', '.join(stored['done'])}", file=sys.stderr)
    return {name: [Row(**row) for row in rows] for name, rows in stored["done"].items()}


def told(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows, each printed when it is done."""
    for row in rows:
        state = f"skipped: {row.skipped}" if row.skipped else f"{len(row.failures)} failed"
        print(f"{row.name}: {row.tried} tried, {state}", file=sys.stderr, flush=True)
        for failure in row.failures:
            print(f"    {failure}", file=sys.stderr, flush=True)
        yield row


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
        attack = Attack(folder, args.size, args.seed)
        progress = UNFINISHED.with_name(UNFINISHED.name.format(args.size, args.seed))
        done = read_done(progress) if args.record else {}
        for name, module in chosen.items():
            if name not in done:
                done[name] = list(told(run_rows(attack, {name: module})))
                if args.record:
                    kept = {key: [asdict(row) for row in found] for key, found in done.items()}
                    progress.parent.mkdir(exist_ok=True)
                    write_json(progress, {"commit": commit(), "done": kept})
            rows += done[name]
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
        progress.unlink(missing_ok=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
