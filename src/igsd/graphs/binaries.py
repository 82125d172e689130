"""``read_binaries``: the atoms and bonds of many molecules as arrays, from RDKit's binary form.

Asking RDKit about every atom and bond, one call at a time, takes longer than parsing the SMILES.
``Mol.ToBinary`` writes a whole molecule at once, and NumPy reads those of many molecules together:
the first atoms of all, then the second ones and so on, because the length of a record depends on
what is in it. For a molecule with something rare in it (an isotope, an atom map, a query, 255
atoms) RDKit is still asked about each atom, and so it is for every molecule if a few test molecules
are not read as RDKit describes them: the form is RDKit's own and may change.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from igsd.graphs.adjacency import pointers, ranges

MOST_RING = 8
"""Larger rings count as rings of this size."""

ATOM = ("number", "charge", "hydrogens", "aromatic", "ring", "hybrid")
"""The rows of ``Block.atoms``; ``ring``: the size of the smallest ring, 0 outside of rings."""

BOND = ("begin", "end", "order", "ring", "conjugated", "stereo")
"""The rows of ``Block.bonds``; ``begin`` and ``end`` are counted inside the molecule."""


class Block(NamedTuple):
    """Molecules, one after the other, in int64.

    ``sizes`` and ``num_bonds`` [G]; ``atoms`` [6, N] with the rows of ``ATOM``; ``bonds`` [6, M]
    with those of ``BOND``.
    """

    sizes: np.ndarray
    num_bonds: np.ndarray
    atoms: np.ndarray
    bonds: np.ndarray

    def take(self, order: np.ndarray) -> "Block":
        """Return the chosen molecules, in this order."""
        atom_ptr, bond_ptr = pointers(self.sizes), pointers(self.num_bonds)
        return Block(
            self.sizes[order],
            self.num_bonds[order],
            self.atoms[:, ranges(atom_ptr[order], atom_ptr[order + 1])],
            self.bonds[:, ranges(bond_ptr[order], bond_ptr[order + 1])],
        )


def read_binaries(binaries: Sequence[bytes]) -> Block:
    """Return the atoms and bonds of molecules, each as ``Mol.ToBinary(0)`` writes it."""
    if not _is_known_form():
        return _asked(binaries)
    block, is_read = _decoded(binaries)
    if is_read.all():
        return block
    others = _asked([binaries[place] for place in np.flatnonzero(~is_read).tolist()])
    # Those that were read, then the others; back into the order of the molecules.
    parts = zip(block.take(np.flatnonzero(is_read)), others, strict=True)
    place = np.empty(len(binaries), np.int64)
    place[np.r_[np.flatnonzero(is_read), np.flatnonzero(~is_read)]] = np.arange(len(binaries))
    return Block(*(np.concatenate(part, axis=-1) for part in parts)).take(place)


def _asked(binaries: Sequence[bytes]) -> Block:
    """Return the atoms and bonds of molecules, asked of RDKit one by one."""
    from rdkit import Chem

    sizes, num_bonds, atoms, bonds = [], [], [], []
    for binary in binaries:
        molecule = Chem.Mol(binary)  # type: ignore[call-overload]
        info = molecule.GetRingInfo()
        rings = [0] * molecule.GetNumAtoms()
        for ring in sorted(info.AtomRings(), key=len, reverse=True):
            for place in ring:
                rings[place] = min(len(ring), MOST_RING)
        in_ring = {*chain(*info.BondRings())}
        sizes.append(molecule.GetNumAtoms())
        num_bonds.append(molecule.GetNumBonds())
        atoms += [
            (
                atom.GetAtomicNum(),
                atom.GetFormalCharge(),
                atom.GetTotalNumHs(),
                atom.GetIsAromatic(),
                ring,
                atom.GetHybridization(),
            )
            for atom, ring in zip(molecule.GetAtoms(), rings, strict=True)
        ]
        bonds += [
            (
                bond.GetBeginAtomIdx(),
                bond.GetEndAtomIdx(),
                bond.GetBondType(),
                bond.GetIdx() in in_ring,
                bond.GetIsConjugated(),
                bond.GetStereo(),
            )
            for bond in molecule.GetBonds()
        ]
    return Block(
        np.array(sizes, np.int64),
        np.array(num_bonds, np.int64),
        np.array(atoms, np.int64).reshape(-1, len(ATOM)).T,
        np.array(bonds, np.int64).reshape(-1, len(BOND)).T,
    )


# A binary is a header, two counts, a flag and a tag; the records of atoms, a tag, those of bonds, a
# tag, the number of rings and the rings; the rest is not read. All numbers are little-endian.
_HEADER = np.frombuffer(bytes.fromhex("efbeadde0000000010000000"), np.uint8)
_COUNTS, _ATOMS, _MARGIN = 20, 30, 512
_BOND_TAG, _RING_TAG = 0x0B, 0x42
_AFTER_RINGS = (0x17, 0x3E)
_MOST_ATOMS = 254  # from 255 on, an atom is named by four bytes
_SP3 = 4

# An atom: its number, flags, four bytes that say which properties differ from the usual, and a byte
# for each of these. A bond: its ends, flags, and a byte for each property that is not the usual.
_CHARGE, _HYBRID, _EXPLICIT, _IMPLICIT = 0x02, 0x08, 0x10, 0x40
_AROMATIC, _NO_IMPLICIT = 0x40, 0x20
_CONJUGATED, _ORDER, _DIRECTION, _STEREO = 0x20, 0x08, 0x04, 0x02
_KNOWN_OF_BOND = 0x40 | _CONJUGATED | _ORDER | _DIRECTION | _STEREO
_BITS = np.array([bin(byte).count("1") for byte in range(256)])


def _decoded(binaries: Sequence[bytes]) -> tuple[Block, np.ndarray]:
    """Return (block, is_read [G]); the block is meaningless for molecules that are not read."""
    lengths = np.fromiter(map(len, binaries), np.int64, len(binaries))
    starts = pointers(lengths)[:-1]
    data = np.frombuffer(b"".join((*binaries, bytes(_MARGIN))), np.uint8)
    is_read = (data[starts[:, None] + np.arange(len(_HEADER))] == _HEADER).all(axis=1)
    counts = data[starts[:, None] + _COUNTS + np.arange(8)].astype(np.int64)
    sizes, num_bonds = counts[:, 0], counts[:, 4] + 256 * counts[:, 5]
    is_read &= (counts[:, [1, 2, 3, 6, 7]] == 0).all(axis=1)
    is_read &= (sizes > 0) & (sizes <= _MOST_ATOMS)
    sizes, num_bonds = sizes * is_read, num_bonds * is_read
    limit = len(data) - _MARGIN

    at, place = _walked(starts + _ATOMS, sizes, limit, lambda at: 6 + _BITS[data[at + 2]])
    flags, properties = data[at + 1], data[at + 2]
    is_rare = (flags & ~np.uint8(_AROMATIC | _NO_IMPLICIT)) | (properties & 1)
    is_rare |= data[at + 3] | data[at + 4] | data[at + 5]
    hydrogens = _value(data, at, properties, _EXPLICIT, 0).astype(np.int64)
    implicit = _value(data, at, properties, _IMPLICIT, 0)
    is_rare |= implicit >> 7
    owner = np.repeat(np.arange(len(sizes)), sizes)
    is_read[owner[is_rare > 0]] = False
    atoms = np.zeros((len(ATOM), len(at)), np.int64)
    atoms[0] = data[at]
    atoms[1] = _value(data, at, properties, _CHARGE, 0).view(np.int8)
    atoms[2] = hydrogens + implicit
    atoms[3] = flags & _AROMATIC > 0
    atoms[5] = _value(data, at, properties, _HYBRID, _SP3)
    is_read &= data[place] == _BOND_TAG

    at, place = _walked(place + 1, num_bonds, limit, lambda at: _bond_length(data, at))
    flags = data[at + 2]
    has_order, has_stereo = flags & _ORDER > 0, flags & _STEREO > 0
    owner = np.repeat(np.arange(len(sizes)), num_bonds)
    is_read[owner[flags & ~np.uint8(_KNOWN_OF_BOND) > 0]] = False
    bonds = np.zeros((len(BOND), len(at)), np.int64)
    bonds[0], bonds[1] = data[at], data[at + 1]
    bonds[2] = np.where(has_order, data[at + 3], 1)
    bonds[4] = flags & _CONJUGATED > 0
    bonds[5] = np.where(has_stereo, data[_stereo_place(at, flags)], 0)
    is_read &= data[place] == _RING_TAG
    is_read[owner[(bonds[:2] >= sizes[owner]).any(axis=0)]] = False
    _add_rings(data, place, limit, sizes, atoms, bonds, owner, is_read)
    return Block(sizes, num_bonds, atoms, bonds), is_read


def _add_rings(
    data: np.ndarray,
    place: np.ndarray,
    limit: int,
    sizes: np.ndarray,
    atoms: np.ndarray,
    bonds: np.ndarray,
    owner: np.ndarray,
    is_read: np.ndarray,
) -> None:
    """Fill in which atoms and bonds are in rings; unset ``is_read`` where that fails.

    ``place``: where each molecule's rings begin. ``owner``: the molecule of each bond.
    """
    is_read &= (data[place + 2] | data[place + 3] | data[place + 4]) == 0
    num_rings = data[place + 1].astype(np.int64) * is_read
    at, place = _walked(place + 5, num_rings, limit, lambda at: 1 + data[at].astype(np.int64))
    is_read &= np.isin(data[place], _AFTER_RINGS)
    # From the largest ring to the smallest, which has the last word.
    order = np.argsort(data[at], kind="stable")[::-1]
    at = at[order]
    molecule = np.repeat(np.arange(len(sizes)), num_rings)[order]
    lengths = data[at].astype(np.int64)
    local = data[ranges(at + 1, at + 1 + lengths)].astype(np.int64)
    molecule = np.repeat(molecule, lengths)
    is_read[molecule[local >= sizes[molecule]]] = False
    ptr, squares = pointers(sizes), pointers(sizes**2)
    local = np.minimum(local, sizes[molecule] - 1)
    atoms[4, ptr[molecule] + local] = np.minimum(np.repeat(lengths, lengths), MOST_RING)
    # A bond is in a ring if its ends follow each other there: a square of pairs for each molecule.
    ends = np.cumsum(lengths) - 1
    following = np.empty_like(local)
    following[:-1] = local[1:]
    following[ends] = local[ends - lengths + 1]
    pairs = np.zeros(squares[-1] + 1, bool)
    pairs[squares[molecule] + local * sizes[molecule] + following] = True
    begin, end, size = bonds[0], bonds[1], sizes[owner]
    begin, end = np.minimum(begin, size - 1), np.minimum(end, size - 1)
    first, second = squares[owner] + begin * size + end, squares[owner] + end * size + begin
    bonds[3] = pairs[first] | pairs[second]


def _walked(
    place: np.ndarray, counts: np.ndarray, limit: int, length: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (where each record begins, where those of each molecule end).

    ``place`` [G]: where the first record of each molecule begins; ``counts`` [G]: how many it has;
    ``length(at)``: the bytes of the records that begin there.
    """
    order = np.argsort(-counts, kind="stable")
    at, starts = place[order], pointers(counts)
    found, first = np.empty(starts[-1], np.int64), starts[:-1][order]
    left = np.searchsorted(-counts[order], -np.arange(counts.max(initial=0)), side="left")
    for number, many in enumerate(left.tolist()):
        here = at[:many]
        found[first[:many] + number] = here
        at[:many] = np.minimum(here + length(here), limit)
    end = np.empty_like(at)
    end[order] = at
    return found, end


def _value(
    data: np.ndarray, at: np.ndarray, properties: np.ndarray, bit: int, usual: int
) -> np.ndarray:
    """Return a property of atoms, uint8, ``usual`` where it is not written."""
    before = _BITS[properties & (bit - 1)]
    return np.where(properties & bit > 0, data[at + 6 + before], np.uint8(usual))


def _stereo_place(at: np.ndarray, flags: np.ndarray) -> np.ndarray:
    return at + 3 + _BITS[flags & (_ORDER | _DIRECTION)]


def _bond_length(data: np.ndarray, at: np.ndarray) -> np.ndarray:
    flags = data[at + 2]
    length = 3 + _BITS[flags & (_ORDER | _DIRECTION)]
    has_stereo = np.flatnonzero(flags & _STEREO)
    if len(has_stereo):  # the stereo itself, and the atoms that it refers to
        length[has_stereo] += 2 + data[at[has_stereo] + length[has_stereo] + 1].astype(np.int64)
    return length


_TEST = (
    "CC(=O)Oc1ccccc1C(=O)[O-]",
    "C[N+](C)(C)C/C=C/C#N.[Cl-]",
    "OC1CC2CC1CC2",
    "F[C@H](Cl)Br",
    "c1ccc2[nH]ccc2c1",
    "[13CH4]",
    "*C(=O)N->[Pt]",
    "C1CCCCCCCCC1S(=O)(=O)F",
    "[CH3:1]/C=C\\C[B-](F)(F)F",
)


@lru_cache(maxsize=1)
def _is_known_form() -> bool:
    """Return whether RDKit writes molecules in the form that is read here."""
    from rdkit import Chem

    binaries = [Chem.MolFromSmiles(text).ToBinary(0) for text in _TEST]
    block, is_read = _decoded(binaries)
    found, expected = block.take(np.flatnonzero(is_read)), _asked(binaries)
    expected = expected.take(np.flatnonzero(is_read))
    pairs = zip(found, expected, strict=True)
    return bool(is_read.any()) and all(np.array_equal(one, two) for one, two in pairs)
