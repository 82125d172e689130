"""``igsd data import`` of a long table of molecules, against RDKit's parsing alone."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from benchmarks.context import Context
from benchmarks.row import Row, Skipped
from benchmarks.side import run_once
from benchmarks.timing import load_note

NUM_ROWS, BAR, LIMIT = 100_000, 1.3, 2 * 1024.0
"""The first rows of MOSES; the time, and MiB, that are asked for."""


def rows(context: Context) -> list[Row]:
    """Return rows of the CPU time against RDKit's, of the memory, and of opening the result."""
    table, target = context.folder / "moses.csv", context.folder / "moses.graphs"
    write_table(table, NUM_ROWS)
    theirs = run_once("benchmarks.importing:parse_side", table=str(table))
    asked = run_once("benchmarks.importing:ask_side", table=str(table))
    ours = run_once("benchmarks.importing:import_side", table=str(table), out=str(target))
    opened = run_once("benchmarks.importing:open_side", out=str(target))
    data = f"MOSES, {NUM_ROWS:,} molecules"
    agrees = ours.result == theirs.result == opened.result == asked.result
    note = "RDKit: MolFromSmiles alone; with canonical ranks and ToBinary, which the set needs, "
    note += f"{asked.cpu / theirs.cpu:.2f} x; CPU time, one process, {load_note()}"
    ratio = ours.cpu / theirs.cpu
    found = [
        Row("data import / RDKit", data, ours.cpu, theirs.cpu, ratio, BAR, "s", note, True, agrees)
    ]
    note = "peak of the process that imports"
    found.append(
        Row(
            "data import: peak / 2 GiB",
            data,
            ours.peak,
            LIMIT,
            ours.peak / LIMIT,
            1.0,
            "MiB",
            note,
            True,
        )
    )
    note = "the checksums of the file are verified; wall time"
    found.append(Row("open / 1 s", data, opened.wall, 1.0, opened.wall, 1.0, "s", note, True))
    return found


def write_table(path: Path, count: int) -> None:
    """Write the first rows of MOSES, from the folder ``molecules`` in ``IGSD_DATA``."""
    source = Path(os.environ.get("IGSD_DATA", "."), "molecules", "moses_train.csv.gz")
    if not source.exists():
        raise Skipped(f"no data: {source}")
    with gzip.open(source, "rt") as file, open(path, "w") as out:
        out.writelines(islice(file, count + 1))


def import_side(table: str, out: str) -> Callable[[], int]:
    """Return the work of importing; its result: the number of molecules."""
    from igsd.graphs.importing import import_tables

    return lambda: import_tables([table], Path(out)).graphs


def parse_side(table: str) -> Callable[[], int]:
    """Return the work of parsing with RDKit alone; its result: the number of molecules."""
    from rdkit import Chem, rdBase

    rdBase.DisableLog("rdApp.*")
    texts = Path(table).read_text().split()[1:]
    return lambda: sum(Chem.MolFromSmiles(text) is not None for text in texts)


def ask_side(table: str) -> Callable[[], int]:
    """Return the work of RDKit that an import cannot do without; the number of molecules."""
    from rdkit import Chem, rdBase

    rdBase.DisableLog("rdApp.*")
    texts = Path(table).read_text().split()[1:]

    def work() -> int:
        found = 0
        for text in texts:
            molecule = Chem.MolFromSmiles(text)
            if molecule is not None:
                found += bool(Chem.CanonicalRankAtoms(molecule)) and bool(molecule.ToBinary(0))
        return found

    return work


def open_side(out: str) -> Callable[[], int]:
    """Return the work of opening the result; its result: the number of molecules."""
    from igsd.graphs.graphset import GraphSet

    return lambda: len(GraphSet.load(out))
