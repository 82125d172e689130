"""Numbers that RDKit computes from a structure: descriptors and counts of circular fragments.

They cost no labels, so they serve as targets of a pre-training (Eq. semi) and as inputs of small
models.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from igsd.errors import DataError, need
from igsd.graphs.molecule import molecule_of

_Column = tuple[str, Callable[[Any], Any], int | None]

LEFT_OUT = ("qed",)
"""A function of other descriptors that takes as long as half of them together."""

SLOW, LARGE = ("Ipc", "AvgIpc", "BCUT2D"), 300
"""Descriptors whose time grows with the cube of the atoms, and up to how many they are used."""

BY_DISTANCES, MOST_ATOMS = ("BalabanJ", "BertzCT", "estate", "EState_VSA", "VSA_EState"), 5_000
"""Descriptors that need the distances of all atoms, and up to how many atoms they are used."""

DESCRIPTORS, FRAGMENTS, NUM_FRAGMENTS = "descriptors", "fragments", 2048


def described(
    smiles: Sequence[str], what: str, advance: Callable[[int], Any] = lambda count: None
) -> np.ndarray:
    """Return the descriptors or the fragments of molecules, cached per process.

    ``descriptors``: signed logarithms, [G, t] float32, NaN where RDKit cannot compute one.
    ``fragments``: counts of circular fragments of radius 2 (ECFP4), [G, 2048] uint8. A molecule
    whose only fault is an impossible valence is used as written. ``advance`` is called after each.
    Raises ``DataError`` for text that is not a molecule, ``ConfigError`` without RDKit.
    """
    need("chem", "rdkit", "A vector of a molecule")
    from rdkit import rdBase

    of_one, width, dtype = {
        DESCRIPTORS: (_logged_descriptors, len(descriptor_names()), np.float32),
        FRAGMENTS: (_fragments, NUM_FRAGMENTS, np.uint8),
    }[what]
    rows = np.empty((len(smiles), width), dtype)
    with rdBase.BlockLogs():
        for row, text in zip(rows, smiles, strict=True):
            row[:] = of_one(text)
            advance(1)
    return rows


# Every split of an evaluation needs most of them again. Descriptors take milliseconds a molecule.
@lru_cache(maxsize=100_000)
def _logged_descriptors(text: str) -> np.ndarray:
    return signed_log(descriptors(_molecule(text)))


@lru_cache(maxsize=20_000)
def _fragments(text: str) -> np.ndarray:
    return fragment_counts(_molecule(text), NUM_FRAGMENTS)


def _molecule(text: str) -> Any:
    molecule = molecule_of(text)
    if molecule is None:
        raise DataError(f"{text!r} is not a molecule in SMILES: it has no fingerprint.")
    return molecule


@cache
def descriptor_names() -> tuple[str, ...]:
    """Return the names of the descriptors: all of RDKit's except ``LEFT_OUT``."""
    from rdkit.Chem import Descriptors

    return tuple(name for name, _ in Descriptors.descList if name not in LEFT_OUT)


def descriptors(molecule: Any) -> np.ndarray:
    """Return the descriptors of a molecule, [t] float64, NaN where RDKit cannot compute one.

    In a molecule of more than ``LARGE`` atoms those of ``SLOW`` are NaN too: they take minutes. So
    are those ``BY_DISTANCES`` beyond ``MOST_ATOMS`` atoms: they take gigabytes.
    The values are those of ``rdkit.Chem.Descriptors``, which computes every column of a family
    anew; here a family is computed once, which is nearly three times as fast.
    """
    values = np.empty(len(descriptor_names()))
    families: dict[str, Any] = {}
    left_out: tuple[str, ...] = SLOW if molecule.GetNumAtoms() > LARGE else ()
    left_out += BY_DISTANCES if molecule.GetNumAtoms() > MOST_ATOMS else ()
    for place, (name, function, column) in enumerate(_plan()):
        if name.startswith(left_out):
            values[place] = np.nan
            continue
        try:
            if column is None:
                values[place] = function(molecule)
                continue
            if name not in families:
                families[name] = function(molecule)
            values[place] = families[name][column]
        except (ValueError, RuntimeError, ZeroDivisionError, IndexError, OverflowError):
            values[place] = np.nan
    return values


def signed_log(values: np.ndarray) -> np.ndarray:
    """Return sign(x) log(1 + |x|), float32: some descriptors span forty orders of magnitude."""
    return (np.sign(values) * np.log1p(np.abs(values))).astype(np.float32)


@cache
def _generator(size: int) -> Any:
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=size)


def fragment_counts(molecule: Any, size: int) -> np.ndarray:
    """Return the counts of circular fragments (ECFP), hashed to ``size``, [size] uint8."""
    counts = _generator(size).GetCountFingerprintAsNumPy(molecule)
    return np.minimum(counts, 255).astype(np.uint8)


@cache
def _plan() -> tuple[_Column, ...]:
    """Return (family, function, column) for every descriptor; without a column it stands alone."""
    from rdkit.Chem import Descriptors, rdMolDescriptors

    families: dict[str, Callable[[Any], Any]] = {
        "SMR_VSA": rdMolDescriptors.SMR_VSA_,
        "SlogP_VSA": rdMolDescriptors.SlogP_VSA_,
        "PEOE_VSA": rdMolDescriptors.PEOE_VSA_,
        "EState_VSA": lambda molecule: _estate(molecule)[0],
        "VSA_EState": lambda molecule: _estate(molecule)[1],
    }
    columns: dict[str, _Column] = {
        name: ("estate", lambda molecule: _estate(molecule)[2], place)
        for place, name in enumerate(
            ("MaxAbsEStateIndex", "MaxEStateIndex", "MinAbsEStateIndex", "MinEStateIndex")
        )
    }
    for place, name in enumerate(
        ("MWHI", "MWLOW", "CHGHI", "CHGLO", "LOGPHI", "LOGPLOW", "MRHI", "MRLOW")
    ):
        columns[f"BCUT2D_{name}"] = ("BCUT2D", rdMolDescriptors.BCUT2D, place)
    alone = {"BalabanJ": _balaban, "BertzCT": _bertz}
    columns |= {"Ipc": ("Ipc", _information, 0), "AvgIpc": ("Ipc", _information, 1)}
    plan: list[_Column] = []
    for name, function in Descriptors.descList:
        family = name.rstrip("0123456789")
        if name in LEFT_OUT:
            continue
        if name in columns:
            plan.append(columns[name])
        elif family in families:
            plan.append((family, families[family], int(name[len(family) :]) - 1))
        else:
            plan.append((name, alone.get(name, function), None))
    return tuple(plan)


def _information(molecule: Any) -> tuple[float, float]:
    """Return the descriptors Ipc and AvgIpc."""
    from rdkit import Chem
    from rdkit.Chem import Graphs
    from rdkit.ML.InfoTheory import entropy

    adjacency = np.equal(Chem.GetDistanceMatrix(molecule, False), 1)
    polynomial = abs(Graphs.CharacteristicPolynomial(molecule, adjacency))
    average = float(entropy.InfoEntropy(polynomial))  # type: ignore[attr-defined]
    return sum(polynomial) * average, average


def _estate(molecule: Any) -> tuple[np.ndarray, np.ndarray, tuple[float, ...]]:
    """Return the sums EState_VSA and VSA_EState and the extremes of the E-state indices."""
    from rdkit.Chem import MolSurf
    from rdkit.Chem.EState import EState_VSA

    cached = getattr(molecule, "_igsd_estate", None)
    if cached is not None:
        return cached
    indices = _estate_indices(molecule)
    areas = np.asarray(MolSurf._LabuteHelper(molecule))[1:]
    by_state, by_area = np.array(EState_VSA.estateBins), np.array(EState_VSA.vsaBins)
    states = np.digitize(indices, by_state), np.digitize(areas, by_area)
    first = np.bincount(states[0], areas, len(by_state) + 1)
    second = np.bincount(states[1], indices, len(by_area) + 1)
    sizes = np.abs(indices)
    extremes = (sizes.max(), indices.max(), sizes.min(), indices.min())
    molecule._igsd_estate = (first, second, extremes)
    return molecule._igsd_estate


def _estate_indices(molecule: Any) -> np.ndarray:
    """Return the E-state index of each atom, as ``rdkit.Chem.EState.EStateIndices``, [n]."""
    from rdkit import Chem
    from rdkit.Chem.EState.EState import GetPrincipleQuantumNumber

    table, states = Chem.GetPeriodicTable(), np.zeros(molecule.GetNumAtoms())
    for atom in molecule.GetAtoms():
        degree, number = atom.GetDegree(), atom.GetAtomicNum()
        if degree:
            valence = table.GetNOuterElecs(number) - atom.GetTotalNumHs()
            shell = GetPrincipleQuantumNumber(number)
            states[atom.GetIdx()] = (4.0 / (shell * shell) * valence + 1) / degree
    distances = _distances(molecule) + 1
    weights = np.where(distances < 1e6, 1.0 / np.square(distances), 0.0)
    return states + (weights * (states[:, None] - states[None, :])).sum(axis=1)


def _distances(molecule: Any, *, by_order: bool = False) -> np.ndarray:
    """Return the distances between all atoms as ``rdkit.Chem.GetDistanceMatrix`` does, [n, n].

    ``by_order``: bonds are as long as the inverse of their order. RDKit's time grows with the cube
    of the atoms, so that a protein of 2,000 took half a minute; a large molecule, which has few
    bonds, is searched from every atom instead.
    """
    from rdkit import Chem

    count = molecule.GetNumAtoms()
    if count <= LARGE:
        return Chem.GetDistanceMatrix(molecule, useBO=by_order, useAtomWts=False)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    bonds = list(molecule.GetBonds())
    ends = [[b.GetBeginAtomIdx() for b in bonds], [b.GetEndAtomIdx() for b in bonds]]
    orders = [b.GetBondTypeAsDouble() or 1.0 for b in bonds]
    lengths = 1.0 / np.array(orders if by_order else np.ones(len(bonds)))
    found = shortest_path(csr_array((lengths, ends), (count, count)), "D", directed=False)
    return np.where(np.isinf(found), 1e8, found)  # RDKit's number for atoms without a path


def _balaban(molecule: Any) -> float:
    """Return the descriptor BalabanJ."""
    from rdkit.Chem import GraphDescriptors

    is_large = molecule.GetNumAtoms() > LARGE
    distances = _distances(molecule, by_order=True) if is_large else None
    return GraphDescriptors.BalabanJ(molecule, distances)


def _bertz(molecule: Any) -> float:
    """Return the descriptor BertzCT."""
    from rdkit.Chem import GraphDescriptors

    if molecule.GetNumAtoms() <= LARGE:
        return GraphDescriptors.BertzCT(molecule)
    distances = _distances(molecule, by_order=True)
    return GraphDescriptors.BertzCT(molecule, dMat=distances, forceDMat=False)
