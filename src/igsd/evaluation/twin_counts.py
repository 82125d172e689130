"""``count_twins``: how many graphs of a set are indistinguishable, and what that costs a score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.evaluation.twins import twin_groups
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class Twins:
    """Figures of the groups that ``twin_groups`` finds.

    ``distinct`` groups, ``shared`` graphs that are not alone in theirs, ``largest`` group.
    ``ceiling``: the accuracy of whoever knows the most frequent class of every group; None where a
    class is missing.
    """

    graphs: int
    distinct: int
    shared: int
    largest: int
    ceiling: float | None


def count_twins(graphs: GraphSet) -> Twins:
    """Return the figures of a set's twins, by colour refinement with its node labels."""
    groups = twin_groups(graphs)
    sizes = np.bincount(groups)
    return Twins(
        graphs=len(graphs),
        distinct=len(sizes),
        shared=int(sizes[sizes > 1].sum()),
        largest=int(sizes.max()),
        ceiling=_ceiling(graphs, groups),
    )


def _ceiling(graphs: GraphSet, groups: np.ndarray) -> float | None:
    codes = graphs.classes
    if codes is None or (codes < 0).any():
        return None
    width = len(graphs.class_names)
    table = np.bincount(groups * width + codes, minlength=(int(groups.max()) + 1) * width)
    return float(table.reshape(-1, width).max(axis=1).sum() / len(graphs))
