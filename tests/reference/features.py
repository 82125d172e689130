"""Node features as plain loops."""

from __future__ import annotations

import numpy as np

from igsd.batches.features import FeatureMap
from igsd.graphs.graphset import GraphSet


def node_vectors(features: FeatureMap, graphs: GraphSet) -> np.ndarray:
    """Return the vector of every node, [N, dim]: one-hot parts first, numbers last."""
    rows = []
    for v in range(graphs.num_nodes):
        row: list[float] = []
        if "label" in features.parts:
            assert graphs.node_labels is not None
            code = int(graphs.node_labels[v])
            name = graphs.node_label_names[code] if code >= 0 else None
            row += [float(known == name) for known in features.label_names]
        if "degree" in features.parts:
            degree = int(graphs.adjacency.row_ptr[v + 1] - graphs.adjacency.row_ptr[v])
            capped = min(degree, features.degree_cap)
            row += [float(capped == d) for d in range(features.degree_cap + 1)]
        if "constant" in features.parts:
            row.append(1.0)
        if "attributes" in features.parts:
            assert graphs.node_attributes is not None
            for c, value in enumerate(graphs.node_attributes[v]):
                row.append((value - features.attribute_mean[c]) / features.attribute_scale[c])
        rows.append(row)
    return np.array(rows)
