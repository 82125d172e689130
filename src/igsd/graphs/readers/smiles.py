"""Molecules written as SMILES or InChI: ``from_smiles`` makes a ``GraphSet`` of a list of strings.

A molecule becomes the graph of its heavy atoms as RDKit reads it (hydrogens are implicit; a lone
hydrogen, as in ``[H][H]``, stays a node). The label of an atom is its element symbol, without
charge, aromaticity and chirality. Bonds are labelled ``single``, ``double``, ``triple`` and
``aromatic``, rarer kinds (``dative``) by RDKit's name. ``*`` is an atom of its own kind. Graphs are
named by their SMILES. The set also carries what ``igsd.graphs.chemistry`` sees of the molecules,
which are parsed only once. RDKit is needed: ``pip install "igsd[chem]"``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from igsd.errors import DataError, need, shortened
from igsd.graphs.chemistry import ChemicalColumns, is_chemical
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import are_smiles, has_blank, molecule_of
from igsd.graphs.readers.standard import LEVELS, Standardiser, repeated_molecules, smiles_of

LEFT_OUT = "left out, not a molecule"
"""How the notes on rows that are not molecules begin."""


@dataclass(frozen=True)
class SmilesFailure:
    """A string that is not a molecule: its row (from 0), the text, the reason, and its line."""

    row: int
    text: str
    reason: str
    line: int | None = None

    @property
    def place(self) -> str:
        """Where it is in the input."""
        return f"row {self.row}" if self.line is None else f"line {self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {shortened(self.text)!r}: {shortened(self.reason, 200)}"


@dataclass(frozen=True)
class Molecules:
    """The molecules of a list of strings.

    ``graphs``: None if no string is a molecule. ``kept`` [G] int64: the rows of the graphs.
    ``failures``: the rows left out. ``doubtful``: rows kept in spite of an impossible valence.
    ``changed``: how many molecules were changed by standardising them.
    """

    graphs: GraphSet | None
    kept: np.ndarray
    failures: tuple[SmilesFailure, ...]
    doubtful: tuple[SmilesFailure, ...]
    changed: int = 0


def from_smiles(
    strings: Iterable[str],
    *,
    name: str = "molecules",
    standardise: str = "",
) -> GraphSet:
    """Return the graphs of these SMILES strings (or InChI), in their order.

    Strings that are not molecules raise a ``DataError`` that lists all of them. ``standardise``:
    see ``igsd.graphs.readers.standard``.
    """
    texts = list(strings)
    found = read_molecules(texts, name=name, standardise=standardise)
    if found.graphs is None or found.failures:
        raise DataError(failure_report(found.failures, len(texts), name))
    notes = (*found.graphs.notes, *smiles_notes((), found.doubtful))
    return replace(found.graphs, notes=notes)


def from_molecules(
    molecules: Sequence[Any], *, name: str = "molecules", standardise: str = ""
) -> GraphSet:
    """Return the graphs of molecules of RDKit, whose names (``_Name``), if any, become ids."""
    need("chem", "rdkit", "Reading molecules of RDKit")
    from rdkit import Chem

    strings = [Chem.MolToSmiles(molecule) for molecule in molecules]
    graphs = from_smiles(strings, name=name, standardise=standardise)
    names = [m.GetProp("_Name") if m.HasProp("_Name") else "" for m in molecules]
    return replace(graphs, ids=tuple(names)) if any(names) else graphs


def read_molecules(
    texts: Sequence[Any], *, name: str, check_valence: bool = True, standardise: str = ""
) -> Molecules:
    """Return the graphs of the strings that are molecules, and what is wrong with the others.

    ``check_valence=False`` also keeps a molecule whose only fault is an impossible valence: its
    graph is clear. ``standardise``: how, see ``igsd.graphs.readers.standard``; graphs are then
    named by the SMILES of what is left. Raises ``ConfigError`` without RDKit.
    """
    need("chem", "rdkit", "Reading SMILES")
    from rdkit import rdBase

    standard = None if not standardise else Standardiser(standardise)
    failures: list[SmilesFailure] = []
    doubtful: list[SmilesFailure] = []
    kept: list[int] = []
    names: list[str] = []
    found = ChemicalColumns()
    # RDKit would print a line for every bad string; the failures hold the reasons instead.
    with rdBase.BlockLogs():
        for row, text in enumerate(texts):
            molecule = molecule_of(text, check_valence=True)
            if molecule is None:
                failure = SmilesFailure(row, str(text), reason(text))
                molecule = None if check_valence else molecule_of(text)
                (failures if molecule is None else doubtful).append(failure)
                if molecule is None:
                    continue
            spelling = text
            if standard is not None:
                molecule, spelling = standard(molecule)
            elif "InChI=" in text and text.lstrip().startswith("InChI="):
                spelling = smiles_of(molecule)
            kept.append(row)
            names.append(spelling)
            found.append(molecule, text)
            del molecule  # so that the next one can have its memory, which is in the cache
    graphs = None
    if kept:
        graphs = found.labelled(name, graph_names=tuple(names))
    if graphs is not None and standard is not None:
        note = standard_note(standardise, standard.changed, len(kept))
        graphs = replace(graphs, standardised=standardise, notes=(note,))
    changed = 0 if standard is None else standard.changed
    return Molecules(graphs, np.array(kept, np.int64), tuple(failures), tuple(doubtful), changed)


_CHARGED = re.compile(r"\.|[+-]\d*(:\d+)?\]")
"""In the SMILES of several fragments, or of charges."""


def molecule_codes(graphs: GraphSet) -> np.ndarray:
    """Return numbers [G] that are equal where the molecules are, whatever their salt or spelling.

    Molecules are equal by InChIKey, those with fragments or charges after standardising. Graphs
    that are not molecules are all different.
    """
    codes = np.arange(len(graphs))
    if not are_smiles(graphs.graph_names):
        return codes
    names = list(graphs.graph_names or ())
    places = [place for place, text in enumerate(names) if _CHARGED.search(text)]
    if places or not is_chemical(graphs):
        texts = [names[place] for place in places]
        found = read_molecules(texts, name="", check_valence=False, standardise=LEVELS[0])
        if found.graphs is not None:
            spelled = found.graphs.graph_names or ()
            for row, text in zip(found.kept.tolist(), spelled, strict=True):
                names[places[row]] = text
        found = read_molecules(names, name="", check_valence=False)
        if found.graphs is None:
            return codes
        kept, compared = found.kept, found.graphs
    else:
        kept, compared = codes, graphs
    for group in repeated_molecules(compared):
        codes[kept[group]] = kept[group[0]]
    return codes


def standard_note(level: str, changed: int, total: int) -> str:
    """Return the note of a set whose molecules were standardised."""
    return f"standardised ({level}): {changed} of {total} molecules changed"


def smiles_notes(
    failures: Sequence[SmilesFailure], doubtful: Sequence[SmilesFailure]
) -> tuple[str, ...]:
    """Return the notes of a set that was read from SMILES."""
    left_out = tuple(f"{LEFT_OUT}: {failure}" for failure in failures)
    return left_out + tuple(f"kept with an impossible valence: {item}" for item in doubtful)


def failure_report(
    failures: Sequence[SmilesFailure], total: int, name: str, most: int | None = None
) -> str:
    """Return the message that lists the strings that are not molecules, at most ``most``."""
    if total == 0:
        return f"The set {name!r} holds no graphs; at least one SMILES string is needed."
    found = f"{len(failures)} of the {total} strings in {name!r}"
    shown = [f"  {failure}" for failure in failures[:most]]
    lines = [f"{found} are not molecules that RDKit can read:", *shown]
    if (more := len(failures) - len(shown)) > 0:
        lines.append(f"  and {more} more")
    return "\n".join(lines)


def reason(text: Any) -> str:
    """Return why a string is not a molecule."""
    from rdkit import Chem

    if not isinstance(text, str):
        return f"text was expected, found {type(text).__name__}"
    text = text.strip()
    if not text:
        return "empty"
    if text.startswith("InChI="):
        return "not a valid InChI"
    # ``->`` is a dative bond, any other ``>`` separates the parts of a reaction.
    if len(re.findall(r"(?<!-)>", text.split()[0])) >= 2:
        return "a reaction and not a molecule: give its reactants or products in rows of their own"
    unchecked = Chem.MolFromSmiles(text, sanitize=False)
    if unchecked is None:
        return "not valid SMILES"
    if has_blank(text):
        return "a blank inside: only an extension of CXSMILES, between bars, may follow one"
    problems = Chem.DetectChemistryProblems(unchecked)
    return problems[0].Message() if problems else "chemically impossible"
