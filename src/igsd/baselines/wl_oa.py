"""``WLOptimalAssignment``: the WL optimal assignment kernel (Kriege et al., 2016)."""

from __future__ import annotations

from igsd.baselines.patterns import Patterns
from igsd.baselines.wl import WLKernel
from igsd.graphs.graphset import GraphSet


class WLOptimalAssignment(WLKernel):
    """Compares graphs by the best one-to-one assignment of their nodes.

    Two nodes are as similar as the number of Weisfeiler-Lehman levels on which their colours are
    equal. Colours form a tree, on which the best assignment is the intersection of histograms:
    k(G, H) = sum over levels t and colours c of min(count_t(c, G), count_t(c, H)). A minimum of two
    counts is the product of their unary codes, so the kernel has an explicit map too: the patterns
    'colour c at least once', 'at least twice' and so on. Parameters as in ``WLKernel``.
    """

    def _represent(self, graphs: GraphSet) -> Patterns:
        return super()._represent(graphs).unary()
