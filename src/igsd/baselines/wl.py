"""``WLKernel``: the Weisfeiler-Lehman subtree kernel (Shervashidze et al., 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from igsd.baselines.kernel_base import PatternKernel
from igsd.baselines.node_keys import key_source, node_keys
from igsd.baselines.patterns import Patterns
from igsd.baselines.setting_rules import Rule
from igsd.baselines.wl_colours import wl_colours
from igsd.graphs.graphset import GraphSet


class WLKernel(PatternKernel):
    """Compares graphs by how often each subtree of height 0 to ``iterations`` stands in them.

    k(G, H) = sum over levels t and colours c of count_t(c, G) * count_t(c, H). Colours start as the
    node labels, or as degrees where there are none. Nothing is drawn: ``random_state`` is there
    because every method has one.
    """

    RULES: ClassVar[Mapping[str, Rule]] = {
        "iterations": Rule(int, minimum=0),
        "normalise": Rule(bool),
        "max_features": PatternKernel.MAX_FEATURES,
    }
    COLUMN = "subtree"

    def __init__(
        self,
        *,
        iterations: int = 5,
        normalise: bool = True,
        max_features: int = 4096,
        random_state: int = 0,
    ) -> None:
        self.iterations = iterations
        self.normalise = normalise
        self.max_features = max_features
        self.random_state = random_state

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs, type(self).__name__)
        self._learn_columns(graphs)

    def _represent(self, graphs: GraphSet) -> Patterns:
        keys = node_keys(graphs, self.state_["source"])
        colours = wl_colours(graphs, keys, self.settings_.iterations)
        graph = np.tile(graphs.graph_of_node(), len(colours))
        return Patterns.count(graph, colours.ravel(), len(graphs))
