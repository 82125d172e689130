"""Vectors of molecules per second with the encoder in the package, beside RDKit's own work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.row import Row, Skipped
from benchmarks.side import Side
from benchmarks.timing import alternate
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.smiles import from_smiles
from igsd.graphs.readers.text_table import read_text_table

DATA, NUM_MOLECULES, REPEATS = "ZINC, 5,000 molecules", 5000, 3
FROM_SMILES, FROM_SET = 1000.0, 10_000.0
"""Vectors per second that are asked for."""


def rows(context: Context) -> list[Row]:
    """Return rows of molecules per second of CPU time on one thread, from SMILES and packed."""
    with (
        Side("benchmarks.smiles:embed_side", packed=False) as ours,
        Side("benchmarks.smiles:embed_side", packed=True) as packed,
        Side("benchmarks.smiles:rdkit_side") as theirs,
    ):
        sides = {"ours": ours, "packed": packed, "theirs": theirs}
        measured = alternate(sides, context.rounds(REPEATS))
    rates = {side: NUM_MOLECULES / measured[side].cpu for side in measured}
    agrees = measured["ours"].first == measured["packed"].first
    other, found = rates["theirs"], []
    for side, name, least in (
        ("ours", "SMILES to vectors", FROM_SMILES),
        ("packed", "packed molecules to vectors", FROM_SET),
    ):
        note = f"RDKit: parsing and Morgan counts; {least:,.0f} per second are asked for"
        ratio = rates[side] / least
        found.append(
            Row(f"{name} / asked for", DATA, rates[side], least, ratio, 1.0, "mols/s", note)
        )
        text = "both give equal vectors" if agrees else "the two ways give different vectors"
        ratio = rates[side] / other
        found.append(
            Row(
                f"{name} / RDKit",
                DATA,
                rates[side],
                other,
                ratio,
                None,
                "mols/s",
                text,
                False,
                agrees,
            )
        )
    return found


def load(num_molecules: int = NUM_MOLECULES) -> list[str]:
    """Return SMILES of ZINC250k, from the folder ``molecules`` in ``IGSD_DATA``."""
    path = Path(os.environ.get("IGSD_DATA", "."), "molecules", "zinc250k.csv.gz")
    if not path.exists():
        raise Skipped(f"no data: {path}")
    return read_text_table(path).column("smiles")[:num_molecules]


def embed_side(packed: bool) -> Callable[[], Any]:
    """Return the work of embedding SMILES, or a set in a file; its result: some rows."""
    from igsd.estimators.molecules import pretrained

    texts, model = load(), pretrained("molecules")
    folder = tempfile.TemporaryDirectory(prefix="igsd-benchmarks-")
    path = Path(folder.name, "molecules.graphs")
    if packed:
        from_smiles(texts).save(path)
    model.transform(texts[:100])

    def work() -> Any:
        vectors = model.transform(GraphSet.load(path) if packed else texts)
        return lambda: vectors[:: len(vectors) // 20, ::40].tolist()

    work.folder = folder  # type: ignore[attr-defined]  # kept as long as the work
    return work


def rdkit_side() -> Callable[[], Any]:
    """Return the work of parsing SMILES and counting circular fragments; its result: how many."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    texts = load()
    generator = rdFingerprintGenerator.GetMorganGenerator(2, fpSize=2048)

    def work() -> int:
        counts = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in texts]
        return len(counts)

    return work
