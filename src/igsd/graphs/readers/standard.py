"""Molecules made comparable: ``Standardiser``, and ``repeated_molecules``, which finds repeats.

``neutral`` keeps the largest fragment, so that a salt becomes its acid or base, and removes charges
by adding or removing hydrogens where that is possible (RDKit's ``rdMolStandardize``). ``tautomer``
also replaces the molecule by RDKit's canonical tautomer, which is slow and changes bonds.
"""

import re
import zlib
from collections import defaultdict
from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError, need
from igsd.graphs.colours import refined_keys, splitmix64
from igsd.graphs.graphset import GraphSet

LEVELS = ("neutral", "tautomer")
"""How molecules can be standardised."""

_ROUNDS = 4
_METALS = re.compile(
    "Li|Be|B|Na|Mg|Al|Si|K|Ca|Sc|Ti|V|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Rb|Sr|Y|Zr|Nb|Mo|Tc|Ru|Rh|"
    "Pd|Ag|Cd|In|Sn|Sb|Te|Cs|Ba|La|Ce|Pr|Nd|Pm|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|W|Re|Os|Ir|Pt|"
    "Au|Hg|Tl|Pb|Bi|Po|Fr|Ra|Ac|Th|Pa|U|Np|Pu|Am|Cm|H"
)
"""Elements whose bonds InChI may ignore: metals, those between, and hydrogen."""


def level_of(asked: str | bool | None) -> str:
    """Return the level that ``standardise`` asks for, empty for none; True is ``neutral``."""
    if asked in (None, False, ""):
        return ""
    if asked is True:
        return LEVELS[0]
    if asked not in LEVELS:
        raise ConfigError(f"standardise must be one of {', '.join(LEVELS)}. Got {asked!r} instead.")
    return str(asked)


def smiles_of(molecule: Any) -> str:
    """Return the canonical SMILES of a molecule."""
    from rdkit import Chem

    return str(Chem.MolToSmiles(molecule))


class Standardiser:
    """Standardises molecules, and returns each with its SMILES; ``changed`` counts those."""

    def __init__(self, level: str) -> None:
        self.level, self.changed = level_of(level), 0
        need("chem", "rdkit", "Standardising molecules")
        from rdkit.Chem.MolStandardize import rdMolStandardize

        self._steps = [
            rdMolStandardize.LargestFragmentChooser().choose,
            rdMolStandardize.Uncharger().uncharge,
        ]
        if self.level == "tautomer":
            self._steps.append(rdMolStandardize.TautomerEnumerator().Canonicalize)

    def __call__(self, molecule: Any) -> tuple[Any, str]:
        """Return (molecule, SMILES); a molecule that RDKit cannot standardise stays as it is."""
        from rdkit import Chem

        try:
            changed = molecule
            for step in self._steps:
                changed = step(changed)
            # As the SMILES is read, so that both give the same graph.
            smiles = smiles_of(changed)
            again = Chem.MolFromSmiles(smiles)
        except (RuntimeError, ValueError):
            again = None
        if again is None or not again.GetNumAtoms():
            return molecule, smiles_of(molecule)
        self.changed += smiles != smiles_of(molecule)
        return again, smiles


def check_standardised(graphs: GraphSet, level: str) -> GraphSet:
    """Return graphs that are not read from a table; raises ``DataError`` unless they are so."""
    if level and graphs.standardised != level:
        found = f"standardised as {graphs.standardised!r}" if graphs.standardised else "not"
        raise DataError(
            f"Molecules are standardised while they are read, and those of {graphs.name!r} have "
            f"been read already, {found}. Give the table they came from, or import it again with "
            f"`igsd data import TABLE --standardise {level} -o FILE`."
        )
    return graphs


def repeated_molecules(graphs: GraphSet) -> list[list[int]]:
    """Return the molecules that occur more than once, as lists of graphs in ascending order.

    Two molecules are the same if their InChIKeys are, or, where InChI gives none (more than 1,024
    atoms, atoms ``*``), their canonical SMILES. Only molecules with equal skeletons are compared.
    """
    names = graphs.graph_names or ()
    return same_molecules(alike_skeletons(skeletons(graphs)), names)


def alike_skeletons(keys: np.ndarray) -> list[list[int]]:
    """Return the graphs with equal skeletons, as lists of two or more in ascending order."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.r_[True, keys[order][1:] != keys[order][:-1]])
    stops = np.r_[starts[1:], len(keys)]
    several = stops - starts > 1
    pairs = zip(starts[several].tolist(), stops[several].tolist(), strict=True)
    return [order[start:stop].tolist() for start, stop in pairs]


def same_molecules(groups: list[list[int]], names: Any) -> list[list[int]]:
    """Return the molecules of each group that are the same; ``names[graph]``: their SMILES."""
    from rdkit import Chem, rdBase

    found: list[list[int]] = []
    with rdBase.BlockLogs():
        for members in groups:
            same = defaultdict(list)
            spelled = {name: _key(Chem.MolFromSmiles(name)) for name in {names[m] for m in members}}
            for graph in members:
                same[spelled[names[graph]]].append(graph)
            found += [graphs for key, graphs in same.items() if key and len(graphs) > 1]
    return sorted(found)


def _key(molecule: Any) -> str:
    from rdkit import Chem

    if molecule is None:
        return ""
    return Chem.MolToInchiKey(molecule) or smiles_of(molecule)


def skeletons(graphs: GraphSet) -> np.ndarray:
    """Return a hash of each molecule's skeleton, [G] uint64: elements, and which are bonded.

    Molecules with one InChI have one skeleton: InChI ignores bonds to metals, hydrogens move, and
    bond orders follow. Elements that form both kinds of bonds count as metals here. The hash
    depends on the names of elements, not on their codes, so that it compares molecules of two sets.
    A set that knows its atoms also compares the number of hydrogens and the charge of the whole
    molecule, in which molecules with one InChI agree too.
    """
    is_bare = [_METALS.fullmatch(str(name)) is not None for name in graphs.node_label_names]
    metal = np.array(is_bare)[graphs.node_labels]
    elements = np.array([zlib.crc32(str(n).encode()) for n in graphs.node_label_names], np.uint64)
    keys = splitmix64(elements[graphs.node_labels])
    columns, rows = graphs.adjacency.global_columns(graphs.node_ptr), graphs.adjacency.rows()
    counts = ~(metal[rows] | metal[columns])
    for _ in range(_ROUNDS):
        sent = np.where(counts, splitmix64(keys)[columns], np.uint64(0))
        keys = refined_keys(keys, sent, graphs.adjacency.row_ptr)
    is_hydrogen = np.array([name == "H" for name in graphs.node_label_names])[graphs.node_labels]
    mixed = np.where(is_hydrogen, np.uint64(0), splitmix64(keys))
    if graphs.atom_kinds is None:
        return np.add.reduceat(mixed, graphs.node_ptr[:-1])
    parts = [str(name).split("|") for name in graphs.atom_kind_names]
    charges = np.array([int(part[2]) for part in parts])[graphs.atom_kinds]
    hydrogens = np.array([int(part[3]) for part in parts])[graphs.atom_kinds] + is_hydrogen
    sums = [np.add.reduceat(column, graphs.node_ptr[:-1]) for column in (charges, hydrogens)]
    whole = splitmix64((sums[0] * 2**20 + sums[1]).view(np.uint64))
    return np.add.reduceat(mixed, graphs.node_ptr[:-1]) + whole
