"""What the contract tests of all estimators share: small estimators, checks and graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
from sklearn.utils import estimator_checks as checks
from torch import Tensor, nn

from igsd.batches.batch import Batch
from tests.small_graphs import TINY

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


def tiny(method: Any, **changes: Any) -> Any:
    """Return an estimator that trains at once: with the settings of ``TINY`` that it has."""
    return method(**(method.config_class.known(TINY) | changes))


class MeanEncoder(nn.Module):
    """An encoder of one's own: a linear map of the mean over nodes and neighbours.

    ``with_nodes`` and ``node_dim`` let it take part where nodes are compared with graphs.
    """

    def __init__(self, in_dim: int, out_dim: int = 5) -> None:
        super().__init__()
        self.out_dim, self.node_dim = out_dim, in_dim
        self.linear = nn.Linear(in_dim, out_dim)

    def forward(self, batch: Batch) -> Tensor:
        return self.with_nodes(batch)[1]

    def with_nodes(self, batch: Batch) -> tuple[Tensor, Tensor]:
        x = batch.x + batch.adjacency.multiply(batch.x)
        sums = x.new_zeros(batch.num_graphs, x.shape[1]).index_add(0, batch.batch, x)
        return x, self.linear(sums / (batch.ptr[1:] - batch.ptr[:-1]).unsqueeze(1))
