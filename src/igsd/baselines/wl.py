"""``WLKernel``: the Weisfeiler-Lehman subtree kernel (Shervashidze et al., 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.baselines.kernel_base import PatternKernel, PatternKernelConfig
from igsd.baselines.node_keys import key_source, node_keys
from igsd.baselines.patterns import Patterns
from igsd.baselines.wl_colours import wl_colours
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.settings import setting


@dataclass(frozen=True)
class WLConfig(PatternKernelConfig):
    """The settings of the Weisfeiler-Lehman kernels."""

    iterations: int = setting(5, "method", "height of the largest subtree", low=0)


@settings_as_parameters(WLConfig)
class WLKernel(PatternKernel):
    """Compares graphs by how often each subtree of height 0 to ``iterations`` stands in them.

    k(G, H) = sum over levels t and colours c of count_t(c, G) * count_t(c, H). Colours start as the
    node labels, or as degrees where there are none. Nothing is drawn: ``random_state`` is there
    because every method has one.
    """

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs)
        self._learn_columns(graphs)

    def _represent(self, graphs: GraphSet) -> Patterns:
        keys = node_keys(graphs, self.state_["source"])
        colours = wl_colours(graphs, keys, self.config_.iterations)
        graph = np.tile(graphs.graph_of_node(), len(colours))
        return Patterns.count(graph, colours.ravel(), len(graphs))
