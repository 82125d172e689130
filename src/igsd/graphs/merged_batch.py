"""``merged``: batches in which one row stands for alike nodes, where that saves work."""

from __future__ import annotations

from igsd.graphs.adjacency import Adjacency
from igsd.graphs.alike_nodes import NodeGroups, alike_nodes, merge_adjacency, merge_features
from igsd.graphs.batch import Collator


def merged(collator: Collator, edges: Adjacency) -> tuple[Collator, Adjacency, NodeGroups | None]:
    """Return (what makes batches, their edges, the groups), one row for each group of alike nodes.

    Only for encoders that read the batch's counts. Where too few nodes are alike, what was given
    comes back, and None for the groups.
    """
    groups = alike_nodes(edges, collator.node_ptr, collator.features)
    if not groups.are_worth_it:
        return collator, edges, None
    features = merge_features(collator.features, groups)
    made = Collator(groups.node_ptr, features, collator.device, groups.counts)
    return made, merge_adjacency(edges, collator.node_ptr, groups), groups
