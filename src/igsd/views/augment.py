"""Augmentations of a batch, each graph by its own kind: the random views of GraphCL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.errors import ParameterError, nearest
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.views.attribute_mask import masked_nodes
from igsd.views.edge_perturb import edge_perturb
from igsd.views.hashed import hashed_uniform
from igsd.views.induced import Induced, induced
from igsd.views.node_drop import kept_nodes
from igsd.views.subgraph import grown_nodes

AUGMENTATIONS = ("node-drop", "edge-perturb", "attribute-mask", "subgraph")


@dataclass(frozen=True)
class Augmented:
    """A batch after augmentation: what is left of it, and which of its nodes are hidden.

    ``masked`` [m] bool runs along the nodes that are left.
    """

    graphs: Induced
    masked: np.ndarray


def parse_augmentations(text: str) -> tuple[str, ...]:
    """Return the augmentations named in ``text``, joined by ``+``; raises ``ConfigError``."""
    names = tuple(text.split("+"))
    unknown = [name for name in names if name not in AUGMENTATIONS]
    if unknown or len(set(names)) < len(names):
        hint = " " + nearest(unknown[0], AUGMENTATIONS) if unknown else ""
        raise ParameterError(
            "augmentations",
            "GraphCL",
            f"must be different names out of {', '.join(AUGMENTATIONS)}, joined by '+'. "
            f"Got {text!r} instead.{hint}",
        )
    return names


def draw_two(graph_ids: np.ndarray, num_kinds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two different kinds out of ``num_kinds`` for each graph, [B] and [B].

    Where there is one kind alone, both are that one.
    """
    first, shift = (hashed_uniform(seed, graph_ids, np.array([place])) for place in (1, 2))
    one = (first * num_kinds).astype(np.int64)
    others = max(num_kinds - 1, 1)
    return one, (one + 1 + (shift * others).astype(np.int64)) % num_kinds


def augment(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    graph_ids: np.ndarray,
    kinds: np.ndarray,
    rate: float,
    seed: int,
) -> Augmented:
    """Return the graphs of a batch, each changed by its own augmentation; the input stays.

    ``kinds`` [B] names: out of ``AUGMENTATIONS``. ``rate``: the share of nodes that are dropped,
    hidden or left outside the subgraph, or of edges that are moved. Each kind looks at its own
    graphs alone.
    """
    keep = np.ones(int(node_ptr[-1]), dtype=bool)
    masked = np.zeros_like(keep)
    for kind in AUGMENTATIONS:
        chosen = np.flatnonzero(kinds == kind)
        if not len(chosen):
            continue
        nodes = ranges(node_ptr[chosen], node_ptr[chosen + 1])
        ptr, ids = pointers(np.diff(node_ptr)[chosen]), graph_ids[chosen]
        if kind == "node-drop":
            keep[nodes] = kept_nodes(ptr, ids, rate, seed)
        elif kind == "attribute-mask":
            masked[nodes] = masked_nodes(ptr, ids, rate, seed)
        elif kind == "subgraph":
            part = adjacency.take(node_ptr, chosen)
            keep[nodes] = grown_nodes(part, ptr, ids, rate, seed)
        else:
            part = edge_perturb(adjacency.take(node_ptr, chosen), ptr, ids, rate, seed)
            adjacency = adjacency.replaced(node_ptr, chosen, part)
    return Augmented(induced(adjacency, node_ptr, keep), masked[keep])
