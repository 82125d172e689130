from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("rdkit")

from rdkit import Chem
from rdkit.Chem import Descriptors

from igsd.graphs import descriptors as descriptor_module
from igsd.graphs.descriptors import (
    LARGE,
    descriptor_names,
    descriptors,
    fragment_counts,
    signed_log,
)
from tests.graphs.test_chemistry import DRUGS


@pytest.mark.parametrize("smiles", [*DRUGS, "C", "[Na+].[Cl-]", "[Fe]"])
def test_equal_rdkit(smiles: str) -> None:
    ours, expected = descriptors(Chem.MolFromSmiles(smiles)), []
    functions, molecule = dict(Descriptors.descList), Chem.MolFromSmiles(smiles)
    for name in descriptor_names():
        try:
            expected.append(functions[name](molecule))
        except (ValueError, RuntimeError, ZeroDivisionError):
            expected.append(np.nan)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "smiles",
    ["CC(=O)Oc1ccccc1" * 40, "C1CC(=O)NC1C#N." * 40 + "[Na+].[Cl-]", "N->[Fe]" + "CC=C" * 110],
)
def test_large_molecules_equal_rdkit(smiles: str) -> None:
    molecule, functions = Chem.MolFromSmiles(smiles), dict(Descriptors.descList)
    assert molecule.GetNumAtoms() > LARGE
    found = dict(zip(descriptor_names(), descriptors(molecule), strict=True))
    for name in ("BalabanJ", "BertzCT", "MaxEStateIndex", "EState_VSA3", "VSA_EState5", "TPSA"):
        expected = functions[name](Chem.MolFromSmiles(smiles))
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-9, err_msg=name)
    assert np.isnan(found["Ipc"])


# RDKit's matrix of distances took half a minute, three times over, for 2,000 atoms.
def test_thousands_of_atoms_take_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    molecule = Chem.MolFromSmiles("NCC(=O)" * 500)
    started = time.process_time()
    known = np.isfinite(descriptors(molecule)).sum()
    assert time.process_time() - started < 10
    monkeypatch.setattr(descriptor_module, "MOST_ATOMS", 1999)
    del molecule._igsd_estate
    assert np.isfinite(descriptors(molecule)).sum() < known - 20


def test_fragments_are_counted() -> None:
    counts = fragment_counts(Chem.MolFromSmiles("CCCCCCCC"), 64)
    assert counts.dtype == np.uint8
    assert counts.shape == (64,)
    assert counts.max() > 1


def test_signed_log() -> None:
    values = signed_log(np.array([-1e30, -1.0, 0.0, np.e - 1, np.nan]))
    np.testing.assert_allclose(values[2:4], [0.0, 1.0], rtol=1e-6)
    assert values[0] == -signed_log(np.array([1e30]))[0]
    assert np.isnan(values[4])
