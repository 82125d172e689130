"""``python -m tests.golden.write``: write what is pinned anew, so that git shows the difference.

With names of subjects their numbers, with options everything of a kind.
"""

from __future__ import annotations

import os
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"  # before anything imports torch

import argparse


def main() -> None:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.write", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="as in numbers.json")
    parser.add_argument("--all", action="store_true", help="the numbers of all subjects")
    parser.add_argument("--records", action="store_true", help="identities and figures of records")
    parser.add_argument("--plans", action="store_true", help="what exhibits have and lack")
    parser.add_argument("--tables", action="store_true", help="the exhibits as they are printed")
    parser.add_argument(
        "--files", action="store_true", help="old files; only for those that are not there yet"
    )
    args = parser.parse_args()
    if not any(vars(args).values()):
        parser.error("name subjects, or give an option")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IGSD_CACHE"] = folder
        _write(args, parser)


def _write(args: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from tests.golden import numbers, old_files, records
    from tests.golden.subjects import SUBJECTS

    if unknown := [name for name in args.subjects if name not in SUBJECTS]:
        parser.error(f"there is no subject {unknown[0]!r}")
    if args.subjects or args.all:
        numbers.write_numbers(args.subjects, everything=args.all)
    if args.records:
        records.write_records()
    if args.plans:
        records.write_plans()
    if args.tables:
        records.write_tables()
    if args.files:
        old_files.write_missing()


if __name__ == "__main__":
    main()
