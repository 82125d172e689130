"""``diffusion_view``: the diffusion of every graph of a set; ``cached_view``: the same, cached.

Views of parts of a set, such as folds, are not cached: each would be used once.
"""

import hashlib
import json
from itertools import chain
from pathlib import Path

import numpy as np

from igsd.errors import ParameterError, StorageError
from igsd.files.arrays import Header, read_arrays, write_arrays
from igsd.files.cache import cache_dir, recall, store
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar
from igsd.settings.groups import Diffusion
from igsd.views.diffusion import (
    Piece,
    exact_pieces,
    is_pushed,
    join_pieces,
    push_piece,
    relevant_settings,
    series_piece,
)


def diffusion_view(graphs: GraphSet, settings: Diffusion, *, verbose: bool = False) -> Adjacency:
    """Return the sparsified S of every graph: weights in float32 over the same nodes.

    Implements Eq. diffusion. Graphs up to ``settings.exact_limit`` nodes are solved exactly; larger
    ones by a truncated series, every entry within ``TOLERANCE`` of the exact one, or where that
    takes less time by local pushes, every entry within half of ``settings.threshold``. Edge labels
    and attributes are not used; weights are, those of ``graphs.adjacency``. S is symmetric and
    includes the diagonal. Raises ``ConfigError`` if the view is not a single diffusion.
    """
    if settings.view not in ("ppr", "heat"):
        raise ParameterError(
            "view",
            "diffusion_view",
            f"must be 'ppr' or 'heat'. Got {settings.view!r} instead. Use edge_drop for random "
            "edge removal, bond_type_view for one kind of bond.",
        )
    node_ptr = np.asarray(graphs.node_ptr)
    is_large = np.diff(node_ptr) > settings.exact_limit
    exact = exact_pieces(graphs.adjacency, node_ptr, np.flatnonzero(~is_large), settings)
    large, total = np.flatnonzero(is_large).tolist(), int(node_ptr[-1])
    with progress_bar("diffusion", total, shown=verbose and bool(large)) as advance:

        def piece(graph: int) -> Piece:
            size = int(node_ptr[graph + 1] - node_ptr[graph])
            if is_pushed(size, settings):
                return push_piece(graphs.adjacency, node_ptr, graph, settings, advance)
            advance(size)
            return series_piece(graphs.adjacency, node_ptr, graph, settings)

        # The small graphs take next to no time.
        advance(total - int(np.diff(node_ptr)[large].sum()))
        return join_pieces(chain(exact, map(piece, large)), node_ptr)


ALGORITHM = 3
"""Raise this whenever the numbers of a view change, so that older files are ignored."""


_SCHEMA = {"row_ptr": ("int64", 1), "col": ("int32", 1), "weight": ("float32", 1)}


def cached_view(graphs: GraphSet, settings: Diffusion, *, verbose: bool = False) -> Adjacency:
    """Return ``diffusion_view(graphs, settings)``, memory-mapped from the cache if it is there."""
    if graphs.is_part:
        return diffusion_view(graphs, settings, verbose=verbose)
    key = view_key(graphs, settings)
    path, what = view_path(key), f"The view of {graphs.name!r}"
    found = recall(path, f"{what} in the cache", lambda path: _read(path, key, graphs.node_ptr))
    if found is not None:
        return found
    view = diffusion_view(graphs, settings, verbose=verbose)
    store(path, what, lambda path: _write(path, key, view))
    return view


def view_key(graphs: GraphSet, settings: Diffusion) -> Header:
    """Return all that the numbers of a view depend on, as stored in the file."""
    return {
        "algorithm": ALGORITHM,
        "structure": graphs.structure_checksum,
        "spec": relevant_settings(settings),
    }


def view_path(key: Header) -> Path:
    """Return the cache file of the view with this key."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return cache_dir() / "views" / f"{digest[:40]}.safetensors"


def _write(path: Path, key: Header, view: Adjacency) -> None:
    arrays = {name: array for name, array in vars(view).items() if array is not None}
    write_arrays(path, arrays, {"kind": "view", "key": key})


def _read(path: Path, key: Header, node_ptr: np.ndarray) -> Adjacency | None:
    arrays, header = read_arrays(path, "view", schema=_SCHEMA, needs_checksum=True)
    view = Adjacency(*(np.asarray(arrays[name]) for name in ("row_ptr", "col", "weight")))
    if broken := view.broken_part(np.asarray(node_ptr)):
        raise StorageError(f"{path} is damaged: {broken!r} does not fit the graphs.")
    return view if header["key"] == key else None
