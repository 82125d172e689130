"""``diffusion_view``: the diffusion of every graph of a set, exact or by series, as one table."""

from __future__ import annotations

from itertools import chain

import numpy as np

from igsd.errors import ParameterError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.batched import exact_pieces
from igsd.views.pieces import join_pieces
from igsd.views.series import series_piece
from igsd.views.spec import DIFFUSION_KINDS, ViewSpec


def diffusion_view(graphs: GraphSet, spec: ViewSpec) -> Adjacency:
    """Return the sparsified S of every graph: weights in float32 over the same nodes.

    Implements Eq. diffusion. Graphs up to ``spec.exact_limit`` nodes are solved exactly; larger
    ones by a truncated series, every entry within ``spec.tolerance`` of the exact one. Edge
    labels, attributes and weights are not used, and ``graphs`` is left as it is. S is symmetric
    and holds the diagonal; a one-node graph becomes [[1.0]].

    Raises ``ConfigError`` when ``spec`` is not a diffusion.
    """
    if not spec.is_diffusion:
        raise ParameterError(
            "kind",
            "ViewSpec",
            f"must be one of {', '.join(DIFFUSION_KINDS)} for a diffusion view. "
            f"Got {spec.kind!r} instead. Use edge_drop for random edge removal, bond_type_view for "
            "one kind of bond.",
        )
    node_ptr = np.asarray(graphs.node_ptr)
    is_large = np.diff(node_ptr) > spec.exact_limit
    exact = exact_pieces(graphs.adjacency, node_ptr, np.flatnonzero(~is_large), spec)
    large = (
        series_piece(graphs.adjacency, node_ptr, int(graph), spec)
        for graph in np.flatnonzero(is_large)
    )
    return join_pieces(chain(exact, large), node_ptr)
