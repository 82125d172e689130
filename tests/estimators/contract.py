"""What the contract tests of all estimators share: small estimators, checks and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
from sklearn.utils import estimator_checks as checks

from igsd import IGSD
from igsd.baselines.histogram import LabelDegreeHistogram
from tests.small_graphs import TINY

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "IGSD": lambda: IGSD(**(TINY | {"epochs": 1})),
    "IGSD gcn both": lambda: IGSD(
        **(TINY | {"epochs": 1, "encoder": "gcn", "embed_views": "both", "readout": "mean+max"})
    ),
    "untrained": lambda: IGSD(**(TINY | {"epochs": 0})),
    "histogram": lambda: LabelDegreeHistogram(degree_cap=5),
}
"""Every estimator of the package, as small as it gets. A new one is a line here."""

SHARED_CHECKS = [
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_get_params_invariance,
    checks.check_set_params,
    checks.check_estimator_repr,
    checks.check_estimator_cloneable,
    checks.check_estimator_tags_renamed,
    checks.check_valid_tag_types,
    checks.check_mixin_order,
    checks.check_do_not_raise_errors_in_init_or_set_params,
]
"""What scikit-learn asks of every estimator."""

SKLEARN_CHECKS = [*SHARED_CHECKS, checks.check_estimators_unfitted]
"""And of those that need no labels."""


def networkx_graphs(num_graphs: int = 12) -> list[nx.Graph]:
    """Return rings and stars in turn, with labels on the nodes."""
    made = []
    for i in range(num_graphs):
        graph = nx.cycle_graph(4 + i % 3) if i % 2 else nx.star_graph(3 + i % 4)
        nx.set_node_attributes(graph, {v: "CN"[v % 2] for v in graph}, "label")
        made.append(graph)
    return made
