"""Views of molecules: one diffusion per kind of bond, the others ignored.

A molecule has K views. View k is Eq. diffusion over the bonds of the k-th kind alone, the commonest
kind first; atoms without such a bond stay by themselves (S_ii = 1). For an encoder that tells
links apart, the entries of S take the place of the molecule's links: each counts as a bond of that
kind, and its weight S_ij multiplies the message that passes over it. A molecule without any bond of
a kind is, in that view, a set of atoms without links; so a rare kind is a harsh view, and how many
views to use is a setting, to be chosen by validation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from igsd.errors import ConfigError, DataError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet, Name
from igsd.views.cache import cached_view
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view


def bond_types(graphs: GraphSet, num_views: int) -> tuple[Name, ...]:
    """Return the ``num_views`` commonest kinds of bonds, the commonest first.

    Raises ``DataError`` for graphs without edge labels, and ``ConfigError`` where there are fewer
    kinds than views asked for.
    """
    if graphs.edge_labels is None:
        raise DataError(
            f"Views by kind of bond need edge labels, but {graphs.name!r} has none. Use the view "
            "'ppr', which needs none."
        )
    known = graphs.edge_labels[graphs.edge_labels >= 0]
    counts = np.bincount(known, minlength=len(graphs.edge_label_names))
    order = [code for code in np.argsort(-counts, kind="stable") if counts[code] > 0]
    if not 1 <= num_views <= len(order):
        names = ", ".join(str(graphs.edge_label_names[code]) for code in order)
        raise ConfigError(
            f"num_views, the number of views, must be from 1 to {len(order)}, one for each kind of "
            f"bond in {graphs.name!r} ({names}). Got {num_views!r} instead."
        )
    return tuple(graphs.edge_label_names[code] for code in order[:num_views])


def only_bonds(graphs: GraphSet, bond: Name) -> GraphSet:
    """Return the same nodes with the edges of one label alone; ``graphs`` stays as it is."""
    names, labels = graphs.edge_label_names, graphs.edge_labels
    code = names.index(bond) if bond in names else len(names)
    keep = np.zeros(graphs.adjacency.num_entries, bool) if labels is None else labels == code
    attributes = graphs.edge_attributes
    return replace(
        graphs,
        adjacency=graphs.adjacency.only(keep),
        edge_labels=None if labels is None else np.asarray(labels[keep]),
        edge_attributes=None if attributes is None else np.asarray(attributes[keep]),
    )


def bond_type_view(
    graphs: GraphSet, bond: Name, spec: ViewSpec, *, cache: bool = True
) -> Adjacency:
    """Return the diffusion S of every graph over the edges of one label.

    Implements Eq. diffusion for one kind of bond. Cached like any view, by the edges it depends on.
    """
    part = only_bonds(graphs, bond)
    spec = replace(spec, kind="ppr") if spec.kind == "bond-types" else spec
    return cached_view(part, spec) if cache else diffusion_view(part, spec)
