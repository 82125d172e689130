from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rdkit")

from rdkit import Chem
from rdkit.Chem import Descriptors

from igsd.graphs.descriptors import descriptor_names, descriptors, fragment_counts, signed_log
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
