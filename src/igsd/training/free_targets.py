"""Targets that are computed from molecules, as labels of a training without any.

``FreeTargets``: what RDKit computes for the molecules of a corpus. ``geometry_labels``: what
follows from elements, bonds and coordinates.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import torch
from torch import Tensor

from igsd.batches.batch import chunks
from igsd.batches.links import coordinates
from igsd.errors import DataError, enumerated
from igsd.graphs.adjacency import ranges
from igsd.graphs.colours import refined_keys, splitmix64
from igsd.graphs.corpus import Corpus
from igsd.graphs.graphset import GraphSet
from igsd.training.task import TrainingLabels

CUT = 6.0
"""Standardised numbers are cut off here: some are 0 for nearly all molecules."""

_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class FreeTargets(TrainingLabels):
    """Descriptors and counts of fragments, standardised when a step asks for them.

    ``values`` [G, t]: the descriptors, mapped into memory, with their ``mean`` and ``scale`` [t].
    ``fragments`` [G, k] uint8. Their logarithms log(1 + count) are centred by column, with ``mean``
    as well, but have one common scale: a rare fragment counts less than a common one.
    """

    fragments: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    key: str

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> Self:
        """Return the targets of a corpus, with mean and scale over all its molecules."""
        first = _moments(corpus.descriptors, lambda rows: rows)
        second = _moments(corpus.fragments, np.log1p)
        common = np.full_like(second[1], np.sqrt(np.square(second[1]).mean()))
        mean, scale = np.concatenate([first[0], second[0]]), np.concatenate([first[1], common])
        return cls(
            values=corpus.descriptors,
            num_outputs=len(mean),
            fragments=corpus.fragments,
            mean=mean.astype(np.float32),
            scale=np.where(scale > 1e-6, scale, np.inf).astype(np.float32),
            key=corpus.checksum,
        )

    @cached_property
    def is_known(self) -> np.ndarray:
        """Whether a molecule has targets, [G] bool: all have."""
        return np.ones(len(self.values), bool)

    @cached_property
    def checksum(self) -> str:
        """The checksum of the corpus."""
        return self.key

    def of(self, indices: np.ndarray, device: torch.device) -> Tensor:
        """Return the targets of some molecules, [n, t + k]; NaN where unknown."""
        counts = np.log1p(self.fragments[indices], dtype=np.float32)
        rows = np.concatenate([self.values[indices], counts], axis=1)
        rows -= self.mean
        rows /= self.scale
        width = self.values.shape[1]
        np.clip(rows[:, :width], -CUT, CUT, out=rows[:, :width])
        return torch.from_numpy(rows).to(device)


def _moments(table: np.ndarray, change: object) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column, without unknown values, a few rows each.

    ``change``: applied to the rows first.
    """
    count = np.zeros(table.shape[1])
    total, squares = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for start in range(0, len(table), _ROWS):
        rows = np.asarray(change(np.asarray(table[start : start + _ROWS])), np.float64)  # type: ignore[operator]
        known = ~np.isnan(rows)
        rows = np.where(known, rows, 0.0)
        count += known.sum(axis=0)
        total += rows.sum(axis=0)
        squares += np.square(rows).sum(axis=0)
    mean = total / np.maximum(count, 1)
    return mean, np.sqrt(np.maximum(squares / np.maximum(count, 1) - np.square(mean), 0.0))


ELEMENTS = {
    "H": (1, 2.20),
    "B": (5, 2.04),
    "C": (6, 2.55),
    "N": (7, 3.04),
    "O": (8, 3.44),
    "F": (9, 3.98),
    "Si": (14, 1.90),
    "P": (15, 2.19),
    "S": (16, 2.58),
    "Cl": (17, 3.16),
    "Br": (35, 2.96),
    "I": (53, 2.66),
}
"""Atomic number and electronegativity (Pauling) of the elements."""

WEIGHTS = {
    "elements": 5.0,
    "energy": 2.0,
    "bonds": 2.0,
    "shape": 5.0,
    "charges": 2.0,
    "surroundings": 6.0,
    "distances": 6.0,
}
"""The weight of each group of numbers in the loss, relative to the others."""

_CENTRES = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.5)  # of bumps that count distances, in Angstrom
_BUMPS = tuple((centre, 0.25 if centre < 4 else 0.6) for centre in _CENTRES)  # and their widths
_MOST_SURROUNDINGS, _MOST_PAIRS = 60, 10
_SHORTEST = 0.1  # Angstrom: atoms at one place would have infinite energy
_NODES = 100_000  # of molecules whose pairs are listed at once

ALONE = {
    "pretraining_epochs": 0,
    "most_steps": 0,
    "warmup_epochs": 0,
    "schedule": "cosine",
    "encoder_rate": 1.0,
    "self_weight": 0.0,
    "supcon_weight": 0.0,
    "self_training": False,
}
"""The settings of a pretraining by these targets, of those that a method has."""


def geometry_labels(graphs: GraphSet) -> TrainingLabels:
    """Return targets [G, t] of molecules with coordinates, with mean square 1.

    The columns of ``molecule_numbers`` are standardised over the set and cut off at ``CUT``;
    those of a group share its weight (``WEIGHTS``). Raises ``DataError`` for other graphs.
    """
    parts = []
    for name, table in molecule_numbers(graphs).items():
        table = table[:, table.std(axis=0) > 1e-3]
        rows = (table - table.mean(axis=0)) / table.std(axis=0)
        share = np.sqrt(WEIGHTS[name] / max(1, rows.shape[1]))
        parts.append(share * rows.clip(-CUT, CUT))
    targets = np.concatenate(parts, axis=1)
    if not targets.shape[1]:
        raise DataError(f"The molecules of {graphs.name!r} are all the same: nothing to learn.")
    values = (targets / np.sqrt(np.square(targets).mean())).astype(np.float32)
    return TrainingLabels(values, values.shape[1])


def molecule_numbers(graphs: GraphSet) -> dict[str, np.ndarray]:
    """Return the numbers of molecules by group, [G, k] float64 each.

    - ``elements``, ``bonds``: how many of each kind.
    - ``energy``: sum_i Z_i^2.4 / 2, roughly the energy of the free atoms.
    - ``shape``: the sum and the square roots of the principal second moments of the nuclear
      charges, and the energy of their repulsion, sum_ij Z_i Z_j / r_ij.
    - ``charges``: the dipole |sum_i q_i r_i| and sum_i q_i^2, where q_i sums the differences of
      electronegativity to the neighbours, times the root of the bond order.
    - ``surroundings``: how many atoms of each element with the same neighbours by the same bonds.
    - ``distances``: log(1 + number of pairs of two elements near a distance).

    Only the most frequent surroundings and pairs of elements of the set have columns. Raises
    ``DataError`` without coordinates, or for node labels that are not elements.
    """
    places, number, negativity = _atoms(graphs)
    owner, kinds = graphs.graph_of_node(), np.asarray(graphs.node_labels)

    def summed(rows: np.ndarray) -> np.ndarray:  # over the atoms of each molecule, [G, k]
        columns = (np.bincount(owner, column, len(graphs)) for column in rows.T)
        return np.stack(list(columns), axis=1)

    source, target, bonds = _bonds(graphs)
    order = np.array([_ORDERS.get(str(name), 1.0) for name in graphs.edge_label_names or ("",)])
    pull = (negativity[source] - negativity[target]) * np.sqrt(order[bonds])
    charges = np.bincount(source, pull, len(kinds))
    places = places - (summed(number[:, None] * places) / summed(number[:, None]))[owner]
    products = (places[:, :, None] * places[:, None, :]).reshape(-1, 9)
    moments = np.linalg.eigvalsh(summed(number[:, None] * products).reshape(-1, 3, 3))
    dipole = np.linalg.norm(summed(charges[:, None] * places), axis=1)
    repulsion, distances = _pairs(graphs, places, number)
    roots = np.sqrt(moments.clip(0))
    return {
        "elements": summed(np.eye(len(graphs.node_label_names))[kinds]),
        "energy": summed(0.5 * number[:, None] ** 2.4),
        "bonds": 0.5 * _counted(owner[source], bonds, len(graphs), len(order)),
        "shape": np.column_stack([moments.sum(axis=1), roots, repulsion]),
        "charges": np.column_stack([dipole, summed(charges[:, None] ** 2)]),
        "surroundings": _surroundings(graphs),
        "distances": distances,
    }


_ORDERS = {"aromatic": 1.5, "double": 2.0, "triple": 3.0}


def check_molecules(graphs: GraphSet) -> None:
    """Raise ``DataError`` unless the graphs have known elements and coordinates."""
    places, names = coordinates(graphs), [str(name) for name in graphs.node_label_names]
    if places is None or graphs.node_labels is None:
        raise DataError(
            "Free targets are computed from elements (node labels) and coordinates (node "
            f"attributes x, y, z in Angstrom), but {graphs.name!r} lacks "
            f"{'coordinates' if places is None else 'node labels'}. Use pretraining_targets='none'."
        )
    if unknown := [name for name in names if name not in ELEMENTS]:
        raise DataError(
            f"Free targets are known for the elements {', '.join(ELEMENTS)}, but {graphs.name!r} "
            f"has atoms {enumerated(unknown)}. Use pretraining_targets='none'."
        )


def _atoms(graphs: GraphSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place [N, 3], atomic number [N] and electronegativity [N] of all atoms, float64."""
    check_molecules(graphs)
    facts = np.array([ELEMENTS[str(name)] for name in graphs.node_label_names])
    number, negativity = facts[np.asarray(graphs.node_labels)].T
    return np.asarray(coordinates(graphs), np.float64), number, negativity


def _bonds(graphs: GraphSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two atoms of every edge entry, and its kind, 0 if edges have no labels."""
    source, ptr = graphs.adjacency.rows(), graphs.node_ptr
    kinds = np.zeros(len(source), np.int64) if graphs.edge_labels is None else graphs.edge_labels
    return source, graphs.adjacency.global_columns(ptr), np.asarray(kinds)


def _counted(graph: np.ndarray, kind: np.ndarray, num_graphs: int, num_kinds: int) -> np.ndarray:
    """Return how often each kind occurs in each graph, [num_graphs, num_kinds] float64."""
    counts = np.bincount(graph * num_kinds + kind, minlength=num_graphs * num_kinds)
    return counts.reshape(num_graphs, num_kinds).astype(np.float64)


def _surroundings(graphs: GraphSet) -> np.ndarray:
    """Return how many atoms have each of the most frequent surroundings, [G, k]."""
    _, target, bonds = _bonds(graphs)
    own = np.asarray(graphs.node_labels).astype(np.uint64)
    pairs = splitmix64(own[target] * np.uint64(2**32) + bonds.astype(np.uint64))
    keys = refined_keys(own, pairs, graphs.adjacency.row_ptr)
    _, code, counts = np.unique(keys, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:_MOST_SURROUNDINGS]
    column = np.full(len(counts), len(frequent))
    column[frequent] = np.arange(len(frequent))
    owner, width = graphs.graph_of_node(), len(frequent) + 1
    return _counted(owner, column[code], len(graphs), width)[:, :-1]


def _pairs(
    graphs: GraphSet, places: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the energy of repulsion [G], and log(1 + pairs of elements near a distance) [G, k]."""
    kinds, ptr = np.asarray(graphs.node_labels), graphs.node_ptr
    column, num_columns = _frequent_pairs(graphs)
    width = num_columns + 1
    repulsion = np.zeros(len(graphs))
    near = np.zeros((len(graphs), width, len(_BUMPS)))
    for start, stop in chunks(ptr, _NODES):
        nodes, size = np.arange(ptr[start], ptr[stop]), stop - start
        owner = np.repeat(np.arange(size), np.diff(ptr[start : stop + 1]))
        ends = ptr[start + 1 : stop + 1][owner]
        first, second = np.repeat(nodes, ends - nodes - 1), ranges(nodes + 1, ends)
        graph = owner[first - ptr[start]]
        distance = np.linalg.norm(places[first] - places[second], axis=1).clip(_SHORTEST)
        energy = number[first] * number[second] / distance
        repulsion[start:stop] = np.bincount(graph, energy, size)
        cell = graph * width + column[kinds[first], kinds[second]]
        for i, (centre, spread) in enumerate(_BUMPS):
            bump = np.exp(-np.square((distance - centre) / spread))
            near[start:stop, :, i] = np.bincount(cell, bump, size * width).reshape(size, width)
    return repulsion, np.log1p(near[:, :-1].reshape(len(graphs), -1))


def _frequent_pairs(graphs: GraphSet) -> tuple[np.ndarray, int]:
    """Return the column of each pair of kinds of atoms, [k, k], and how many columns there are.

    All rare pairs share the one after these.
    """
    num_kinds, owner = len(graphs.node_label_names), graphs.graph_of_node()
    counts = _counted(owner, np.asarray(graphs.node_labels), len(graphs), num_kinds)
    often = counts.T @ counts - np.diag(counts.sum(axis=0))
    often[np.diag_indices(num_kinds)] /= 2
    low, high = np.triu_indices(num_kinds)
    frequent = np.argsort(-often[low, high], kind="stable")[:_MOST_PAIRS]
    column = np.full((num_kinds, num_kinds), len(frequent))
    column[low[frequent], high[frequent]] = np.arange(len(frequent))
    return np.minimum(column, column.T), len(frequent)
