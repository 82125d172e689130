"""Weisfeiler-Lehman kernels, with the colours of all nodes of a set as 64-bit hashes.

A colour is a hash of the node's last colour and of the multiset of its neighbours' last colours, so
equal subtrees have equal colours in every set, without a dictionary that grows during training. Two
different subtrees share a hash with a probability of about (number of colours)^2 / 2^65, that is
1e-8 for a million of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.baselines.kernels.base import PatternKernel, PatternKernelConfig
from igsd.baselines.kernels.patterns import Keys, Patterns, key_source, node_keys
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.colours import refined_keys, splitmix64
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import setting


def wl_colours(graphs: GraphSet, keys: Keys, iterations: int) -> Keys:
    """Return the colours of every node at every level, [iterations + 1, N] uint64.

    Level 0 is the keys [N] themselves, level t describes the subtree of height t.
    """
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    levels = np.empty((iterations + 1, graphs.num_nodes), dtype=np.uint64)
    levels[0] = keys
    for t in range(iterations):
        neighbours = splitmix64(levels[t])[columns]
        levels[t + 1] = refined_keys(levels[t], neighbours, graphs.adjacency.row_ptr)
    return levels


@dataclass(frozen=True)
class WLConfig(PatternKernelConfig):
    """The settings of the Weisfeiler-Lehman kernels."""

    iterations: int = setting(5, "method", "height of the largest subtree", low=0)


@settings_as_parameters(WLConfig)
class WLKernel(PatternKernel):
    """Compares graphs by how often each subtree of height 0 to ``iterations`` occurs in them.

    k(G, H) = sum over levels t and colours c of count_t(c, G) * count_t(c, H). Colours start as the
    node labels, or as degrees if there are none. Deterministic: ``random_state`` exists because
    every method has one.
    """

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs)
        self._learn_columns(graphs)

    def _represent(self, graphs: GraphSet) -> Patterns:
        keys = node_keys(graphs, self.state_["source"])
        colours = wl_colours(graphs, keys, self.config_.iterations)
        graph = np.tile(graphs.graph_of_node(), len(colours))
        return Patterns.count(graph, colours.ravel(), len(graphs))


@settings_as_parameters(WLConfig)
class WLOptimalAssignment(WLKernel):
    """Compares graphs by the best one-to-one assignment of their nodes.

    Two nodes are as similar as the number of Weisfeiler-Lehman levels on which their colours are
    equal. Colours form a tree, on which the best assignment is the intersection of histograms:
    k(G, H) = sum over levels t and colours c of min(count_t(c, G), count_t(c, H)). A minimum of two
    counts is the product of their unary codes, so the kernel has an explicit map too: the patterns
    'colour c at least once', 'at least twice' and so on.
    """

    def _represent(self, graphs: GraphSet) -> Patterns:
        return super()._represent(graphs).unary()
