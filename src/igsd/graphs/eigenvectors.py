"""``structural_vectors``: where a node stands in its graph, by eigenvectors of the adjacency."""

from __future__ import annotations

import numpy as np

from igsd.graphs.adjacency import Adjacency, ranges


def structural_vectors(adjacency: Adjacency, node_ptr: np.ndarray, dim: int) -> np.ndarray:
    """Return a vector for each node, [n, dim] float32.

    Its entries are those of the eigenvectors of D^-1/2 A D^-1/2 with the ``dim`` largest
    eigenvalues (those of the normalised Laplacian with the smallest), without their sign, which is
    arbitrary; the vector has length 1, and zeros where a graph has fewer than ``dim`` nodes. Edge
    weights are not used. Graphs of equal size are solved together, so a graph's vectors do not
    depend on the others of the batch. The cost grows with the cube of a graph's size.
    """
    sizes = np.diff(node_ptr)
    vectors = np.zeros((int(node_ptr[-1]), dim), dtype=np.float32)
    for size in np.unique(sizes):
        graphs = np.flatnonzero(sizes == size)
        rows = ranges(node_ptr[graphs], node_ptr[graphs + 1])
        _, U = np.linalg.eigh(_normalised(adjacency, node_ptr, graphs, int(size)))
        largest = np.abs(U[:, :, ::-1][:, :, :dim]).reshape(len(rows), -1)
        lengths = np.linalg.norm(largest, axis=1, keepdims=True)
        vectors[rows, : largest.shape[1]] = largest / np.maximum(lengths, 1e-12)
    return vectors


def _normalised(
    adjacency: Adjacency, node_ptr: np.ndarray, graphs: np.ndarray, size: int
) -> np.ndarray:
    """Return D^-1/2 A D^-1/2 of graphs of equal size, [g, size, size] float64."""
    taken = adjacency.take(node_ptr, graphs)
    matrices = np.zeros((len(graphs) * size, size))
    matrices[taken.rows(), taken.col] = 1.0
    scale = 1.0 / np.sqrt(np.maximum(matrices.sum(axis=1), 1.0)).reshape(len(graphs), size)
    return matrices.reshape(len(graphs), size, size) * scale[:, :, None] * scale[:, None, :]
