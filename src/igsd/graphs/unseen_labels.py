"""``warn_of_unseen_labels``: node labels that a model has not met are no silent matter."""

from __future__ import annotations

import numpy as np

from igsd.errors import warn_user
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.wording import counted, enumerated

_MOST_NAMES = 8


def warn_of_unseen_labels(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn where nodes of ``graphs`` have labels that ``features`` has not seen in training.

    Such a label has no column, so the node counts as one without a label. Nodes without a label
    are not counted here. When no label at all is known, the sets are probably labelled in different
    ways (symbols and numbers, say), and the warning says so.
    """
    if graphs.node_labels is None or "label" not in features.parts:
        return
    known = set(features.label_names)
    unknown = [code for code, name in enumerate(graphs.node_label_names) if name not in known]
    if not unknown:
        return
    counts = np.bincount(
        graphs.node_labels[graphs.node_labels >= 0], minlength=len(graphs.node_label_names)
    )
    names = [graphs.node_label_names[code] for code in unknown if counts[code]]
    unseen, labelled = int(counts[unknown].sum()), int(counts.sum())
    if not unseen:
        return
    if unseen < labelled:
        text = (
            f"{unseen} of {counted(graphs.num_nodes, 'node')} of {graphs.name!r} have labels that "
            f"the model has not seen ({enumerated(names, _MOST_NAMES)}): they count as no label."
        )
    else:
        text = (
            f"Not one node label of {graphs.name!r} was seen in training: it has "
            f"{enumerated(names, _MOST_NAMES)}, the model knows "
            f"{enumerated(features.label_names, _MOST_NAMES)}. All nodes count as without a label, "
            "and vectors made so are hardly of use. Are the labels written in another way?"
        )
    warn_user(text)
