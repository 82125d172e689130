"""One molecule from a text, SMILES or InChI, as RDKit reads it."""

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from igsd.errors import DataError
from igsd.graphs.graphset import GraphSet


@lru_cache(maxsize=1)
def rdkit() -> Any:
    """Return ``rdkit.Chem``; an import statement inside a function costs time at every call."""
    return importlib.import_module("rdkit.Chem")


def molecule_of(text: Any, *, check_valence: bool = False) -> Any:
    """Return the molecule of a SMILES string or InChI; None if it is invalid or has no atoms.

    ``check_valence=False`` also reads one whose only fault is an impossible valence.
    """
    Chem = rdkit()
    if not isinstance(text, str) or has_blank(text):
        return None
    text = text.strip()
    if text.startswith("InChI="):
        molecule = Chem.MolFromInchi(text)
        # As its SMILES is read, so that both give the same molecule.
        molecule = None if molecule is None else Chem.MolFromSmiles(Chem.MolToSmiles(molecule))
    else:
        molecule = Chem.MolFromSmiles(text)
    if molecule is not None and molecule.GetNumAtoms():
        return molecule
    return None if check_valence else _without_valence_check(text)


def has_blank(text: str) -> bool:
    """Return whether a blank divides a text, of which RDKit would read the first part alone.

    An extension of CXSMILES, between bars, may follow a blank.
    """
    rest = text.split(maxsplit=1)[1:]
    return bool(rest) and not rest[0].startswith("|")


def _without_valence_check(text: str) -> Any:
    """Return the molecule of a string whose only fault is a valence, otherwise None."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None or molecule.GetNumAtoms() == 0:
        return None
    problems = Chem.DetectChemistryProblems(molecule)
    if any(problem.GetType() != "AtomValenceException" for problem in problems):
        return None
    molecule.UpdatePropertyCache(strict=False)
    steps = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES
    if Chem.SanitizeMol(molecule, sanitizeOps=steps, catchErrors=True):
        return None
    molecule = Chem.RemoveHs(molecule, sanitize=False)
    Chem.GetSymmSSSR(molecule)
    return molecule


def are_smiles(names: Sequence[str] | None) -> bool:
    """Return whether graphs have names, and these are SMILES that RDKit can read.

    The first and the last are tried. Without RDKit they are not.
    """
    if not names or importlib.util.find_spec("rdkit") is None:
        return False
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return molecule_of(names[0]) is not None and molecule_of(names[-1]) is not None


def smiles_of(graphs: GraphSet) -> tuple[str, ...]:
    """Return the SMILES that name graphs; raises ``DataError`` if they have no names."""
    if graphs.graph_names is None:
        raise DataError(
            f"Methods for molecules need the SMILES of every graph as its name, and the graphs of "
            f"{graphs.name!r} have no names. Read molecules from a table of SMILES."
        )
    return graphs.graph_names
