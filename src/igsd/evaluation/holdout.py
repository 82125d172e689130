"""Splits of molecules into a training and a test part: at random, or by their scaffolds.

A fifth of the molecules is the test part. The labels that a method may learn from are the first
ones of a random order of the training part, so that fewer labels are a subset of more. Two of each
class come first: nothing can be learned of a class without members.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from igsd.errors import DataError, counted, need
from igsd.evaluation.inputs import IntArray
from igsd.graphs.molecule import molecule_of

TEST_SHARE = 0.2

_FIRST_OF_CLASS = 2


class Holdout(NamedTuple):
    """Positions of the training part in random order, and of the test part, ascending."""

    train: IntArray
    test: IntArray


def murcko_scaffolds(smiles: Sequence[str]) -> tuple[str, ...]:
    """Return the Murcko scaffold of each molecule as SMILES: its rings and what links them.

    It is empty for molecules without a ring, which thus belong together. Stereochemistry does not
    count. Raises ``DataError`` for text that is not SMILES, ``ConfigError`` without RDKit.
    """
    need("chem", "rdkit", "A scaffold")
    from rdkit import Chem, rdBase
    from rdkit.Chem.Scaffolds import MurckoScaffold

    found = []
    with rdBase.BlockLogs():
        for text in smiles:
            molecule = molecule_of(text)
            if molecule is None:
                raise DataError(f"{text!r} is not a molecule in SMILES: it has no scaffold.")
            try:
                core = MurckoScaffold.GetScaffoldForMol(molecule)
            except (ValueError, RuntimeError):  # an impossible valence: no other shares its rings
                core = molecule
            found.append(Chem.MolToSmiles(core, isomericSmiles=False))
    return tuple(found)


def random_holdout(positions: IntArray, seed: int) -> Holdout:
    """Return a fifth of ``positions``, at random, as the test part, and the others."""
    shuffled = np.random.default_rng([seed, 7]).permutation(positions)
    num_test = _num_test(len(positions))
    return Holdout(shuffled[num_test:], np.sort(shuffled[:num_test]))


def scaffold_holdout(positions: IntArray, groups: Sequence[str], seed: int) -> Holdout:
    """Return a test part of whole groups of ``positions``; ``groups``: the scaffold of each.

    Groups are taken in random order while they fit. One that is larger than half of the test part
    is always trained on, as is usual, if there are others: it would be most of the test. Raises
    ``DataError`` if nothing is left to test on.
    """
    codes = np.unique(np.asarray(groups, dtype=object).astype(str), return_inverse=True)[1]
    sizes, num_test = np.bincount(codes), _num_test(len(positions))
    rng = np.random.default_rng([seed, 8])
    taken, room = np.zeros(len(sizes), bool), num_test
    is_small = sizes <= num_test / 2
    for group in rng.permutation(np.flatnonzero(is_small if is_small.any() else sizes <= num_test)):
        if sizes[group] <= room:
            taken[group] = True
            room -= sizes[group]
    is_test = taken[codes]
    if not is_test.any():
        raise DataError(
            f"No scaffold is rare enough to be tested on: the {len(positions)} labelled molecules "
            f"have {counted(len(sizes), 'scaffold')}. Use --splits random."
        )
    return Holdout(rng.permutation(positions[~is_test]), np.sort(positions[is_test]))


def _num_test(count: int) -> int:
    if count < 3:
        raise DataError(
            f"A split needs at least 3 labelled molecules, one to test on. Got {count}."
        )
    return min(max(round(TEST_SHARE * count), 1), count - 2)


def labelled_part(train: IntArray, y: np.ndarray, num_labels: int, *, classes: bool) -> IntArray:
    """Return the ``num_labels`` positions of ``train`` whose labels y are shown; 0: all.

    Positions without a label (NaN) are passed over. Raises ``DataError`` if there are too few.
    """
    known = train[~np.isnan(y[train])]
    if num_labels > len(known):
        raise DataError(
            f"The training part has {counted(len(known), 'label')}, fewer than the {num_labels} "
            "that are to be shown. Ask for fewer, or for all."
        )
    if classes:
        first = [known[y[known] == code][:_FIRST_OF_CLASS] for code in np.unique(y[known])]
        known = np.concatenate([*_turns(first), known[~np.isin(known, np.concatenate(first))]])
    return known[:num_labels] if num_labels else known


def _turns(lists: Sequence[IntArray]) -> list[IntArray]:
    """Return the first of each list, then the second of each, so that classes take turns."""
    return [np.array([one[i] for one in lists if i < len(one)]) for i in range(_FIRST_OF_CLASS)]


def index_text(positions: IntArray) -> str:
    """Return ascending positions as text, consecutive ones as a range: ``0-3 7 9-10``."""
    if not len(positions):
        return ""
    starts = np.flatnonzero(np.diff(positions, prepend=positions[0] - 2) != 1)
    ends = np.append(starts[1:], len(positions)) - 1
    pairs = zip(positions[starts].tolist(), positions[ends].tolist(), strict=True)
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in pairs)
