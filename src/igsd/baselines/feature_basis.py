"""Finite coordinates for a kernel: one-hot labels, and the main directions of some samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from igsd.baselines.node_keys import Keys

_POSITIVE = 1e-6


def one_hot(keys: Keys, known: Keys) -> Any:
    """Return a sparse row per key [N, len(known)] with a 1 in its column, none for an unknown key.

    ``known`` is ascending.
    """
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    row = np.flatnonzero(known[place] == keys)
    entries = (np.ones(len(row)), (row, place[row]))
    return sparse.coo_array(entries, shape=(len(keys), len(known))).tocsr()


def feature_basis(K: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Return B [n, <= dim] so that k(x, samples) B are coordinates of x, for the kernel K [n, n].

    Coordinates along the ``dim`` largest eigenvectors of K, those with eigenvalues that are
    positive; K B B' K is the best approximation of K of that rank.
    """
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    values, vectors = values[::-1][:dim], vectors[:, ::-1][:, :dim]
    kept = values > _POSITIVE * max(float(values[0]), _POSITIVE)
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def inverse_root(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K^(-1/2) of a kernel [n, n], with eigenvalues that are zero to rounding left out."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept = values > _POSITIVE * max(float(values[-1]), _POSITIVE)
    kept_vectors = vectors[:, kept]
    return (kept_vectors / np.sqrt(values[kept])) @ kept_vectors.T
