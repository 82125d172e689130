from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.references.morgan import (
    ForestOnDescriptors,
    MorganFingerprints,
    has_smiles,
    morgan_fingerprints,
)
from igsd.errors import DataError
from tests.small_graphs import make_graphs


def test_equal_molecules_have_equal_bits() -> None:
    pytest.importorskip("rdkit")
    rows = morgan_fingerprints(["CCO", "OCC", "c1ccccc1", "C[N+]1(C)CCC[C+](O)(C)C1"])
    assert rows.shape == (4, 2048)
    np.testing.assert_array_equal(rows[0], rows[1])
    assert set(np.unique(rows)) == {0.0, 1.0}
    assert rows[2].sum() == 3  # an aromatic carbon within 0, 1 and 2 bonds
    assert rows[3].any()  # a carbon with five bonds is still a molecule


def test_names_that_are_no_smiles() -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match="'ethanol' is not a molecule"):
        morgan_fingerprints(["ethanol"])
    assert has_smiles(["CCO", "anything"])
    assert not has_smiles(["ethanol"])
    assert not has_smiles(None)
    assert not has_smiles([])


def test_an_estimator_of_named_graphs() -> None:
    pytest.importorskip("rdkit")
    graphs = make_graphs(2, graph_names=("CCO", "CC"))
    rows = MorganFingerprints().fit(graphs).transform(graphs)
    np.testing.assert_array_equal(rows, morgan_fingerprints(["CCO", "CC"]))
    np.testing.assert_array_equal(rows, ForestOnDescriptors().fit(graphs).transform(graphs))
    with pytest.raises(DataError, match="have no names"):
        MorganFingerprints().fit(make_graphs(2))
