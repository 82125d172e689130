"""The folds that the benchmark times are those of the protocol, on both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.svm import grid_search_side, ours_side
from igsd.evaluation.cross_validation import cross_validate
from igsd.graphs.datasets import load_dataset


@pytest.mark.slow
@pytest.mark.parametrize("standardise", [True, False])
def test_both_sides_are_the_protocol(tmp_path: Path, standardise: bool) -> None:
    graphs = load_dataset("MUTAG", allow_download=False)
    y = np.asarray(graphs.classes)
    X = np.random.default_rng(0).normal(size=(len(y), 3)).astype(np.float32) + y[:, None]
    path = tmp_path / "X.npy"
    np.save(path, X)
    given = {"data": "MUTAG", "path": str(path), "standardise": standardise, "folds": 3}
    ours = ours_side(**given)()
    assert ours == grid_search_side(**given)()
    whole = cross_validate(X, y, seed=0, standardise="yes" if standardise else "no")
    assert tuple(fold["C"] for fold in ours) == whole.C[:3]
