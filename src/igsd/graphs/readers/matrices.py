"""Adjacency matrices of NumPy and SciPy, in Python and in files, as NetworkX graphs."""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from igsd.errors import DataError
from igsd.graphs.graphset import UNNAMED, GraphSet
from igsd.graphs.readers.networkx import from_networkx

_MOST_ROWS = 10_000_000
"""The most rows of a sparse matrix whose file may say any number of rows."""


def read_npz(content: bytes) -> list[Any]:
    """Return the graphs of an archive of NumPy, or of a sparse matrix of SciPy."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        if "format" not in arrays:  # SciPy's have one
            return [graph for name in arrays.files for graph in _of_array(arrays[name])]
    return [matrix_graph(sparse.load_npz(io.BytesIO(content)))]


def read_npy(content: bytes) -> list[Any]:
    """Return the graphs of a matrix, or of a stack of them."""
    return _of_array(np.load(io.BytesIO(content), allow_pickle=False))


def _of_array(array: np.ndarray) -> list[Any]:
    return [matrix_graph(part) for part in (array if array.ndim == 3 else [array])]


def matrix_graph(matrix: Any) -> Any:
    """Return an adjacency matrix as a NetworkX graph, directed if it is not symmetric.

    Entries other than 0 are edges with that weight. Raises ``DataError`` if it is not square.
    """
    import networkx as nx

    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(f"An adjacency matrix must be square. Got shape {list(shape)}.")
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"An adjacency matrix must hold numbers. Got {matrix.dtype}.")
    _check_sparse(matrix)
    matrix = sparse.csr_array(matrix)
    is_symmetric = (abs(matrix - matrix.T)).nnz == 0
    graph = nx.Graph() if is_symmetric else nx.DiGraph()
    graph.add_nodes_from(range(shape[0]))
    values = matrix.tocoo()
    ends = zip(values.row.tolist(), values.col.tolist(), values.data.tolist(), strict=True)
    edges = ((u, v, float(w)) for u, v, w in ends if w)
    if (values.data[values.data != 0] == 1).all():
        graph.add_edges_from((u, v) for u, v, _ in edges)
    else:
        graph.add_weighted_edges_from(edges)
    return graph


def _check_sparse(matrix: Any) -> None:
    """Raise ``DataError`` if pointers or indices of a SciPy matrix lead out of its arrays.

    SciPy's compiled code follows them unchecked: they may come from a file.
    """
    if not sparse.issparse(matrix):
        return
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            # SciPy's own check leaves out pointers that fall if the last one is 0.
            if (np.diff(matrix.indptr) < 0).any():
                raise ValueError("its pointers fall")
            matrix.check_format(full_check=True)
            return
        if matrix.format == "coo":  # which checks its indices when it is made
            matrix = sparse.coo_array((matrix.data, matrix.coords), shape=matrix.shape)
    except (ValueError, IndexError) as error:
        raise DataError(
            f"A sparse adjacency matrix contradicts itself: {error}. Save it again."
        ) from error
    if matrix.shape[0] > _MOST_ROWS:  # a number that the size of the file does not confirm
        raise DataError(
            f"A sparse adjacency matrix in the format {matrix.format} may have at most "
            f"{_MOST_ROWS:,} rows. Got {matrix.shape[0]:,}. Convert it with tocsr() if it is so."
        )


def from_matrices(matrices: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these adjacency matrices, of SciPy or NumPy; see ``matrix_graph``."""
    return from_networkx([matrix_graph(matrix) for matrix in matrices], name=name)
