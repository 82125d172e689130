"""Colour refinement with plain loops and dictionaries."""

from __future__ import annotations


def wl_signature(num_nodes, edges, labels=None, rounds=4):
    """Return a nested tuple, equal for graphs with equal colours after the rounds of 1-WL."""
    neighbours = {v: set() for v in range(num_nodes)}
    for a, b in edges:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    colours = {v: (0 if labels is None else int(labels[v]),) for v in range(num_nodes)}
    for _ in range(rounds):
        colours = {
            v: (colours[v], tuple(sorted(colours[u] for u in neighbours[v]))) for v in neighbours
        }
    return tuple(sorted(colours.values()))
