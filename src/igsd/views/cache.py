"""``cached_view``: a diffusion view from disk where it was computed before.

A view is found by the graphs' structure, the settings it depends on, and ``ALGORITHM``. A file
that is damaged in any way is computed again; a folder that cannot be written costs a warning and
nothing else. Writers at the same time are safe: a file appears whole, by renaming.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from igsd.cache import cache_dir
from igsd.errors import StorageError, warn_user
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view

ALGORITHM = 1
"""Raise this whenever the numbers of a view change, so that older files are passed over."""


def cached_view(graphs: GraphSet, spec: ViewSpec) -> Adjacency:
    """Return ``diffusion_view(graphs, spec)``, read from the cache where it is there already.

    Arrays read from the cache are memory-mapped and read-only. Raises ``ConfigError`` when
    ``spec`` is not a diffusion.
    """
    key = view_key(graphs, spec)
    path = view_path(key)
    found = _read(path, key)
    if found is not None:
        return found
    view = diffusion_view(graphs, spec)
    try:
        _write(path, key, view)
    except StorageError as error:
        warn_user(
            f"The view of {graphs.name!r} could not be cached and will be computed again next "
            f"time. {error} Set IGSD_CACHE to a folder that can be written.",
        )
    return view


def view_key(graphs: GraphSet, spec: ViewSpec) -> dict[str, Any]:
    """Return all that the numbers of a view depend on, as it is stored in the file."""
    return {
        "algorithm": ALGORITHM,
        "structure": graphs.structure_checksum,
        "spec": spec.relevant(),
    }


def view_path(key: dict[str, Any]) -> Path:
    """Return the file that a view with this key is cached in."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return cache_dir() / "views" / f"{digest[:40]}.safetensors"


def _write(path: Path, key: dict[str, Any], view: Adjacency) -> None:
    arrays = {"row_ptr": view.row_ptr, "col": view.col, "weight": view.weight}
    present = {name: array for name, array in arrays.items() if array is not None}
    sums = {name: _checksum(array) for name, array in present.items()}
    write_arrays(path, present, {"kind": "view", "key": key, "checksums": sums})


def _read(path: Path, key: dict[str, Any]) -> Adjacency | None:
    """Return the cached view, or None where there is none that is whole and the right one."""
    if not path.is_file():
        return None
    # A damaged file can go wrong in many ways; each means only that the view is computed again.
    try:
        arrays, header = read_arrays(path, "view")
        whole = header["key"] == key and all(
            _checksum(arrays[name]) == value for name, value in header["checksums"].items()
        )
        if not whole:
            return None
        return Adjacency(*(np.asarray(arrays[name]) for name in ("row_ptr", "col", "weight")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
