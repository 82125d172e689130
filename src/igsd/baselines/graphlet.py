"""``GraphletKernel``: the graphlet kernel with exact counts of all graphlets of 3 and 4 nodes."""

from __future__ import annotations

import numpy as np

from igsd.baselines.graphlet_counts import GRAPHLETS, graphlet_counts
from igsd.baselines.kernel_base import KernelConfig, VectorKernel
from igsd.baselines.limits import check_time
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.graphset import GraphSet


@settings_as_parameters(KernelConfig)
class GraphletKernel(VectorKernel):
    """Compares graphs by how often each small graph is an induced subgraph of them.

    After Shervashidze et al. (2009), without their sampling: all fifteen graphs of three and four
    nodes, connected or not, are counted exactly, by products of adjacency matrices. Node labels are
    not read. GraKeL samples or enumerates graphlets too, but its counts depend on the order of the
    nodes (0.1.11). Nothing is drawn: ``random_state`` is there because every method has one.
    """

    def _fit(self, graphs: GraphSet) -> None:
        """Learn nothing: what a graphlet is does not depend on the graphs."""

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the graphlets."""
        super().get_feature_names_out()
        return np.array(GRAPHLETS, dtype=object)

    def _represent(self, graphs: GraphSet) -> np.ndarray:
        counts = np.empty((len(graphs), len(GRAPHLETS)))
        for g in range(len(graphs)):
            check_time("the graphlet kernel")
            counts[g] = graphlet_counts(graphs, g)
        return counts

    @property
    def n_features_out_(self) -> int:
        """The number of graphlets."""
        return len(GRAPHLETS)
