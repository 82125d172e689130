"""``open_data``: whatever the command line accepts as DATA."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.errors import DataError
from igsd.graphs.catalogue import find_entry
from igsd.graphs.convert import as_graphset
from igsd.graphs.datasets import load_dataset
from igsd.graphs.download import Progress
from igsd.graphs.graphset import UNNAMED, GraphSet
from igsd.graphs.table_rows import SUFFIXES
from igsd.graphs.tu import read_tu
from igsd.pickles import refuse_pickle
from igsd.storage import read_header


def open_data(data: Any, *, progress: Progress | None = None) -> GraphSet:
    """Return the graphs that DATA stands for.

    DATA is a file written by ``GraphSet.save``, a TU folder or zip, a SMILES table (CSV or TSV,
    also .gz) or the name of a data set; a path that exists goes before a name. A list of NetworkX
    graphs, PyTorch Geometric ``Data`` objects or SMILES strings becomes a set. Raises
    ``StorageError`` for a pickle, whatever its suffix, and ``DataError`` for anything else.
    """
    if not isinstance(data, str | os.PathLike):
        return as_graphset(data)
    path, shown = Path(data).expanduser(), os.fspath(data)
    # os.path.exists and not Path.exists: text that can be no path at all is no error here.
    if not os.path.exists(path):
        is_path = "/" in shown or os.sep in shown
        if is_path or (find_entry(shown) is None and path.suffix):
            raise DataError(
                f"{shown!r} is neither a file or folder that exists nor the name of a data set. "
                "`igsd data list` shows the names."
            )
        return load_dataset(shown, progress=progress)
    if path.is_dir():
        # A folder that happens to bear a data set's name, such as runs/MUTAG, holds no TU files.
        if path.parent == Path(".") and find_entry(shown) and not any(path.rglob("*_A.txt")):
            return load_dataset(shown, progress=progress)
        return read_tu(path)
    refuse_pickle(path)
    if read_header(path) is not None:
        graphs = GraphSet.load(path)
        # A set that nobody gave a name has its file's, so that records of two do not meet.
        return replace(graphs, name=path.stem) if graphs.name == UNNAMED else graphs
    return _open_foreign(path)


def _open_foreign(path: Path) -> GraphSet:
    """Return the graphs in a file that igsd did not write, told by its first bytes."""
    with open(path, "rb") as file:
        start = file.read(4)
    if start == b"PK\x03\x04" or path.suffix.lower() == ".zip":
        return read_tu(path)
    if path.name.lower().endswith(SUFFIXES):
        from igsd.graphs.smiles_table import read_smiles_table

        return read_smiles_table(path)
    raise DataError(
        f"{path} is no data that igsd knows. Accepted are a TU folder or zip, a SMILES table "
        "(.csv, .tsv, also .gz), a file written by `igsd data import` or `GraphSet.save`, and the "
        "name of a data set."
    )
