"""Molecules written as SMILES: ``from_smiles`` turns a list of strings into a ``GraphSet``.

A molecule becomes the graph of its heavy atoms as RDKit reads it (hydrogens are implicit; a lone
hydrogen, as in ``[H][H]``, stays a node). The label of an atom is its element symbol, without
charge, aromaticity and chirality. Bonds are labelled ``single``, ``double``, ``triple`` and
``aromatic``, rarer kinds by RDKit's name. Graphs are named by their SMILES. RDKit is needed:
``pip install "igsd[chem]"``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from igsd.errors import DataError, ParameterError, need, shortened
from igsd.graphs.build import encode_categories, from_edges
from igsd.graphs.graphset import Fields, GraphSet


@dataclass(frozen=True)
class SmilesFailure:
    """A string that is not a molecule: its row (from 0), the text, the reason, and its line."""

    row: int
    text: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"row {self.row}" if self.line is None else f"line {self.line}"
        return f"{place}: {shortened(self.text)!r}: {shortened(self.reason, 200)}"


@dataclass(frozen=True)
class Molecules:
    """The molecules of a list of strings.

    ``graphs``: None if no string is a molecule. ``kept`` [G] int64: the rows of the graphs.
    ``failures``: the rows left out. ``doubtful``: rows kept in spite of an impossible valence.
    """

    graphs: GraphSet | None
    kept: np.ndarray
    failures: tuple[SmilesFailure, ...]
    doubtful: tuple[SmilesFailure, ...]


def from_smiles(
    strings: Iterable[str], *, on_error: str = "raise", name: str = "molecules"
) -> GraphSet:
    """Return the graphs of these SMILES strings, in their order.

    Strings that are not molecules raise a ``DataError`` that lists all of them;
    ``on_error="skip"`` leaves them out and says so in the set's ``notes``.
    """
    if on_error not in ("raise", "skip"):
        fault = f"must be 'raise' or 'skip'. Got {on_error!r} instead."
        raise ParameterError("on_error", "from_smiles", fault)
    texts = list(strings)
    found = read_molecules(texts, name=name)
    if found.graphs is None or (found.failures and on_error == "raise"):
        raise DataError(failure_report(found.failures, len(texts), name))
    return replace(found.graphs, notes=smiles_notes(found.failures, found.doubtful))


def read_molecules(texts: Sequence[Any], *, name: str, check_valence: bool = True) -> Molecules:
    """Return the graphs of the strings that are molecules, and what is wrong with the others.

    ``check_valence=False`` also keeps a molecule whose only fault is an impossible valence: its
    graph is clear. Raises ``ConfigError`` without RDKit.
    """
    need("chem", "rdkit", "Reading SMILES")
    from rdkit import Chem, rdBase

    failures: list[SmilesFailure] = []
    doubtful: list[SmilesFailure] = []
    symbols: list[str] = []
    kept, counts, source, target, bonds = [], [], [], [], []
    # RDKit would print a line for every bad string; the failures hold the reasons instead.
    with rdBase.BlockLogs():
        for row, text in enumerate(texts):
            molecule = Chem.MolFromSmiles(text.strip()) if isinstance(text, str) else None
            if molecule is None or molecule.GetNumAtoms() == 0:
                failure = SmilesFailure(row, str(text), _reason(text, Chem))
                molecule = None if check_valence else without_valence_check(text, Chem)
                (failures if molecule is None else doubtful).append(failure)
            if molecule is None:
                continue
            kept.append(row)
            offset = len(symbols)
            counts.append(molecule.GetNumAtoms())
            symbols.extend(atom.GetSymbol() for atom in molecule.GetAtoms())
            for bond in molecule.GetBonds():
                source.append(offset + bond.GetBeginAtomIdx())
                target.append(offset + bond.GetEndAtomIdx())
                bonds.append(bond.GetBondType().name.lower())
    graphs = None
    if kept:
        atoms, kinds = encode_categories(symbols), encode_categories(bonds)
        ends = np.array([source + target, target + source], np.int64)
        columns: Fields = {"edge_labels": np.tile(kinds[0], 2), "edge_label_names": kinds[1]}
        columns |= {"node_labels": atoms[0].astype(np.int32), "node_label_names": atoms[1]}
        columns["graph_names"] = tuple(texts[row] for row in kept)
        graphs = from_edges(counts, *ends, name=name, **columns)
    return Molecules(graphs, np.array(kept, np.int64), tuple(failures), tuple(doubtful))


def smiles_notes(
    failures: Sequence[SmilesFailure], doubtful: Sequence[SmilesFailure]
) -> tuple[str, ...]:
    """Return the notes of a set that was read from SMILES."""
    left_out = tuple(f"left out, not a molecule: {failure}" for failure in failures)
    return left_out + tuple(f"kept with an impossible valence: {item}" for item in doubtful)


def failure_report(failures: Sequence[SmilesFailure], total: int, name: str) -> str:
    """Return the message that lists every string that is not a molecule."""
    if total == 0:
        return f"The set {name!r} holds no graphs; at least one SMILES string is needed."
    found = f"{len(failures)} of the {total} strings in {name!r}"
    lines = [f"{found} are not molecules that RDKit can read:", *(f"  {f}" for f in failures)]
    return "\n".join(lines)


def without_valence_check(text: Any, Chem: Any) -> Any:
    """Return the molecule of a string whose only fault is a valence, otherwise None."""
    molecule = Chem.MolFromSmiles(text.strip(), sanitize=False) if isinstance(text, str) else None
    if molecule is None or molecule.GetNumAtoms() == 0:
        return None
    problems = Chem.DetectChemistryProblems(molecule)
    if any(problem.GetType() != "AtomValenceException" for problem in problems):
        return None
    molecule.UpdatePropertyCache(strict=False)
    steps = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES
    failed = Chem.SanitizeMol(molecule, sanitizeOps=steps, catchErrors=True)
    return None if failed else Chem.RemoveHs(molecule, sanitize=False)


def _reason(text: Any, Chem: Any) -> str:
    """Return why RDKit rejects a string."""
    if not isinstance(text, str):
        return f"text was expected, found {type(text).__name__}"
    if not text.strip():
        return "empty"
    unchecked = Chem.MolFromSmiles(text.strip(), sanitize=False)
    if unchecked is None:
        return "not valid SMILES"
    problems = Chem.DetectChemistryProblems(unchecked)
    return problems[0].Message() if problems else "chemically impossible"
