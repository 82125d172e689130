from __future__ import annotations

from igsd.baselines.graphlet import GraphletKernel
from igsd.baselines.graphlet_counts import GRAPHLETS
from tests.baselines.test_graphlet_counts import dense_graphs


def test_columns() -> None:
    kernel = GraphletKernel(normalise=False).fit(dense_graphs())
    names = list(kernel.get_feature_names_out())
    assert names == list(GRAPHLETS)
    row = kernel.transform(dense_graphs())[0]
    assert row[names.index("3 nodes: triangle")] == 20
    assert row[names.index("4 nodes: clique")] == 15
    assert row.sum() == 35
