from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.wl_oa import WLOptimalAssignment
from tests.baselines.test_wl import two_paths
from tests.reference.grakel_graphs import to_grakel
from tests.small_graphs import make_graphs


def test_optimal_assignment_by_hand() -> None:
    # Level 0: min(2, 1) + min(1, 1) = 2; level 1: 1; level 2: 0. A graph has itself on each level.
    kernel = WLOptimalAssignment(iterations=2, normalise=False).fit(two_paths())
    assert kernel.kernel(two_paths()).tolist() == [[9, 3], [3, 6]]


def test_assignment_equals_grakel() -> None:
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(30, seed=1)
    theirs = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=3).fit_transform(to_grakel(graphs))
    ours = WLOptimalAssignment(iterations=3, normalise=False).fit(graphs)
    np.testing.assert_array_equal(ours.kernel(graphs), theirs)
