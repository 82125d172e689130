"""Morgan fingerprints with a linear model: what a chemist would do with few labelled molecules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError

MORGAN = "morgan"
"""What the row of fingerprints is called in tables."""

RADIUS, NUM_BITS = 2, 2048
_STRENGTHS = np.logspace(-4, 2, 7)
_FOLDS = 5


def has_smiles(names: Sequence[str] | None) -> bool:
    """Say whether graphs are named by SMILES, judged by the first of them, and RDKit is there."""
    try:
        return bool(names) and len(morgan_fingerprints(list(names or ())[:1])) == 1
    except (ConfigError, DataError):
        return False


def morgan_fingerprints(smiles: Sequence[str]) -> np.ndarray:
    """Return the Morgan fingerprints of molecules, radius 2, [G, 2048] float32 of 0 and 1.

    A molecule in which only a valence is impossible is taken as it is written. Raises ``DataError``
    for what is no molecule, ``ConfigError`` without RDKit.
    """
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdFingerprintGenerator
    except ImportError as error:
        raise ConfigError('Fingerprints need RDKit: pip install "igsd[chem]".') from error
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=NUM_BITS)
    rows = np.zeros((len(smiles), NUM_BITS), np.float32)
    with rdBase.BlockLogs():
        for row, text in zip(rows, smiles, strict=True):
            row[:] = generator.GetFingerprintAsNumPy(_molecule(Chem, text))
    return rows


def fit_logistic(X: np.ndarray, y: np.ndarray) -> Any:
    """Return a logistic regression whose strength was chosen by cross-validation inside X, y.

    ``X`` [n, d], ``y`` [n] classes. A class with a single graph leaves nothing to choose by: then
    the strength is 1.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    model = LogisticRegression(max_iter=1000)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return model.fit(X, y)
    grid = {"C": _STRENGTHS}
    return GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss").fit(X, y)


def fit_ridge(X: np.ndarray, y: np.ndarray) -> Any:
    """Return a ridge regression of numbers ``y`` [n], its penalty chosen inside X, y.

    A single number leaves nothing to choose by: then the penalty is 1.
    """
    from sklearn.linear_model import Ridge, RidgeCV

    folds = min(_FOLDS, len(y))
    if folds < 2:
        return Ridge().fit(X, y)
    scoring = "neg_mean_absolute_error"
    return RidgeCV(alphas=1.0 / _STRENGTHS, scoring=scoring, cv=folds).fit(X, y)


def _molecule(Chem: Any, text: str) -> Any:
    """Return RDKit's molecule; raises ``DataError`` for a text that is none."""
    molecule = Chem.MolFromSmiles(text)
    if molecule is not None:
        return molecule
    molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None:
        raise DataError(f"{text!r} is no molecule in SMILES, so it has no fingerprint.")
    molecule.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(molecule)
    return molecule
