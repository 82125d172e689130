"""Files of networks, and graphs of other libraries, as NetworkX graphs and then as a ``GraphSet``.

| suffix | format |
|---|---|
| .graphml, .gml, .gexf, .net, .pajek | GraphML, GML, GEXF, Pajek |
| .json | node-link JSON of NetworkX or D3, one graph or a list of them |
| .edgelist, .edges, .csv, .tsv | a line per edge, with or without a header |
| .npz, .npy | adjacency matrices of SciPy (sparse) and NumPy, [n, n] or [G, n, n] |

Text formats may be packed with gzip, and packages may offer readers of other files
(``igsd.graphs.readers.own``). A folder of such files is a set, each graph has the name of its file,
and its label is in a file ``labels.csv`` with the columns file and label, if there is one: a class
or a number, by the rules of ``igsd.graphs.labels``. Nothing that is read can run code: pickles are
refused, and so are XML entities, which can expand to gigabytes.
"""

import contextlib
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.errors import DataError, enumerated, warn_user
from igsd.files.arrays import refuse_pickle
from igsd.files.bounded import read_bounded
from igsd.files.cache import cache_dir, recall, store
from igsd.files.columns import parse_number
from igsd.graphs import labels
from igsd.graphs.build import encode_categories
from igsd.graphs.columns import natural_key
from igsd.graphs.download import Progress
from igsd.graphs.graphset import UNNAMED, Fields, GraphSet
from igsd.graphs.readers.cells import Commas, comma_notes, rows_of_text, with_point
from igsd.graphs.readers.file_labels import endings, file_and_stem, read_file_labels
from igsd.graphs.readers.matrices import read_npy, read_npz
from igsd.graphs.readers.networkx import check_links, from_networkx
from igsd.graphs.readers.own import own_reader, read_by_package, reader_checksum
from igsd.graphs.readers.pajek import read_pajek
from igsd.progress import readable_name

LABELS = "labels.csv"
"""The file of a folder that holds the classes of its graphs."""

_COLUMNS = {
    "graph": ("graph", "graph_id", "graph id", "graphid", "network"),
    "source": ("source", "src", "from", "u", "node1"),
    "target": ("target", "dst", "to", "v", "node2"),
}
"""The names that the columns of an edge list may have."""


_READER_VERSION = 6
"""Raise this whenever the same files give other graphs, so that cached ones are ignored."""

_FEWEST_CACHED = 20


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the format of a file, without that of gzip."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_network_file(path: Path) -> bool:
    """Return whether a file is read here, or by the reader of a package.

    A table is one only if its header names two ends of edges.
    """
    if own_reader(path):
        return True
    suffix = suffix_of(path)
    if suffix not in (".csv", ".tsv"):
        return suffix in _PARSERS
    with open(path, "rb") as file:
        start = file.read(4096)
    if start.startswith(b"\x1f\x8b"):
        return False
    for line in start.decode("utf-8-sig", "replace").splitlines():
        if line.strip() and not line.startswith(("#", "%")):
            with contextlib.suppress(DataError):  # an open quote: what begins there is read later
                if rows := rows_of_text(line):
                    return len(_ends(rows[0])) >= 2
    return False


def network_files(folder: Path) -> list[Path]:
    """Return the files of networks in a folder, file2 before file10."""
    files = [path for path in folder.iterdir() if path.is_file() and path.name != LABELS]
    found = [path for path in files if not path.name.startswith(".") and is_network_file(path)]
    return sorted(found, key=lambda path: natural_key(path.name))


def read_networks(path: Path, *, progress: Progress | None = None) -> GraphSet:
    """Return the graphs of a file, or of all files of a folder; raises ``DataError`` naming a file.

    ``progress`` is called with (files done, files in all). A folder of many files is kept in the
    cache as one, found by the content of its files. Warns of what else is in the folder.
    """
    if not path.is_dir():
        return _parsed([path], file_and_stem(path.name)[1])
    files = network_files(path)
    _warn_of_others(path, files)
    if len(files) < _FEWEST_CACHED:
        return _parsed(files, path.name, path, progress)
    what = f"The cached copy of {path}"
    cached = cache_dir() / "datasets" / f"networks-{_content_digest(path, files)[:40]}.graphs"
    if (found := recall(cached, what, GraphSet.load)) is not None:
        return found
    graphs = _parsed(files, path.name, path, progress)
    store(cached, str(path), graphs.save)
    return graphs


def from_network_files(paths: Iterable[str | os.PathLike[str]], *, name: str = UNNAMED) -> GraphSet:
    """Return the graphs of several files as one set, as those of a folder, in the order given.

    Labels of their folder are not read, which a warning says. Raises ``DataError`` for a path that
    is not that of a file of networks.
    """
    files = [Path(path).expanduser() for path in paths]
    if missing := [str(file) for file in files if not file.is_file()]:
        raise DataError(f"There is no file {enumerated(missing)}. Correct the path.")
    if others := [str(file) for file in files if not is_network_file(file)]:
        raise DataError(
            f"{enumerated(others)}: not a file of networks; a table needs the columns source and "
            "target. Open a table of molecules by itself."
        )
    for folder in dict.fromkeys(file.parent for file in files):
        if (folder / LABELS).is_file():
            warn_user(
                f"{folder / LABELS} was not read: it is for the whole folder. Open the folder, or "
                "give these files labels of their own."
            )
    return _parsed(files, name, is_several=True)


def _warn_of_others(folder: Path, files: list[Path]) -> None:
    """Warn of what lies in a folder of networks and is not read, except hidden files."""
    known = {LABELS, *(file.name for file in files)}
    found = [path for path in folder.iterdir() if path.name not in known]
    names = [
        f"{path.name}/" if path.is_dir() else path.name
        for path in sorted(found, key=lambda path: natural_key(path.name))
        if not path.name.startswith(".")
    ]
    if names:
        warn_user(
            f"Not read in {folder}: {enumerated(names)}. Only files of networks "
            f"are read ({', '.join(endings())}; tables with the columns source and target), and no "
            "folders inside."
        )


def _content_digest(folder: Path, files: list[Path]) -> str:
    """Return the SHA-256 of a folder's name and files, its labels included."""
    digest = hashlib.sha256(os.fsencode(f"{_READER_VERSION} {folder.absolute().name};"))
    for file in (*files, folder / LABELS):
        if file.is_file():
            content = read_bounded(file)
            digest.update(os.fsencode(f"{file.name} {len(content)};"))
            digest.update(content)
    for name in sorted({*map(own_reader, files)} - {""}):
        digest.update(reader_checksum(name).encode())
    return digest.hexdigest()


def _parsed(
    files: Sequence[Path],
    name: str,
    folder: Path | None = None,
    progress: Progress | None = None,
    *,
    is_several: bool = False,
) -> GraphSet:
    """Return the graphs of files, with the labels of a folder; several are named by their files."""
    is_several = is_several or folder is not None
    is_repeated = len({file.name for file in files}) < len(files)
    items, built_in = list[Any](), list[Any]()
    for place, file in enumerate(files):
        found = read_by_package(file) if own_reader(file) else _read_file(file)
        title = readable_name(str(file) if is_repeated else file.name)
        for number, graph in enumerate(found):
            own = graph.graph.get("name") or number
            if len(found) == 1:
                graph.graph["name"] = title
            else:
                graph.graph["name"] = f"{title}:{own}" if is_several else str(own)
        items += found
        built_in += [] if own_reader(file) else found
        if progress is not None:
            progress(place + 1, len(files))
    notes = _drop_names(built_in)
    graphs = from_networkx(items, name=readable_name(name))
    if folder is not None and (folder / LABELS).is_file():
        graphs = _labelled(graphs, folder / LABELS)
    return replace(graphs, notes=graphs.notes + notes)


def _labelled(graphs: GraphSet, path: Path) -> GraphSet:
    """Return the graphs with the labels of their folder alone: classes, or numbers as targets."""
    texts = read_file_labels(path, graphs.graph_names or ())
    columns: Fields = {"classes": None, "class_names": (), "targets": None, "target_names": ()}
    if labels.are_numbers([text or "" for text in labels.drop_missing(texts, LABELS, warn=False)]):
        found = labels.read_labels(labels.LabelTexts((LABELS,), [texts]), "numbers", warn=True)
        columns |= {"targets": found.y[:, None], "target_names": ("label",)}
    else:
        classes = labels.drop_missing([*map(labels.class_of_text, texts)], LABELS)
        columns["classes"], columns["class_names"] = encode_categories(classes)
    return replace(graphs, **columns)


def _read_file(path: Path) -> list[Any]:
    """Return the graphs of one file; raises ``DataError`` that names it."""
    refuse_pickle(path)
    title, parse = _PARSERS[suffix_of(path)]
    try:
        graphs = parse(read_bounded(path))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except Exception as error:  # whatever a parser makes of a broken file
        text = str(error) or type(error).__name__
        raise DataError(f"{path} cannot be read as {title}: {text[:300]}.") from error
    if not graphs or any(len(graph) == 0 for graph in graphs):
        raise DataError(f"{path} holds a graph without nodes. Remove the file, or add its nodes.")
    return graphs


def _check_xml(content: bytes) -> None:
    """Raise ``DataError`` for XML that NetworkX would read as another graph, or not at all.

    Entities, which can expand without end; graphs inside graphs, of which it reads the outer one;
    ids of two nodes, which it merges; and edges to nodes that are not there, which it adds.
    """
    from xml.parsers import expat

    nodes: set[str] = set()
    ends: list[str] = []
    depth = 0

    def refuse(*args: Any) -> None:
        raise DataError("XML with entity declarations is refused: they can expand without end.")

    def begin(tag: str, given: dict[str, str]) -> None:
        nonlocal depth
        kind = tag.rpartition(":")[2]
        depth += kind == "graph"
        if depth > 1:
            raise DataError("a graph inside a graph is not read. Save each graph by itself.")
        if kind == "node" and "id" in given:
            if given["id"] in nodes:
                raise DataError(f"several nodes have the id {given['id']!r:.60}: must be unique.")
            nodes.add(given["id"])
        elif kind == "edge":
            ends.extend(given[key] for key in ("source", "target") if key in given)

    def end(tag: str) -> None:
        nonlocal depth
        if tag.rpartition(":")[2] == "graph":
            depth -= 1
            if missing := set(ends) - nodes:
                raise DataError(f"an edge ends at {min(missing)!r:.60}, which is not a node.")
            nodes.clear()
            ends.clear()

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.Parse(content, True)


def _with_defaults(graph: Any) -> Any:
    """Return a graph of GraphML or GEXF whose nodes and edges have the defaults of attributes."""
    rows = {
        "node_default": [data for _, data in graph.nodes(data=True)],
        "edge_default": [data for *_, data in graph.edges(data=True)],
    }
    for key, records in rows.items():
        for name, value in graph.graph.pop(key, {}).items():
            for data in records:
                data.setdefault(name, value)
    return graph


def _graphml(content: bytes) -> list[Any]:
    from networkx.readwrite.graphml import GraphMLReader

    _check_xml(content)
    return [_with_defaults(graph) for graph in GraphMLReader()(path=io.BytesIO(content))]


def _gexf(content: bytes) -> list[Any]:
    import networkx as nx

    _check_xml(content)
    graph = _with_defaults(nx.read_gexf(io.BytesIO(content)))
    for *_, data in graph.edges(data=True):
        data.pop("id", None)
    return [graph]


def _gml(content: bytes) -> list[Any]:
    import networkx as nx

    return [nx.parse_gml(content.decode("utf-8-sig"), label="id")]


def _node_link(content: bytes) -> list[Any]:
    import networkx as nx

    found = json.loads(content)
    if isinstance(found, dict) and isinstance(found.get("graphs"), list):
        found = found["graphs"]
    graphs = []
    for item in found if isinstance(found, list) else [found]:
        parts = item if isinstance(item, dict) else {}
        keys = [key for key in ("links", "edges") if isinstance(parts.get(key), list)]
        if len(keys) > 1:
            raise DataError("there are both 'links' and 'edges'. Put all of them into 'links'.")
        key = keys[0] if keys else None
        if key is None or not isinstance(parts.get("nodes"), list):
            raise DataError("node-link JSON has lists 'nodes' and 'links' (or 'edges').")
        check_links(item["nodes"], item[key])
        if not isinstance(item.get("directed", False), bool):
            raise DataError(f"'directed' must be true or false. Got {item['directed']!r:.40}.")
        # Repeated links are merged as everywhere; a plain graph would keep the last one alone.
        item = {"directed": False, "graph": {}} | item | {"multigraph": True}
        graphs.append(nx.node_link_graph(item, edges=key))
    return graphs


def _edge_list(content: bytes) -> list[Any]:
    import networkx as nx

    rows = rows_of_text(content.decode("utf-8-sig"))
    if not rows:
        return []
    places = _ends([cell.lower() for cell in rows[0]])
    has_header = {"source", "target"} <= set(places)
    _read_decimal_commas(rows, has_header)
    header = rows[0] if has_header else ["source", "target", "weight"]
    places = places if has_header else {"source": 0, "target": 1}
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        raise DataError(f"several columns are called {twice[0]!r}. Give them different names.")
    others = {i: name for i, name in enumerate(header) if i not in places.values()}
    graphs: dict[str, Any] = {}
    for number, row in enumerate(rows[has_header:], 1 + has_header):
        is_dictionary = not has_header and len(row) > 2 and row[2].startswith("{")
        is_wide = len(row) > len(header) and not is_dictionary
        if len(row) < 2 or is_wide or (has_header and len(row) < len(header)):
            expected = str(len(header)) if has_header else "2 or 3"
            raise DataError(f"row {number} has {len(row)} cells, expected {expected}.")
        owner = row[places["graph"]] if "graph" in places else ""
        if "graph" in places and not owner:
            raise DataError(f"row {number} has no {header[places['graph']]!r}: whose edge is it?")
        ends = [row[places[key]] for key in ("source", "target")]
        if "" in ends:
            raise DataError(f"row {number} has an edge with one end: both must name a node.")
        if is_dictionary:
            if row[2:] != ["{}"]:
                raise DataError(
                    f"row {number} has attributes as a Python dictionary, which is not read. Write "
                    "a weight alone (nx.write_weighted_edgelist), or a table with a header."
                )
            row = row[:2]
        graph = graphs.setdefault(owner, nx.MultiGraph(name=owner))
        data = {name: _value(row[i]) for i, name in others.items() if i < len(row)}
        data = {name: value for name, value in data.items() if value is not None}
        graph.add_edge(*ends, **data)
    return list(graphs.values())


def _read_decimal_commas(rows: list[list[str]], has_header: bool) -> None:
    """Replace decimal commas in the columns of numbers of an edge list by points; warn of it."""
    header = rows[0] if has_header else ["source", "target", "weight"]
    places = [p for p, name in enumerate(header) if p > 1 or has_header]
    seen = {place: Commas() for place in places}
    for row in rows[has_header:]:
        for place, commas in seen.items():
            if place < len(row):
                commas.see(row[place])
    for note in comma_notes((header[place], commas) for place, commas in seen.items()):
        warn_user(f"{note}.")
    for place, commas in seen.items():
        for row in rows[has_header:] if commas.are_decimal else ():
            if place < len(row):
                row[place] = with_point(row[place])


def _ends(header: list[str]) -> dict[str, int]:
    """Return the places of the columns of an edge list in a header.

    Tables of molecules may have a source and a target too, those of a measurement.
    """
    names = [cell.lower() for cell in header]
    if any(word in name for name in names for word in ("smiles", "inchi")):
        return {}
    found = {key: [names.index(n) for n in known if n in names] for key, known in _COLUMNS.items()}
    places = {key: where[0] for key, where in found.items() if where}
    return places if {"source", "target"} <= set(places) else {}


def _value(text: str) -> Any:
    """Return a cell as a number, a boolean or a text; None if it is empty."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return parse_number(text)
    except ValueError:
        return text or None


_PARSERS: dict[str, tuple[str, Callable[[bytes], list[Any]]]] = {
    ".graphml": ("GraphML", _graphml),
    ".gml": ("GML", _gml),
    ".gexf": ("GEXF", _gexf),
    ".net": ("Pajek", read_pajek),
    ".pajek": ("Pajek", read_pajek),
    ".json": ("node-link JSON", _node_link),
    ".edgelist": ("an edge list", _edge_list),
    ".edges": ("an edge list", _edge_list),
    ".csv": ("an edge list", _edge_list),
    ".tsv": ("an edge list", _edge_list),
    ".npz": ("matrices of SciPy or NumPy", read_npz),
    ".npy": ("adjacency matrices of NumPy", read_npy),
}


def _drop_names(graphs: list[Any]) -> tuple[str, ...]:
    """Remove labels that name nodes, as GML, GEXF and Pajek have them; return a note if there are.

    A label names nodes if no two nodes of a graph share one.
    """
    labels = [[data.get("label") for _, data in graph.nodes(data=True)] for graph in graphs]
    present = [[value for value in part if value is not None] for part in labels]
    if not any(present) or any(len(set(map(str, part))) < len(part) for part in present):
        return ()
    if max(map(len, present)) < 2:
        return ()
    for graph in graphs:
        for _, data in graph.nodes(data=True):
            data.pop("label", None)
    return ("node label not used: it names the nodes, no two nodes of a graph share one",)
