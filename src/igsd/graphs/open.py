"""``as_graphset`` and ``open_data``: everything that igsd accepts as graphs, as a ``GraphSet``."""

import importlib
import math
import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.errors import DataError, counted, shortened
from igsd.files.arrays import read_header, refuse_pickle
from igsd.files.remote import opened_path
from igsd.graphs.datasets import find_entry, load_dataset
from igsd.graphs.download import Progress
from igsd.graphs.graphset import UNNAMED, GraphSet
from igsd.graphs.readers.file_labels import endings
from igsd.graphs.readers.standard import check_standardised, level_of
from igsd.graphs.readers.table import guess_smiles, read_smiles_table
from igsd.graphs.readers.text_table import frame_table, is_frame, is_table
from igsd.graphs.readers.tu import read_tu

_ACCEPTED = (
    "Accepted are a GraphSet, a DataFrame with SMILES, and a list of NetworkX, igraph or DGL "
    "graphs, of PyG Data objects, of adjacency matrices (SciPy, NumPy), of SMILES strings, of "
    "RDKit molecules, of paths of files of networks or of parts of a GraphSet."
)

_SMILES, _RDKIT = _MOLECULES = ("SMILES string", "RDKit molecule")

_READERS = {
    "GraphSet": "build:join_sets",
    "NetworkX graph": "readers.networkx:from_networkx",
    "PyG Data": "readers.pyg:from_pyg",
    _SMILES: "readers.smiles:from_smiles",
    "path of a file of networks": "readers.files:from_network_files",
    "igraph graph": "readers.networkx:from_igraph",
    "DGL graph": "readers.networkx:from_dgl",
    "matrix": "readers.matrices:from_matrices",
    _RDKIT: "readers.smiles:from_molecules",
}
"""What turns a list of one kind of graph into a set, imported on first use."""


def as_graphset(graphs: Any, *, name: str = UNNAMED, standardise: str = "") -> GraphSet:
    """Return ``graphs`` as a set: a ``GraphSet`` unchanged, a list of one kind of graph converted.

    Accepts lists, tuples, arrays, generators, PyG data sets, PyG batches and lists of parts of one
    ``GraphSet``. Raises ``DataError`` for an empty list, a single graph, mixed kinds, and anything
    else. ``standardise``: the level for SMILES strings and RDKit molecules; other graphs are taken
    as they are.
    """
    if isinstance(graphs, GraphSet):
        return graphs
    if hasattr(type(graphs), "to_data_list"):
        graphs = graphs.to_data_list()
    if is_frame(graphs):
        table = frame_table(graphs)
        graphs = table.column(guess_smiles(table))
    if isinstance(graphs, str):
        raise DataError(
            f"A list of graphs was expected, found the text {graphs[:60]!r}. Put a SMILES string "
            "into a list, [text]; open a data set or file with igsd.load_dataset or "
            "igsd.open_data."
        )
    if (kind := _kind(graphs)) is not None:
        raise DataError(
            f"A list of graphs was expected, found a single {kind}. Put it into a list: [graph]."
        )
    if isinstance(graphs, Set):
        raise DataError(
            f"A list of graphs was expected, found a {type(graphs).__name__}, whose order is not "
            "fixed: vectors and labels could not be told apart. Make a list of it."
        )
    if isinstance(graphs, Mapping | bytes) or not isinstance(graphs, Iterable):
        raise DataError(f"Graphs were expected, found {type(graphs).__name__}. {_ACCEPTED}")
    items = list(graphs)
    if not items:
        raise DataError(f"The list of graphs is empty; at least one is needed. {_ACCEPTED}")
    gaps = [place for place, item in enumerate(items) if _is_gap(item)]
    if gaps:
        more = f", and {counted(len(gaps) - 1, 'other')} with it" if len(gaps) > 1 else ""
        raise DataError(
            f"Graph {gaps[0]} of the list is missing (it is {items[gaps[0]]}){more}. Leave such "
            "rows out, of the labels too; igsd.open_data leaves them out of a DataFrame and says "
            "which."
        )
    first = _kind(items[0])
    if first is None:
        raise DataError(
            f"Graph 0 of the list is of type {type(items[0]).__name__}, which igsd cannot read. "
            f"{_ACCEPTED}"
        )
    for place, item in enumerate(items):
        if (kind := _kind(item)) != first:
            found = kind or f"an object of type {type(item).__name__}"
            raise DataError(
                f"All graphs of a list must be of one kind: graph 0 is a {first}, but graph "
                f"{place} is {found}. {_ACCEPTED}"
            )
    module, function = _READERS[first].split(":")
    kwargs = {"standardise": standardise} if standardise and first in _MOLECULES else {}
    read = getattr(importlib.import_module(f"igsd.graphs.{module}"), function)
    return read(items, name=name, **kwargs)


def _is_gap(item: Any) -> bool:
    """Return whether an entry of a list is missing, like an empty cell of a table."""
    return item is None or (isinstance(item, float) and math.isnan(item))


def _kind(item: Any) -> str | None:
    """Return the kind of graph that an object is, or None."""
    if isinstance(item, GraphSet):
        return "GraphSet"
    if isinstance(item, str | os.PathLike):
        text = os.fspath(item)
        if isinstance(text, str) and text.lower().removesuffix(".gz").endswith(endings()):
            return "path of a file of networks"
        return _SMILES if isinstance(item, str) else None
    if hasattr(item, "GetNumAtoms") and hasattr(item, "GetBonds"):
        return _RDKIT
    if hasattr(item, "is_directed") and hasattr(item, "add_nodes_from"):
        return "NetworkX graph"
    if hasattr(item, "get_edgelist") and hasattr(item, "vs"):
        return "igraph graph"
    if hasattr(item, "ndata") and hasattr(item, "edata"):
        return "DGL graph"
    if len(getattr(item, "shape", ())) == 2 and (hasattr(item, "tocsr") or hasattr(item, "ravel")):
        return "matrix"
    # A PyG data set has the attributes of its graphs too, but it is a list of graphs.
    if not hasattr(type(item), "indices") and hasattr(item, "edge_index"):
        return "PyG Data"
    return None


def open_data(
    data: Any,
    *,
    smiles_column: str | None = None,
    standardise: str | bool = "",
    progress: Progress | None = None,
) -> GraphSet:
    """Return the graphs that DATA stands for.

    DATA is a file written by ``GraphSet.save``, a folder of shards, a TU folder or zip, a table of
    molecules (.csv, .tsv, .txt, .smi, .sdf, .mol, also .gz; .xlsx, .parquet; ``-`` for standard
    input), a DataFrame of molecules, a file of networks or a folder of them
    (``igsd.graphs.readers.files``), or the name of a data set; an existing path takes precedence
    over a name. A list of NetworkX, igraph or DGL graphs, PyTorch Geometric ``Data`` objects,
    adjacency matrices, SMILES strings, RDKit molecules or paths of files of networks becomes a set.
    A file may be given as a URL that fsspec opens, such as ``s3://bucket/molecules.csv``. Raises
    ``StorageError`` for a pickle, whatever its suffix, and ``DataError`` for anything else.

    ``smiles_column``: which column of a table holds the molecules, if its name does not tell.
    ``standardise``: ``neutral`` (also True) keeps the largest fragment of each molecule without
    charges, ``tautomer`` also chooses the canonical tautomer; recorded as ``standardised``.
    """
    if isinstance(data, str) and not data:
        raise DataError("DATA is empty: give a path or the name of a data set; . is this folder.")
    with opened_path(data) as local:
        return _open(local, smiles_column, level_of(standardise), progress)


def _open(data: Any, smiles_column: str | None, level: str, progress: Progress | None) -> GraphSet:
    if is_frame(data):
        return read_smiles_table(frame_table(data), smiles_column, standardise=level)
    if isinstance(data, str | os.PathLike) and is_table(os.fspath(data)):
        return read_smiles_table(os.fspath(data), smiles_column, standardise=level)
    if smiles_column is not None:
        raise DataError(
            f"smiles_column={smiles_column!r} names a column of a table, but the graphs do not "
            "come from a table. Leave it out."
        )
    if not isinstance(data, str | os.PathLike):
        return check_standardised(as_graphset(data, standardise=level), level)
    return check_standardised(_open_path(data, progress), level)


def _open_path(data: str | os.PathLike[str], progress: Progress | None) -> GraphSet:
    """Return the graphs of a path that is not a table, or of the data set of that name."""
    path, shown = Path(data).expanduser(), os.fspath(data)
    # os.path.exists and not Path.exists: text that cannot be a path is not an error here.
    if not os.path.exists(path):
        if os.path.islink(path):
            raise DataError(
                f"{shortened(shown)!r} is a link that leads nowhere, or to itself. Correct it, or "
                "give the file or folder itself."
            )
        is_path = "/" in shown or os.sep in shown
        if is_path or (find_entry(shown) is None and path.suffix):
            raise DataError(
                f"{shortened(shown)!r} is neither a file or folder that exists nor the name of "
                "a data set. `igsd data list` shows the names."
            )
        return load_dataset(shown, progress=progress)
    from igsd.graphs.readers import files, own  # not needed to open a data set by its name

    if path.is_dir():
        from igsd.graphs.shards import is_sharded, open_shards

        if is_sharded(path):
            return open_shards(path)
        # A folder that happens to have the name of a data set, such as runs/MUTAG.
        if path.parent == Path(".") and find_entry(shown) and not any(path.rglob("*_A.txt")):
            return load_dataset(shown, progress=progress)
        if not any(path.rglob("*_A.txt")) and files.network_files(path):
            return files.read_networks(path, progress=progress)
        return read_tu(path)
    if not path.is_file():
        raise DataError(
            f"{shown} is neither a file nor a folder, but a pipe or a device. Write - to read a "
            "table from standard input."
        )
    refuse_pickle(path)
    if own.own_reader(path):
        with own.own_graphs(path) as graphs:
            return as_graphset(graphs, name=path.stem)
    if read_header(path) is not None:
        graphs = GraphSet.load(path)
        # A set without a name gets that of its file, so that records of two sets stay apart.
        return replace(graphs, name=path.stem) if graphs.name == UNNAMED else graphs
    if files.is_network_file(path):
        return files.read_networks(path)
    with open(path, "rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04" or path.suffix.lower() == ".zip"
    if is_zip:
        return read_tu(path)
    if path.suffix.lower() in (".xls", ".ods"):
        raise DataError(f"igsd cannot read {path}. Save the sheet as .xlsx or .csv.")
    raise DataError(
        f"igsd cannot read {path}. Accepted are a TU folder or zip, a table of molecules (.csv, "
        ".tsv, .smi, .sdf, .mol, also .gz; .xlsx, .parquet), files of networks "
        f"({', '.join(endings())}) or a folder of them, a file written by `igsd data import` "
        "or `GraphSet.save`, and the name of a data set. Pickles are never opened."
    )
