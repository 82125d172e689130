"""Files of graphs that readers of installed packages read, by their ending.

A package offers a function of a path under the entry points ``igsd.readers``.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from igsd.errors import DataError
from igsd.files.arrays import refuse_pickle
from igsd.graphs.readers import file_labels, text_table
from igsd.graphs.readers.networkx import to_networkx
from igsd.settings import own

_TAKEN = {suffix[1:] for suffix in (*file_labels.SUFFIXES, *text_table.SUFFIXES)}


def own_reader(path: Path) -> str:
    """Return the name of the reader of an installed package for a file, empty if there is none.

    Files of igsd's own formats are read by igsd; warns if a package offers a reader of them.
    """
    name = path.suffix[1:]
    if name not in own.offered("readers"):
        return ""
    return name if name in own.offered_besides("readers", _TAKEN) else ""


@contextlib.contextmanager
def own_graphs(path: Path) -> Iterator[Any]:
    """Return the graphs that a package's reader makes of a file; raises ``DataError`` naming both.

    Also for what the block raises, which takes it as graphs.
    """
    name = own_reader(path)
    read = own.find("readers", name)
    try:
        yield read(path)
    except Exception as error:
        is_plain = isinstance(error, DataError)
        what = str(error) if is_plain else f"{own.what_was_raised(error, read)}."
        raise DataError(
            f"The reader of .{name} files, {own.place_of(read)}, failed on {path}: {what} It must "
            "return graphs, such as a list of NetworkX graphs."
        ) from error


def read_by_package(path: Path) -> list[Any]:
    """Return the graphs of one file, which the reader of a package makes, as NetworkX graphs."""
    import networkx as nx

    from igsd.graphs.open import as_graphset

    refuse_pickle(path)
    with own_graphs(path) as found:
        items = list(found) if isinstance(found, list | tuple | Iterator) else found
        if not isinstance(items, list) or not all(isinstance(item, nx.Graph) for item in items):
            return to_networkx(as_graphset(items))
        if not items or any(len(graph) == 0 for graph in items):
            raise DataError("there is no graph, or one without nodes.")
        return [graph.copy() for graph in items]


def reader_checksum(name: str) -> str:
    """Return the SHA-256 of the file that defines a reader, empty if there is none."""
    return own.source_checksum(own.find("readers", name))
