"""Methods of one's own, and vectors made elsewhere, on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from igsd import open_data
from igsd.baselines.references.vectors import vectors_for
from igsd.errors import DataError, IGSDWarning, StorageError
from tests.baselines.test_own import MODULE
from tests.cli.conftest import SETTINGS, Run
from tests.cli.test_compare import FAST, Made, table_of
from tests.experiments.method_stand_in import in_process
from tests.own_parts import Write, write_module
from tests.small_graphs import make_graphs

__all__ = ["in_process", "write_module"]


@pytest.fixture(autouse=True)
def mine(write_module: Write) -> Path:
    return write_module("mine", MODULE)


def test_compare(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made, write_module: Write
) -> None:
    names = "mine:Sizes,mine:Kernel,histogram"
    command = ["compare", toy, "--methods", names, *FAST, "--set", "mine:Sizes.power=2"]
    code, out, err = igsd(*command)
    assert code == 0, err
    assert list(table_of(out)) == ["mine:Sizes+power-2.0", "mine:Kernel", "histogram", "majority"]
    folder = tmp_path / "runs" / "records" / "nested" / "TOY"
    record = json.loads((folder / "mine_Sizes+power-2.0" / "seed-0.json").read_text())
    assert record["method"] == "mine:Sizes"
    assert record["config"]["power"] == 2.0
    assert record["config"]["own_class"] == "mine:Sizes"
    assert len(record["config"]["own_source"]) == 64
    kernel = json.loads((folder / "mine_Kernel" / "seed-0.json").read_text())
    assert kernel["protocol"]["kernel"] == "precomputed"
    assert "3 runs have a record" in igsd(*command)[2]
    write_module("mine", MODULE + "# changed\n")
    code, out, err = igsd(*command)
    assert code == 2
    assert "own_source is" in err
    code, out, err = igsd(*command, "--force")
    assert (code, len(in_process)) == (0, 5), err
    code, out, err = igsd("report", "runs/records", "-o", "page.html")
    assert code == 0, err
    assert "mine:Sizes, power 2.0" in (tmp_path / "page.html").read_text()


def test_a_method_that_fails_is_named(igsd: Run, toy: Path, in_process: Made) -> None:
    code, out, err = igsd("compare", toy, "--methods", "mine:Fails,histogram", *FAST)
    assert code == 1
    assert table_of(out)["mine:Fails"][0] == "failed"
    assert "mine:Fails failed in transform: ValueError: no luck (mine.py" in err


def test_splits(igsd: Run, toy: Path, tmp_path: Path, in_process: Made) -> None:
    np.save(tmp_path / "elsewhere.npy", np.random.default_rng(0).random((8, 3)))
    names = "mine:Sizes,mine:Kernel,mine:Fails"
    command = ("compare", toy, "--splits", "random", "--methods", names, "--seeds", "1")
    code, out, err = igsd(*command, "--vectors", "elsewhere.npy", "--jobs", "1")
    assert code == 1
    rows = [line.split()[0] for line in out.splitlines()[2:]]
    assert rows == ["mine:Sizes", "mine:Kernel", "elsewhere"]
    assert "mine:Fails failed in transform: ValueError: no luck (mine.py, line" in err
    assert "transform(graphs) must return one row of numbers per graph" in err


def test_help_and_errors_name_what_packages_offer(
    igsd: Run, toy: Path, write_module: Write
) -> None:
    write_module("offers", MODULE, {"methods": "my-sizes = offers:Sizes"})
    for command in ("compare", "train"):
        out = igsd(command, "--help")[1]
        assert "my-sizes           offers:Sizes" in out
        assert "module:Class" in out
    assert "power = 1.0" in igsd("train", "--method", "my-sizes", "--help")[1]
    code, _, err = igsd("compare", toy, "--methods", "my-sises")
    assert (code, "Did you mean 'my-sizes'" in err) == (2, True)


def test_train_and_evaluate(igsd: Run, toy: Path, tmp_path: Path, write_module: Write) -> None:
    code, _, err = igsd("train", toy, "--method", "mine:Sizes", "-o", "run", "--set", "power=2")
    assert code == 0, err
    assert 'own_class = "mine:Sizes"' in (tmp_path / "run" / "config.toml").read_text()
    code, _, err = igsd("embed", "run", toy, "-o", "v.npy")
    assert (code, "does not decide what is imported" in err) == (2, True)
    write_module("offers", MODULE, {"methods": "my-sizes = offers:Sizes"})
    assert igsd("train", toy, "--method", "my-sizes", "-o", "named")[0] == 0
    assert igsd("embed", "named", toy, "-o", "v.npy")[0] == 0
    code, out, err = igsd("evaluate", "named", toy, "--seeds", "1", "--jobs", "1")
    assert (code, "my-sizes" in out) == (0, True), err
    code, _, err = igsd("train", toy, "--method", "mine:Sizes", "--labels", "class")
    assert (code, "makes vectors and does not learn classes" in err) == (2, True)


def test_a_run_folder_does_not_decide_what_is_imported(
    igsd: Run, toy: Path, tmp_path: Path, write_module: Write
) -> None:
    """Somebody else's run folder may name any module; only the command line may."""
    assert igsd("train", toy, "--method", "mine:Sizes", "-o", "run")[0] == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    metrics |= {"status": "running", "method": "trap:Sizes"}
    (tmp_path / "run" / "metrics.json").write_text(json.dumps(metrics))
    write_module("trap", "open('sprung', 'w').close()\n" + MODULE)
    code, _, err = igsd("train", toy, "-o", "run", "--resume")
    assert (code, "'trap:Sizes', and 'igsd' was given" in err) == (2, True), err
    assert not (tmp_path / "sprung").exists()


def test_what_a_run_folder_cannot_hold_is_said(igsd: Run, toy: Path) -> None:
    code, _, err = igsd("train", toy, "--method", "mine:Keeps", "-o", "run")
    assert (code, "rule_ (function) is neither" in err) == (0, True), err


def test_few_labels(igsd: Run, toy: Path) -> None:
    command = ["evaluate", "--protocol", "semi", "--methods", "mine:Sizes", toy, "--seeds", "1"]
    code, out, err = igsd(*command, "--label-rate", "0.5")
    assert (code, "mine:Sizes" in out) == (0, True), err


def test_vectors_made_elsewhere(igsd: Run, toy: Path, tmp_path: Path, in_process: Made) -> None:
    rows = np.random.default_rng(0).random((8, 3)).astype(np.float32)
    np.save(tmp_path / "mine.npy", rows)
    command = ["compare", toy, "--methods", "histogram", "--vectors", "mine.npy", *FAST]
    code, out, err = igsd(*command)
    assert code == 0, err
    assert list(table_of(out)) == ["histogram", "mine", "majority"]
    assert "2 runs have a record" in igsd(*command)[2]
    code, _, err = igsd("report", "runs/records", "-o", "page.html")
    assert code == 0, err
    assert "mine (vectors from a file)" in (tmp_path / "page.html").read_text()
    np.save(tmp_path / "mine.npy", rows + 1)
    code, _, err = igsd(*command)
    assert (code, "vectors_checksum is" in err) == (2, True)
    np.save(tmp_path / "mine.npy", rows[:7])
    code, _, err = igsd(*command)
    assert (code, "holds 7 vectors, but 'TOY' has 8 graphs" in err) == (2, True)
    np.save(tmp_path / "wl.npy", np.ones((8, 2)))
    code, out, err = igsd("compare", toy, "--methods", "histogram", "--vectors", "wl.npy", *FAST)
    assert (code, list(table_of(out))[1]) == (0, "wl.npy"), err  # wl is a method
    code, _, err = igsd("compare", toy, "--methods", "")
    assert (code, "argument after --methods is empty" in err) == (2, True)
    code, _, err = igsd("compare", toy, "--methods", "vectors")
    assert (code, "--vectors FILE" in err) == (2, True)


def test_vectors_are_matched_by_id(tmp_path: Path) -> None:
    graphs = replace(make_graphs(3), ids=("a", "b", "c"))
    path = tmp_path / "v.csv"
    path.write_text("id,x,y\nc,3,0\na,1,0\nb,2,0\n")
    assert vectors_for(str(path), graphs)[:, 0].tolist() == [1, 2, 3]
    path.write_text("id,x,y\nc,3,0\na,1,0\nd,2,0\n")
    with pytest.raises(DataError, match="no row for 'b'"):
        vectors_for(str(path), graphs)
    path.write_text("id,x,y\nc,3,0\na,1,0\na,2,0\n")
    with pytest.raises(DataError, match="no row for 'b'"):
        vectors_for(str(path), graphs)
    path.write_text("id,x,y\na,1,0\nb,2,0\nc,3,0\n")  # the row of a was taken twice
    with pytest.raises(DataError, match="each id once, and several graphs there have the same"):
        vectors_for(str(path), replace(graphs, ids=("a", "a", "c")))


def test_vectors_of_graphs_without_ids_are_matched_by_number(tmp_path: Path) -> None:
    """The column was ignored, and rows were taken in the order of the file."""
    graphs, path = make_graphs(3), tmp_path / "v.csv"
    path.write_text("id,x,y\n2,3,0\n0,1,0\n1,2,0\n")
    assert vectors_for(str(path), graphs)[:, 0].tolist() == [1, 2, 3]
    path.write_text("id,x,y\nm0,1,0\nm1,2,0\nm2,3,0\n")
    with pytest.raises(DataError, match=r"numbers of the graphs.*Without its column 'id'"):
        vectors_for(str(path), graphs)


def test_a_reader_that_a_package_offers(igsd: Run, tmp_path: Path, write_module: Write) -> None:
    text = """
import networkx as nx

def read(path):
    return [nx.path_graph(int(line)) for line in open(path)]
"""
    write_module("reads", text, {"readers": "paths = reads:read"})
    (tmp_path / "some.paths").write_text("3\n4\n")
    assert open_data("some.paths").node_counts().tolist() == [3, 4]
    assert open_data("some.paths").name == "some"
    (tmp_path / "bad.paths").write_text("x\n")
    with pytest.raises(DataError, match=r"reader of .paths files, reads:read, failed.*ValueError"):
        open_data("bad.paths")


def test_a_folder_for_the_reader_of_a_package(
    igsd: Run, tmp_path: Path, write_module: Write, in_process: Made
) -> None:
    text = """
import networkx as nx

def read(path):
    return [nx.path_graph(int(line)) for line in open(path)]
"""
    write_module("reads", text, {"readers": "paths = reads:read"})
    folder = tmp_path / "nets"
    folder.mkdir()
    for number in range(10):
        (folder / f"p{number}.paths").write_text(f"{3 + number}\n")
        nx.write_graphml(nx.star_graph(3 + number), folder / f"s{number}.graphml")
    (folder / "two.paths").write_text("3\n4\n")
    classes = [f"{kind}{number},{kind}" for kind in "ps" for number in range(10)]
    (folder / "labels.csv").write_text("\n".join(["file,label", *classes, "two.paths,p"]))
    graphs = open_data(folder)
    assert (graphs.name, len(graphs)) == ("nets", 22)
    assert graphs.graph_names is not None
    assert graphs.graph_names[0] == "p0.paths"
    assert graphs.graph_names[-2:] == ("two.paths:0", "two.paths:1")
    assert graphs.classes is not None
    assert graphs.classes.tolist() == [0] * 10 + [1] * 10 + [0] * 2
    assert open_data(folder) == graphs  # from the cache
    code, out, err = igsd("compare", folder, "--methods", "histogram", *FAST)
    assert (code, "histogram" in table_of(out)) == (0, True), err
    write_module("reads", text.replace("path_graph", "cycle_graph"))
    assert open_data(folder) != graphs  # of a reader that has changed
    names = [str(folder / "p0.paths"), str(folder / "s0.graphml")]
    assert open_data(names).node_counts().tolist() == [3, 4]
    (folder / "p3.paths").write_text("x\n")
    with pytest.raises(DataError, match=r"reads:read, failed on .*p3.paths: ValueError"):
        open_data(folder)
    (folder / "p3.paths").write_text("")
    with pytest.raises(DataError, match=r"failed on .*p3.paths: there is no graph"):
        open_data(folder)


def test_a_reader_does_not_replace_one_of_igsd(write_module: Write, tmp_path: Path) -> None:
    text = "def read(path):\n    raise KeyError\n"
    write_module("reads", text, {"readers": "graphml = reads:read"})
    nx.write_graphml(nx.star_graph(3), tmp_path / "star.graphml")
    with pytest.warns(IGSDWarning, match="'graphml' of reads:read is left out: igsd has one"):
        assert open_data(tmp_path / "star.graphml").num_nodes == 4


PARTS = """
import torch
from torch.nn.functional import cosine_similarity


def agree(p, p_view, z, z_view):
    return 2 - cosine_similarity(p, z_view).mean() - cosine_similarity(p_view, z).mean()


def same(A, seed):
    return A


class Sums(torch.nn.Module):
    out_dim = 4

    def __init__(self, in_dim):
        super().__init__()
        self.linear = torch.nn.Linear(in_dim, 4)

    def forward(self, batch):
        h = self.linear(batch.adjacency.multiply(batch.x))
        return h.new_zeros(batch.num_graphs, 4).index_add(0, batch.batch, h)
"""


def test_parts_that_set_names_are_used_and_never_saved(
    igsd: Run, toy: Path, tmp_path: Path, write_module: Write
) -> None:
    write_module("parts", PARTS)
    small = (*SETTINGS, "--quiet")
    named = ("--set", "loss=parts:agree", "--set", "view=parts:same")
    code, _, err = igsd("train", toy, "-o", "run", *small, *named)
    assert code == 0, err
    said = "holds the weights, but not the view parts:same, the loss parts:agree: code is never"
    assert said in " ".join(err.split())
    assert 'loss = "parts:agree"' in (tmp_path / "run" / "config.toml").read_text()
    assert igsd("embed", "run", toy, "-o", "v.npy")[0] == 0, "needs neither view nor loss"
    code, _, err = igsd("train", toy, "-o", "sums", *small, "--set", "encoder=parts:Sums")
    assert code == 0, err
    assert "not the encoder parts:Sums: code is never saved" in " ".join(err.split())
    code, _, err = igsd("embed", "sums", toy, "-o", "v.npy")
    assert (code, "trained with an encoder of your own, Sums" in " ".join(err.split())) == (2, True)
    code, _, err = igsd("train", toy, "-o", "no", *small, "--set", "loss=parts:agre")
    assert (code, "The loss 'parts:agre' does not exist" in err) == (2, True)


def test_a_file_does_not_decide_which_code_is_run(
    igsd: Run, toy: Path, tmp_path: Path, write_module: Write
) -> None:
    write_module("parts", "raise SystemExit('run')\n")
    (tmp_path / "mine.toml").write_text('loss = "parts:agree"\n')
    code, _, err = igsd("train", toy, "-o", "run", *SETTINGS, "--quiet", "--config", "mine.toml")
    assert (code, "on the command line --set loss=parts:agree" in " ".join(err.split())) == (
        2,
        True,
    )


def test_compare_with_a_loss_of_ones_own(
    igsd: Run, toy: Path, in_process: Made, write_module: Write
) -> None:
    write_module("parts", PARTS)
    small = (*FAST, *SETTINGS, "--set", "igsd.loss=parts:agree")
    code, out, err = igsd("compare", toy, "--methods", "igsd,histogram", *small)
    assert code == 0, err
    assert any(name.startswith("igsd") for name in table_of(out)), out
    assert "do not notice when the code of parts:agree changes" in err


def test_vectors_of_named_graphs_are_matched_by_name(tmp_path: Path) -> None:
    """`igsd embed` writes names; those of the same graphs in another order were not noticed."""
    graphs = replace(make_graphs(3), graph_names=("C", "CC", "CCC"))
    path = tmp_path / "v.csv"
    path.write_text("graph,name,x\n0,C,1\n2,CCC,3\n1,CC,2\n")
    assert vectors_for(path, graphs)[:, 0].tolist() == [1, 2, 3]
    path.write_text("graph,name,x\n0,CCC,3\n1,CC,2\n2,C,1\n")
    assert vectors_for(path, graphs)[:, 0].tolist() == [1, 2, 3]
    path.write_text("graph,name,x\n0,CCC,3\n1,CC,2\n2,O,1\n")
    with pytest.raises(DataError, match="another order: row 0 is 'CCC', but graph 0 is 'C'"):
        vectors_for(path, graphs)
    path.write_text("graph,name,x\n0,N,3\n1,CC,2\n2,CCC,1\n")
    with pytest.warns(IGSDWarning, match="other names than .* in 1 of 3 rows"):
        assert vectors_for(path, graphs)[:, 0].tolist() == [3, 2, 1]


def test_ids_of_vectors_are_text_and_may_repeat(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("id,x\n007,7\n7,1\n")
    graphs = replace(make_graphs(2), ids=("7", "007"))
    assert vectors_for(path, graphs)[:, 0].tolist() == [1, 7]
    path.write_text("graph,id,x\n0,a,7\n1,a,1\n")
    assert vectors_for(path, replace(graphs, ids=("a", "a")))[:, 0].tolist() == [7, 1]
    with pytest.raises(DataError, match="no row for 'b'"):
        vectors_for(path, replace(graphs, ids=("a", "b")))


FILES = ("a.graphml", "b.graphml", "c.json:0", "c.json:1")


@pytest.mark.parametrize(
    "rows",
    [
        "file,x\nb.graphml,2\nc.json:1,4\na.graphml,1\nc.json:0,3\n",
        "name,x\nb,2\nc:1,4\na,1\nc:0,3\n",
        "x,id\n2,b\n4,c:1\n1,a\n3,c:0\n",
        "graph,name,x\n0,b.graphml,2\n1,c.json:1,4\n2,a.graphml,1\n3,c.json:0,3\n",
        "file,x\nnets/b.graphml,2\nnets/c.json:1,4\nnets/a.graphml,1\nnets/c.json:0,3\n",
    ],
    ids=["file", "without endings", "id", "embed", "paths"],
)
def test_vectors_of_files_are_matched_by_their_names(tmp_path: Path, rows: str) -> None:
    graphs = replace(make_graphs(4), graph_names=FILES)
    path = tmp_path / "v.csv"
    path.write_text(rows)
    assert vectors_for(path, graphs)[:, 0].tolist() == [1, 2, 3, 4]
    table = pyarrow.csv.read_csv(path)
    pyarrow.parquet.write_table(table, tmp_path / "v.parquet")
    assert vectors_for(tmp_path / "v.parquet", graphs)[:, 0].tolist() == [1, 2, 3, 4]


def test_vectors_of_other_files_are_refused(tmp_path: Path) -> None:
    graphs = replace(make_graphs(4), graph_names=FILES)
    path = tmp_path / "v.csv"
    path.write_text("name,x\na,1\nz,2\nc:0,3\nc:1,4\n")
    said = r"such as 'a.graphml': .*others: z; none for b.graphml"
    with pytest.raises(DataError, match=said):
        vectors_for(path, graphs)
    path.write_text("file,x\na,1\na.graphml,2\nb,2\nc:0,3\nc:1,4\n")
    with pytest.raises(DataError, match=r"several for a.graphml"):
        vectors_for(path, graphs)
    path.write_text("id,x\n3,4\n0,1\n1,2\n2,3\n")
    assert vectors_for(path, graphs)[:, 0].tolist() == [1, 2, 3, 4]
    path.write_text("network,x\na,1\n")
    with pytest.raises(StorageError, match="call it id, name or file"):
        vectors_for(path, graphs)


def test_vectors_are_matched_by_line(tmp_path: Path) -> None:
    """Rows were taken in order although their lines said otherwise."""
    graphs = replace(make_graphs(3), lines=np.array([2, 4, 5]))
    path = tmp_path / "vectors.csv"
    path.write_text("line,a\n5,3\n2,1\n4,2\n")
    assert vectors_for(str(path), graphs)[:, 0].tolist() == [1, 2, 3]
    path.write_text("line,a\n5,3\n2,1\n9,2\n")
    with pytest.raises(DataError, match="no row for line 4"):
        vectors_for(str(path), graphs)


def test_columns_of_the_data_are_not_features(tmp_path: Path) -> None:
    """A label among the vectors predicted itself: random vectors scored 100 %."""
    graphs = replace(make_graphs(3), targets=np.zeros((3, 1)), target_names=("active",))
    path = tmp_path / "vectors.csv"
    for name in ("active", "mol_id"):
        path.write_text(f"a,{name}\n0.5,0\n0.25,1\n0.75,0\n")
        with pytest.raises(DataError, match=f"has '{name}' among the numbers of its vectors"):
            vectors_for(str(path), graphs)
