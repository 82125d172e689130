"""Molecules written as SMILES: ``from_smiles`` turns a list of strings into a ``GraphSet``.

A molecule becomes the graph of its heavy atoms as RDKit reads it (hydrogens are implicit; a lone
hydrogen, as in ``[H][H]``, stays a node). The label of an atom is its element symbol, without
charge, aromaticity and chirality. Bonds are labelled ``single``, ``double``, ``triple`` and
``aromatic``, rarer kinds by RDKit's name. Graphs are named by their SMILES. RDKit is needed:
``pip install "igsd[chem]"``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from igsd.errors import DataError, ParameterError, need
from igsd.graphs.build import encode_categories, from_edges
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class SmilesFailure:
    """A string that is not a molecule: its row (from 0), the text, the reason, and its line."""

    row: int
    text: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"row {self.row}" if self.line is None else f"line {self.line}"
        return f"{place}: {self.text!r}: {self.reason}"


@dataclass
class _Molecules:
    """Atoms and bonds of the molecules read so far."""

    counts: list[int] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    bonds: list[str] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    failures: list[SmilesFailure] = field(default_factory=list)
    doubtful: list[SmilesFailure] = field(default_factory=list)


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
        raise ParameterError(
            "on_error", "from_smiles", f"must be 'raise' or 'skip'. Got {on_error!r} instead."
        )
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
    found = _read_all(texts, check_valence)
    graphs = _as_graphs(found, texts, name) if found.kept else None
    kept = np.array(found.kept, dtype=np.int64)
    return Molecules(graphs, kept, tuple(found.failures), tuple(found.doubtful))


def _as_graphs(found: _Molecules, texts: Sequence[Any], name: str) -> GraphSet:
    """Return the molecules as a set."""
    atom_codes, atom_names = encode_categories(found.symbols)
    bond_codes, bond_names = encode_categories(found.bonds)
    source, target = np.array(found.source, np.int64), np.array(found.target, np.int64)
    return from_edges(
        found.counts,
        np.concatenate([source, target]),
        np.concatenate([target, source]),
        edge_labels=np.concatenate([bond_codes, bond_codes]),
        edge_label_names=bond_names,
        node_labels=atom_codes.astype(np.int32),
        node_label_names=atom_names,
        graph_names=tuple(texts[row] for row in found.kept),
        name=name,
    )


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
    lines = "\n".join(f"  {failure}" for failure in failures)
    return (
        f"{len(failures)} of the {total} strings in {name!r} are not molecules that RDKit can "
        f"read:\n{lines}"
    )


def _read_all(texts: Sequence[Any], check_valence: bool) -> _Molecules:
    """Read every string, one at a time, as RDKit does."""
    Chem = need("chem", "rdkit.Chem", "Reading SMILES")
    from rdkit import rdBase

    found = _Molecules()
    # RDKit would print a line for every bad string; the failures hold the reasons instead.
    with rdBase.BlockLogs():
        for row, text in enumerate(texts):
            molecule = Chem.MolFromSmiles(text.strip()) if isinstance(text, str) else None
            if molecule is None or molecule.GetNumAtoms() == 0:
                failure = SmilesFailure(row, str(text), _reason(text))
                molecule = None if check_valence else _without_valence_check(text)
                (found.failures if molecule is None else found.doubtful).append(failure)
            if molecule is not None:
                found.kept.append(row)
                _append(found, molecule)
    return found


def _without_valence_check(text: Any) -> Any:
    """Return the molecule of a string whose only fault is a valence, otherwise None."""
    from rdkit import Chem

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


def _append(found: _Molecules, molecule: Any) -> None:
    """Add one molecule's atoms and bonds."""
    offset = len(found.symbols)
    found.counts.append(molecule.GetNumAtoms())
    found.symbols.extend(atom.GetSymbol() for atom in molecule.GetAtoms())
    for bond in molecule.GetBonds():
        found.source.append(offset + bond.GetBeginAtomIdx())
        found.target.append(offset + bond.GetEndAtomIdx())
        found.bonds.append(bond.GetBondType().name.lower())


def _reason(text: Any) -> str:
    """Return why RDKit rejects a string."""
    from rdkit import Chem

    if not isinstance(text, str):
        return f"text was expected, found {type(text).__name__}"
    if not text.strip():
        return "empty"
    unchecked = Chem.MolFromSmiles(text.strip(), sanitize=False)
    if unchecked is None:
        return "not valid SMILES"
    problems = Chem.DetectChemistryProblems(unchecked)
    return problems[0].Message() if problems else "chemically impossible"
