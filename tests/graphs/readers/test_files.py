from __future__ import annotations

import gzip
import json
import os
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from igsd.batches.features import FeatureMap
from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.graphs.label_source import find_labels
from igsd.graphs.open import as_graphset, open_data
from igsd.graphs.readers import file_labels, files
from igsd.graphs.readers.matrices import matrix_graph
from tests.small_graphs import make_graphs


def network(n: int = 6) -> nx.Graph:
    graph = nx.cycle_graph(n)
    for u, v, data in graph.edges(data=True):
        data["weight"] = float(u + v)
    for v, data in graph.nodes(data=True):
        data |= {"age": float(v), "club": "xy"[v % 2]}
    return graph


def write_json(graph: nx.Graph, path: Path) -> None:
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))


WRITERS: dict[str, Any] = {
    "graphml": nx.write_graphml,
    "gml": nx.write_gml,
    "gexf": nx.write_gexf,
    "net": lambda graph, path: nx.write_pajek(nx.Graph(graph.edges(data=True)), path),
    "json": write_json,
    "edgelist": nx.write_weighted_edgelist,
    "npz": lambda graph, path: sparse.save_npz(path, nx.to_scipy_sparse_array(graph)),
    "npy": lambda graph, path: np.save(path, nx.to_numpy_array(graph)),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_graph(kind: str, tmp_path: Path) -> None:
    for n in (10, 4, 5):
        WRITERS[kind](network(n), tmp_path / f"g{n}.{kind}")
    graphs = open_data(tmp_path)
    assert graphs.graph_names == tuple(f"g{n}.{kind}" for n in (4, 5, 10))
    assert graphs.node_counts().tolist() == graphs.edge_counts().tolist() == [4, 5, 10]
    assert graphs.edge_attribute_names == ("weight",)
    assert graphs.edge_attributes is not None
    rows, columns = graphs[0].adjacency.rows(), graphs[0].adjacency.col
    one = graphs[0].edge_attributes
    assert one is not None
    assert sorted(one[:, 0].tolist()) == [1, 1, 3, 3, 3, 3, 5, 5]
    assert len(rows) == len(columns) == 8
    if kind in ("graphml", "gml", "gexf", "json"):
        assert graphs.node_attribute_names == ("age", "club")
        assert graphs.node_category_names == ((), ("x", "y"))
    alone = open_data(tmp_path / f"g4.{kind}")
    assert (len(alone), alone.name) == (1, "g4")


def test_every_format_has_its_ending() -> None:
    assert tuple(files._PARSERS) == file_labels.SUFFIXES


def test_labels_of_a_folder(tmp_path: Path) -> None:
    for n in (4, 5, 6):
        nx.write_graphml(network(n), tmp_path / f"g{n}.graphml")
    outside = tmp_path.parent / f"{tmp_path.name}-labels.csv"
    outside.write_text("label;file\nb;g4.graphml\na;g6.graphml\n;g5.graphml\n")
    found = find_labels(open_data(tmp_path), str(tmp_path), str(outside))
    assert found.y == ["b", None, "a"]
    (tmp_path / "labels.csv").write_text("file,label\ng4,b\ng5,\ng6,a\n")
    graphs = open_data(tmp_path)
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([1, -1, 0], ("a", "b"))


def test_labels_of_a_folder_follow_the_rules_of_all_labels(tmp_path: Path) -> None:
    """They were once classes as written: 1 and 1.0, NA, -1, and every measured number."""
    for n in (4, 5, 6, 7, 8):
        nx.write_graphml(network(n), tmp_path / f"g{n}.graphml")
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\ng4,1\ng5,1.0\ng6,NA\ng7,0\ng8,-1\n")
    with pytest.warns(IGSDWarning, match=r"2 of 5 labels in 'labels\.csv' are taken as missing"):
        graphs = open_data(tmp_path)
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([1, 1, -1, 0, -1], (0, 1))
    labels.write_text("file,label\ng4,0.5\ng5,1.25\ng6,\ng7,2\ng8,-1\n")
    graphs = open_data(tmp_path)
    assert (graphs.classes, graphs.target_names) == (None, ("label",))
    assert find_labels(graphs, str(tmp_path), "label").y.tolist()[3:] == [2.0, -1.0]


def test_an_empty_label_counts_as_one_that_is_missing(tmp_path: Path) -> None:
    """The note counted only the graphs without a row."""
    for n in (4, 5, 6, 7):
        nx.write_graphml(network(n), tmp_path / f"g{n}.graphml")
    (tmp_path / "labels.csv").write_text("file,label\ng4,\ng5,x\n")
    message = (
        r"no row for g6\.graphml, g7\.graphml, and no label in the row of g4\.graphml; "
        "3 graphs of 4 count as unlabelled"
    )
    with pytest.warns(IGSDWarning, match=message):
        graphs = open_data(tmp_path)
    assert graphs.classes is not None
    assert graphs.classes.tolist() == [-1, 0, -1, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,label\n", "has no row for any graph"),
        ("file,label\ng4,b\ng5,a\ng7,a\n", "names g7, but there is no such file"),
        ("file,label\ng4,b\ng4,a\ng5,a\n", "gives the file g4 two labels"),
        ("name,class,age\ng4,b,1\n", "must have the columns file and label"),
        ("g4,b\ng5,a\n", "must have the columns file and label, named in its first line"),
        ("file,label\ng4.gml,b\ng5,a\n", "names g4.gml, but there is no such file"),
        ("file,label\ng4\n", "a row of 1 cells"),
    ],
)
def test_labels_that_do_not_fit(text: str, message: str, tmp_path: Path) -> None:
    for n in (4, 5):
        nx.write_graphml(network(n), tmp_path / f"g{n}.graphml")
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        open_data(tmp_path)


def test_only_the_ending_is_left_out_of_a_name(tmp_path: Path) -> None:
    """The label of team.11 once became that of every file called team."""
    for n in range(4):
        nx.write_graphml(network(4 + n), tmp_path / f"team.0{n}.graphml{'.gz' if n == 3 else ''}")
    labels = tmp_path / "labels.csv"
    for ending in ("", ".graphml"):
        rows = [f"team.0{n}{ending},{'abca'[n]}\n" for n in range(3)]
        labels.write_text("file,label\n" + "".join(rows) + "team.03,a\n")
        graphs = open_data(tmp_path)
        assert graphs.classes is not None
        assert [graphs.class_names[c] for c in graphs.classes] == list("abca")
    labels.write_text("file,label\nteam,a\n")
    with pytest.raises(DataError, match="names team, but there is no such file"):
        open_data(tmp_path)


def test_two_files_that_differ_in_the_ending(tmp_path: Path) -> None:
    nx.write_graphml(network(4), tmp_path / "net.graphml")
    nx.write_gml(network(5), tmp_path / "net.gml")
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\nnet,a\n")
    message = "net, which is ambiguous: there are net.gml, net.graphml. Give the ending"
    with pytest.raises(DataError, match=message):
        open_data(tmp_path)
    labels.write_text("file,label\nnet.graphml,a\n")
    with pytest.warns(IGSDWarning, match=r"no row for net\.gml; 1 graph of 2 count as unlabelled"):
        graphs = open_data(tmp_path)
    assert graphs.classes is not None
    assert graphs.classes.tolist() == [-1, 0]
    labels.write_text("file,label\nnet.graphml,a\nnet.gml,b\n")
    graphs = open_data(tmp_path)
    assert graphs.classes is not None
    assert (graphs.graph_names, graphs.classes.tolist()) == (("net.gml", "net.graphml"), [1, 0])


def test_a_label_of_a_file_is_that_of_all_its_graphs(tmp_path: Path) -> None:
    two = [nx.node_link_data(network(n), edges="edges") for n in (4, 5)]
    (tmp_path / "two.json").write_text(json.dumps(two))
    nx.write_gml(network(5), tmp_path / "one.gml")
    for text in ("one,a\ntwo.json,b\n", "one,a\ntwo,b\n", "one,a\ntwo.json:0,b\ntwo.json:1,b\n"):
        (tmp_path / "labels.csv").write_text("file,label\n" + text)
        graphs = open_data(tmp_path)
        assert graphs.classes is not None
        assert graphs.classes.tolist() == [0, 1, 1]


@pytest.mark.parametrize("header", ["filename,label", "file,kind", "name;kind", "Network\tclub"])
def test_labels_by_file_under_any_header(header: str, tmp_path: Path) -> None:
    """Each line was once taken as a label."""
    folder, labels = tmp_path / "nets", tmp_path / "l.csv"
    folder.mkdir()
    for n in (4, 5, 6):
        nx.write_graphml(network(n), folder / f"g{n}.graphml")
    mark = next(mark for mark in ",;\t" if mark in header)
    rows = (("g5", "a"), ("g4.graphml", "b"), ("g6", ""))
    labels.write_text("\n".join([header, *map(mark.join, rows)]))
    assert find_labels(open_data(folder), str(folder), str(labels)).y == ["b", "a", None]
    labels.write_text("name,kind,age\ng4,b,1\ng5,a,2\ng6,a,3\n")
    with pytest.raises(DataError, match="must have the columns file and label"):
        find_labels(open_data(folder), str(folder), str(labels))


def test_several_files_are_one_set(tmp_path: Path) -> None:
    """Sets of one file each could not be joined: their texts have different codes."""
    one, two = network(4), network(5)
    one.nodes[0]["club"] = "z"
    nx.write_graphml(one, tmp_path / "one.graphml")
    nx.write_gml(two, tmp_path / "two.gml")
    for kind in (str, Path):
        graphs = open_data([kind(tmp_path / "two.gml"), kind(tmp_path / "one.graphml")])
        assert graphs.graph_names == ("two.gml", "one.graphml")
        assert graphs.node_category_names == ((), ("x", "y", "z"))
    (tmp_path / "more").mkdir()
    nx.write_gml(two, tmp_path / "more" / "two.gml")
    paths = [tmp_path / "two.gml", tmp_path / "more" / "two.gml"]
    assert open_data(paths).graph_names == tuple(map(str, paths))
    (tmp_path / "labels.csv").write_text("file,label\none,a\ntwo,b\n")
    with pytest.warns(IGSDWarning, match=r"labels\.csv was not read"):
        open_data(paths)
    with pytest.raises(DataError, match=r"There is no file .*none\.gml"):
        open_data([tmp_path / "two.gml", tmp_path / "none.gml"])
    (tmp_path / "molecules.csv").write_text("smiles\nCCO\n")
    with pytest.raises(DataError, match=r"molecules\.csv: not a file of networks"):
        open_data([tmp_path / "two.gml", tmp_path / "molecules.csv"])


def test_what_a_folder_holds_besides_is_named(tmp_path: Path) -> None:
    nx.write_gml(network(), tmp_path / "one.gml")
    (tmp_path / ".hidden").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_data(tmp_path)
    for name in ("notes.txt", "README"):
        (tmp_path / name).write_text("text")
    (tmp_path / "notes.csv").write_text("day,text\n1,a\n")
    (tmp_path / "more").mkdir()
    with pytest.warns(IGSDWarning, match=r"Not read in .*: README, more/, notes.csv, notes.txt"):
        assert len(open_data(tmp_path)) == 1


def test_the_file_of_a_wrong_number_is_named(tmp_path: Path) -> None:
    nx.write_gml(network(), tmp_path / "a.gml")
    bad = network()
    bad.edges[1, 2]["weight"] = float("nan")
    nx.write_graphml(bad, tmp_path / "b.graphml")
    message = r"edge between nodes 1 and 2 of graph 1 of '.*', b\.graphml, has weight nan"
    with pytest.raises(DataError, match=message):
        FeatureMap.fit(open_data(tmp_path), edge_weight="weight")
    bad.edges[1, 2]["weight"], bad.nodes[3]["age"] = 1.0, float("inf")
    nx.write_graphml(bad, tmp_path / "b.graphml")
    graphs = open_data(tmp_path)
    with pytest.raises(DataError, match=r"node 3 of graph 1 of '.*', b\.graphml, has age inf"):
        FeatureMap.fit(graphs)
    FeatureMap.fit(graphs, attributes="none")


def test_the_file_is_named_for_which_an_attribute_is_left_out(tmp_path: Path) -> None:
    """One file of hundreds takes the attribute from all; nothing told which."""
    for n, (age, size) in enumerate([(20, 1), ("old", 2), (30, None), (40, 3)]):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, age, "age")
        if size is not None:
            nx.set_node_attributes(graph, size, "size")
        nx.write_gml(graph, tmp_path / f"g{n}.gml")
    assert [note for note in open_data(tmp_path).notes if "attribute" in note] == [
        "node attribute 'age' not used: numbers and texts such as 'old' (in g1.gml) are mixed",
        "node attribute 'size' not used: 3 of 12 nodes have none, first in g2.gml",
    ]


def test_molecules_with_a_source_and_a_target(tmp_path: Path) -> None:
    """Those of ChEMBL were read as one network, silently."""
    pytest.importorskip("rdkit")
    rows = "CCO,lab,kinase\nCCN,lab,kinase\nCCC,paper,kinase\n"
    (tmp_path / "m.csv").write_text(f"smiles,source,target\n{rows}")
    assert len(open_data(tmp_path / "m.csv")) == 3


@pytest.mark.parametrize("suffix", ["csv", "tsv", "edgelist", "csv.gz", "edges"])
def test_one_file_with_a_column_of_graphs(suffix: str, tmp_path: Path) -> None:
    mark = "\t" if suffix == "tsv" else ","
    rows = [["Graph", "from", "to", "weight", "kind"]]
    rows += [
        ["first", "a", "b", "2", "x"],
        ["first", "b", "c", "", "y"],
        ["2nd", "a", "b", "3", "x"],
    ]
    text = "# a comment\n" if "csv" not in suffix and suffix != "tsv" else ""
    text += "\n".join(mark.join(row) for row in rows)
    path = tmp_path / f"mine.{suffix}"
    if suffix == "csv.gz":
        path = tmp_path / "mine.edgelist.gz"
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    graphs = open_data(path)
    assert (graphs.graph_names, graphs.name) == (("first", "2nd"), "mine")
    assert graphs.edge_attribute_names == ("kind", "weight")
    assert "1 edge without a weight: counted as 1" in graphs.notes


def test_a_direction_that_is_no_boolean(tmp_path: Path) -> None:
    """The text "false" made a graph directed."""
    text = '{"directed": "false", "nodes": [{"id": 0}, {"id": 1}], "links": []}'
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=r"'directed' must be true or false\. Got 'false'"):
        open_data(tmp_path / "a.json")


def test_several_graphs_in_one_json(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps([nx.node_link_data(network(n), edges="edges") for n in (4, 5)]))
    assert open_data(path).node_counts().tolist() == [4, 5]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.graphml", b"<graphml><graph>", "bad.graphml cannot be read as GraphML"),
        ("bad.gml", b"graph [ node [", "bad.gml cannot be read as GML"),
        ("bad.json", b"{}", "bad.json: node-link JSON has lists"),
        ("bad.json", b"{", "bad.json cannot be read as node-link JSON"),
        ("bad.npz", b"PK\x05\x06" + b"\0" * 18, "bad.npz holds a graph without nodes"),
        ("bad.npz", b"PK\x05\x06", "bad.npz cannot be read as matrices of SciPy or NumPy"),
        ("bad.edgelist", b"a b 1 2 3\n", "bad.edgelist: row 1 has 5 cells, expected 2 or 3"),
        ("bad.json", b"[[0, 1]]", "bad.json: node-link JSON has lists"),
        ("bad.json", b"null", "bad.json: node-link JSON has lists"),
        (
            "bad.json",
            b'{"nodes": [{"id": "1"}, {"id": "2"}], "links": [{"source": 1, "target": 2}]}',
            "the source 1 of link 0 .* is not the id of a node .there is '1': write both alike",
        ),
        (
            "bad.json",
            b'{"nodes": [{"id": "a"}, {"id": "a"}], "links": []}',
            "several nodes have the id 'a'",
        ),
        ("bad.json", b'{"nodes": [{"id": {}}], "links": []}', "must be a number or a text"),
        ("bad.json", b'{"nodes": [{}, {}], "links": [{"source": 0}]}', "link 0 .* has no 'target'"),
        ("bad.csv", b"graph,source,target\na,1,2\n,3,4\n", "row 3 has no 'graph'"),
        ("bad.edgelist", b"", "bad.edgelist holds a graph without nodes"),
        (
            "bomb.graphml",
            b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><graphml>&d;</graphml>',
            "bomb.graphml: XML with entity declarations is refused",
        ),
        (
            "bomb.gexf",
            '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]><gexf>&b;</gexf>'
            "".encode("utf-16"),
            "entity declarations",
        ),
    ],
)
def test_a_broken_file_is_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    nx.write_graphml(network(), tmp_path / "a.graphml")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_data(tmp_path)


def test_matrices_in_an_archive_of_numpy(tmp_path: Path) -> None:
    one = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.savez(tmp_path / "some.npz", a=one, b=np.ones((4, 4)) - np.eye(4), c=np.stack([one, one]))
    found = open_data(tmp_path / "some.npz")
    assert found.node_counts().tolist() == [3, 4, 3, 3]


def test_links_by_number(tmp_path: Path) -> None:
    """As D3 once wrote them: nodes without ids are numbered from 0."""
    text = '{"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1}]}'
    (tmp_path / "d3.json").write_text(text)
    assert open_data(tmp_path / "d3.json").node_counts().tolist() == [2]


def test_matrices_in_python() -> None:
    one = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    plain, weighted = as_graphset([one]), as_graphset([sparse.csr_array(2.0 * one)])
    assert plain.edge_attributes is None
    assert weighted.edge_attribute_names == ("weight",)
    one_way = as_graphset([np.triu(one)])
    assert one_way.directions is not None
    with pytest.raises(DataError, match=r"must be square. Got shape \[2, 3\]"):
        matrix_graph(np.zeros((2, 3)))
    with pytest.raises(DataError, match="must hold numbers"):
        matrix_graph(np.zeros((2, 2), complex))


@pytest.mark.parametrize(
    ("form", "arrays"),
    [
        ("csr", {"indices": [0, 1], "indptr": [0, 5, 2, 2]}),
        ("csr", {"indices": [0, 1], "indptr": [0, 1, 2, 0]}),
        ("csr", {"indices": [-1, 1], "indptr": [0, 1, 2, 2]}),
        ("csc", {"indices": [0, 1], "indptr": [0, 1 << 30, 2, 2]}),
        ("bsr", {"indices": [0, 7], "indptr": [0, 9, 2, 2], "data": np.ones((2, 1, 1))}),
        ("coo", {"row": [0, -1], "col": [0, 1]}),
        ("coo", {"row": [0, 9], "col": [0, 1]}),
        ("coo", {"row": [0, 1], "col": [0, 1], "shape": [10**12, 10**12]}),
        ("dia", {"offsets": [0], "data": np.ones((1, 2)), "shape": [10**12, 10**12]}),
    ],
)
def test_sparse_matrices_that_lie(form: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    """Pointers that fall ended the process: SciPy follows them unchecked."""
    whole = {"format": np.array(form.encode()), "shape": [3, 3], "data": np.ones(2)} | arrays
    keys = ("indices", "indptr", "row", "col", "offsets")
    whole |= {key: np.array(arrays[key], np.int32) for key in keys if key in arrays}
    np.savez(tmp_path / "a.npz", **whole)
    with pytest.raises(DataError):
        open_data(tmp_path / "a.npz")


def test_a_sparse_matrix_that_lies_in_python() -> None:
    matrix = sparse.csr_array(np.ones((3, 3)))
    matrix.indptr[1] = 500_000
    with pytest.raises(DataError, match="contradicts itself"):
        open_data([matrix])


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "bad.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises((DataError, StorageError), match="pickle"):
        open_data(tmp_path / "bad.npy")


class Igraph:
    """As much of an igraph graph as is read."""

    def __init__(self) -> None:
        nodes = [{"age": 1.0}, {"age": 2.0}, {"age": 3.0}]
        edges = [((0, 1), {"weight": 2.0}), ((1, 2), {"weight": 1.0})]
        self.vs = [SimpleNamespace(index=i, attributes=lambda d=d: d) for i, d in enumerate(nodes)]
        self.es = [SimpleNamespace(tuple=ends, attributes=lambda d=d: d) for ends, d in edges]

    def __getitem__(self, key: str) -> object:
        return {"label": "good"}[key]

    def attributes(self) -> list[str]:
        return ["label"]

    def is_directed(self) -> bool:
        return False

    def get_edgelist(self) -> list[tuple[int, int]]:
        return [edge.tuple for edge in self.es]


def test_igraph_and_dgl() -> None:
    graphs = as_graphset([Igraph(), Igraph()])
    assert (graphs.node_attribute_names, graphs.edge_attribute_names) == (("age",), ("weight",))
    assert graphs.class_names == ("good",)
    dgl = SimpleNamespace(
        ndata={"feat": torch.ones(3, 2), "label": torch.tensor([1, 0, 1])},
        edata={"weight": torch.tensor([1.0, 2.0])},
        num_nodes=lambda: 3,
        edges=lambda: (torch.tensor([0, 1]), torch.tensor([1, 2])),
    )
    graphs = as_graphset([dgl])
    assert graphs.node_attribute_names == ("feat[0]", "feat[1]")
    assert graphs.node_label_names == (0, 1)
    assert graphs.directions is not None


def test_a_folder_of_many_files_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    folder, read = tmp_path / "nets", []
    folder.mkdir()
    for n in range(4, 26):
        nx.write_graphml(network(n), folder / f"g{n}.graphml")
    parse = files._read_file
    monkeypatch.setattr(files, "_read_file", lambda path: read.append(path) or parse(path))
    first, again = open_data(folder), open_data(folder)
    assert len(read) == 22
    assert (again.checksum, again.name, again.notes) == (first.checksum, "nets", first.notes)
    assert again.graph_names == first.graph_names
    nx.write_graphml(network(30), folder / "g4.graphml")
    assert open_data(folder).node_counts()[0] == 30
    (folder / "labels.csv").write_text(
        "file,label\n" + "".join(f"g{n},{'ab'[n % 2]}\n" for n in range(4, 26))
    )
    assert open_data(folder).class_names == ("a", "b")


def test_names_of_files_that_are_not_utf8(tmp_path: Path) -> None:
    """A set with such a name could neither be saved nor embedded."""
    folder = tmp_path / "f"
    folder.mkdir()
    for name in ("caf\udcc3\udca9.gml", "b\udcff.gml"):  # as Python reads them in the C locale
        nx.write_gml(nx.cycle_graph(4), folder / name)
    graphs = open_data(folder)
    assert {"b\\xff.gml"} < set(graphs.graph_names or ()) <= {"b\\xff.gml", "café.gml"}
    graphs.save(tmp_path / "g")
    assert open_data(tmp_path / "g").graph_names == graphs.graph_names


def test_labels_by_file_in_any_order_of_the_columns(tmp_path: Path) -> None:
    """Whole lines were taken for classes if the names of the graphs stood second."""
    folder = tmp_path / "f"
    folder.mkdir()
    for n in (4, 5, 6):
        nx.write_gml(nx.cycle_graph(n), folder / f"g{n}.gml")
    (tmp_path / "y.csv").write_text("y,name\nb,g5.gml\na,g4.gml\nb,g6\n")
    found = find_labels(open_data(folder), str(folder), str(tmp_path / "y.csv"))
    assert found.y == ["a", "b", "b"]


@pytest.mark.parametrize("names", [("h0", "h1", "h2", "h3"), ("0", "1", "2", "3"), ("g0.xml",) * 4])
def test_a_table_of_labels_that_names_other_graphs(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Its whole lines, such as 'h0,a', were taken as the names of classes."""
    for place in range(4):
        nx.write_graphml(nx.path_graph(place + 2), tmp_path / f"g{place}.graphml")
    graphs, labels = open_data(tmp_path), tmp_path.parent / f"{tmp_path.name}.csv"
    rows = [f"{name},{'ab'[place % 2]}\n" for place, name in enumerate(names)]
    labels.write_text("id,k\n" + "".join(rows))
    with pytest.raises(DataError, match=r"the columns id, k, and none .* called 'g0\.graphml', "):
        find_labels(graphs, str(tmp_path), str(labels))
    with pytest.raises(DataError, match=r"the columns id, k, .* which have no names\. Give"):
        find_labels(make_graphs(4), "MUTAG", str(labels))
    labels.write_text("id,k\n" + "".join(f"g{place},a\n" for place in range(4)))
    assert find_labels(graphs, str(tmp_path), str(labels)).y == ["a"] * 4
    labels.write_text("file,label\ng0," + "x" * 200_000)
    with pytest.raises(DataError, match=r"cannot be read as a table: line 2: field larger"):
        find_labels(graphs, str(tmp_path), str(labels))


def test_labels_by_names_that_look_like_classes(tmp_path: Path) -> None:
    """The first column was taken for the names, whichever it was."""
    path, names = tmp_path / "y.csv", ["0", "1", "2", "3"]
    path.write_text("kind,number\n1,0\n0,1\n1,2\n0,3\n")
    assert file_labels.read_file_labels(path, names) == ["1", "0", "1", "0"]
    path.write_text("a,b\n1,0\n0,1\n3,2\n2,3\n")
    with pytest.raises(DataError, match=r"Both columns of .*, a and b, may name the graphs"):
        file_labels.read_file_labels(path, names)


@pytest.mark.parametrize("kind", [object, str])
def test_matrices_of_other_things_than_numbers(kind: type) -> None:
    """They ended in SciPy's own error."""
    matrix = np.array([["a", "b"], ["c", "d"]], dtype=kind)
    with pytest.raises(DataError, match="must hold numbers"):
        matrix_graph(matrix)


def test_labels_of_molecules_are_not_matched_by_a_part_of_their_smiles(tmp_path: Path) -> None:
    """The slash of a double bond was taken for a folder: C/C=C/CO labelled methanol."""
    path = tmp_path / "labels.csv"
    path.write_text("smiles,label\nCC,y\nCCO,x\nC/C=C/CO,y\n")
    with pytest.raises(DataError, match="C/C=C/CO, but there is no such graph"):
        file_labels.read_file_labels(path, ["CC", "CCO", "CO"])


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "source,target\na,b\n,b\n", "row 3 has an edge with one end"),
        ("a.csv", "source,target,w,w\na,b,1,2\n", "several columns are called 'w'"),
        ("a.edgelist", "0 1 {'weight': 3.0}\n", "attributes as a Python dictionary"),
    ],
)
def test_edges_that_are_not_whole(tmp_path: Path, name: str, text: str, reason: str) -> None:
    """Rows with a gap were joined through a node without a name."""
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=reason):
        open_data(tmp_path / name)


def test_edge_lists_of_networkx_without_attributes(tmp_path: Path) -> None:
    nx.write_edgelist(nx.path_graph(4), tmp_path / "path.edgelist")
    graphs = open_data(tmp_path / "path.edgelist")
    assert (graphs.edge_counts().tolist(), graphs.edge_attributes) == ([3], None)


def test_repeated_links_of_json_add_up(tmp_path: Path) -> None:
    """The last of them counted alone, without a word."""
    nodes = [{"id": 0}, {"id": 1}]
    links = [{"source": 0, "target": 1, "weight": weight} for weight in (2.0, 3.0)]
    (tmp_path / "a.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    (tmp_path / "b.edgelist").write_text("0 1 2\n0 1 3\n")
    found, expected = open_data(tmp_path / "a.json"), open_data(tmp_path / "b.edgelist")
    assert found.edge_attributes.tolist() == expected.edge_attributes.tolist()


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="q" for="node" attr.name="q" attr.type="double"><default>2</default></key>
<key id="w" for="edge" attr.name="weight" attr.type="double"><default>5</default></key>
{graphs}</graphml>"""
GRAPH = """<graph edgedefault="undirected"><node id="a"><data key="q">7</data></node><node id="b"/>
{more}<edge source="a" target="b"/></graph>"""


def test_graphml_with_several_graphs_and_defaults(tmp_path: Path) -> None:
    """Only the first graph was read, and a weight left to its default counted as 1."""
    path = tmp_path / "two.graphml"
    path.write_text(GRAPHML.format(graphs=GRAPH.format(more="") * 2))
    graphs = open_data(path)
    assert graphs.node_counts().tolist() == [2, 2]
    assert graphs.node_attributes is not None
    assert graphs.node_attributes[:, 0].tolist() == [7, 2, 7, 2]
    assert graphs.edge_attributes is not None
    assert set(graphs.edge_attributes[:, 0].tolist()) == {5.0}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('<node id="b"/>', "several nodes have the id 'b'"),
        ('<edge source="a" target="z"/>', "ends at 'z', which is not a node"),
        ('<graph edgedefault="directed"/>', "a graph inside a graph"),
    ],
)
def test_graphml_that_networkx_reads_as_another_graph(
    more: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "g.graphml").write_text(GRAPHML.format(graphs=GRAPH.format(more=more)))
    with pytest.raises(DataError, match=message):
        open_data(tmp_path / "g.graphml")


def test_json_with_two_lists_of_links(tmp_path: Path) -> None:
    text = '{"nodes":[{"id":1},{"id":2}],"edges":[{"source":1,"target":2}],"links":[]}'
    (tmp_path / "g.json").write_text(text)
    with pytest.raises(DataError, match="both 'links' and 'edges'"):
        open_data(tmp_path / "g.json")


def test_names_that_begin_as_comments_do(tmp_path: Path) -> None:
    """Edges of hashtags were left out as comments, without a word."""
    path = tmp_path / "tags.csv"
    path.write_text(
        "# a comment, as usual\nsource,target\n#python,#ml\n#python,data\ndata,#ml\n# end\n"
    )
    graphs = open_data(path)
    assert (graphs.node_counts().tolist(), graphs.edge_counts().tolist()) == ([3], [3])


@pytest.mark.parametrize("text", ["a b 1,5\nb c 2,5\nc a 3\n", "a;b;1,5\nb;c;2,5\nc;a;3\n"])
def test_decimal_commas_of_an_edge_list(text: str, tmp_path: Path) -> None:
    """They separated the cells: nodes were called 'a b 1' and 5."""
    (tmp_path / "g.edgelist").write_text(text)
    with pytest.warns(IGSDWarning, match="decimal commas in 'weight' are read as points"):
        graphs = open_data(tmp_path / "g.edgelist")
    assert (graphs.node_counts().tolist(), graphs.edge_counts().tolist()) == ([3], [3])
    assert graphs.edge_attributes is not None
    assert sorted(set(graphs.edge_attributes[:, 0].tolist())) == [1.5, 2.5, 3.0]


def test_names_with_commas_in_an_edge_list_with_blanks(tmp_path: Path) -> None:
    path = tmp_path / "g.edgelist"
    path.write_text("Smith,J Doe,A 1\nDoe,A Roe,B 2\n")
    assert open_data(path).node_counts().tolist() == [3]
    path.write_text("New York,San Francisco\nLos Angeles,New Orleans\n")
    with pytest.raises(DataError, match="commas or blanks may separate"):
        open_data(path)


def test_several_graphs_of_one_name_and_one_label(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,smiles\nm1,CCO\nm1,c1ccccc1\nm2,CCN\n")
    (tmp_path / "labels.csv").write_text("id,label\nm1,a\nm2,b\n")
    pytest.importorskip("rdkit")
    graphs = open_data(tmp_path / "t.csv")
    with pytest.warns(IGSDWarning, match="Several graphs are called m1; each gets the label"):
        found = find_labels(graphs, str(tmp_path / "t.csv"), str(tmp_path / "labels.csv"))
    assert list(found.y) == ["a", "a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """It was opened, and waited for a writer without end."""
    os.mkfifo(tmp_path / "q.csv")
    with pytest.raises(DataError, match="a pipe or a device"):
        open_data(tmp_path / "q.csv")


def test_an_open_quote_does_not_swallow_the_edges_below(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text('source,target,kind\na,b,x\nb,c,"y\nc,a,z\n')
    with pytest.raises(DataError, match=r"g\.csv: line"):
        open_data(tmp_path / "g.csv")
