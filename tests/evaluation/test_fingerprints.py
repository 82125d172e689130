from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.evaluation.fingerprints import (
    fit_logistic,
    fit_ridge,
    has_smiles,
    morgan_fingerprints,
)


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
    with pytest.raises(DataError, match="'ethanol' is no molecule"):
        morgan_fingerprints(["ethanol"])
    assert has_smiles(["CCO", "anything"])
    assert not has_smiles(["ethanol"])
    assert not has_smiles(None)
    assert not has_smiles([])


def test_linear_models_learn_a_bit() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 6)).astype(np.float32)
    assert (fit_logistic(X, X[:, 2].astype(int)).predict(X) == X[:, 2]).all()
    for few in (1, 2):
        assert np.isfinite(fit_ridge(X[:few], X[:few, 1]).predict(X)).all()
    assert np.abs(fit_ridge(X, 3 * X[:, 1] - 1).predict(X) - (3 * X[:, 1] - 1)).max() < 0.1


def test_a_class_with_one_graph() -> None:
    X = np.eye(4, dtype=np.float32)
    assert fit_logistic(X, np.array([0, 0, 0, 1])).predict_proba(X).shape == (4, 2)
