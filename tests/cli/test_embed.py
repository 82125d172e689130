from __future__ import annotations

import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.estimators import IGSD
from igsd.files.arrays import read_arrays, write_arrays
from igsd.files.columns import read_vectors
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_vectors_of_graphs_never_seen(
    igsd: Run, trained: Path, tmp_path: Path, suffix: str
) -> None:
    graphs = make_graphs(5, seed=9, node_label_names=(0, 1, 2), graph_names=tuple("abcde"))
    graphs.save(tmp_path / "new.graphs")
    code, out, _ = igsd("embed", trained, "new.graphs", "-o", f"v{suffix}", "--quiet")
    assert code == 0
    assert "5 vectors" in out
    expected = IGSD.load(trained / "model.safetensors").transform(graphs)
    assert np.array_equal(read_vectors(tmp_path / f"v{suffix}").astype(np.float32), expected)


def test_any_saved_model(igsd: Run, toy: Path, toy_graphs: GraphSet, tmp_path: Path) -> None:
    histogram = LabelDegreeHistogram().fit(toy_graphs)
    histogram.save(tmp_path / "h")
    assert igsd("embed", "h", toy, "-o", "v.npy")[0] == 0
    assert np.array_equal(read_vectors("v.npy"), histogram.transform(toy_graphs))


MOLECULES = "smiles,label\nCCO,1\nnope,0\nCCN,0\nc1ccccc1,1\n?,1\nCC,0\n"


def test_rows_left_out_are_named_and_lines_are_kept(igsd: Run, tmp_path: Path) -> None:
    # Vectors once did not line up with the user's table, and nothing said so.
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text(MOLECULES)
    note = "igsd: note: 2 of 6 rows of m.csv are not molecules and were left out"
    first = f"{note}: line 3: 'nope': not valid SMILES; line 6: '?': not valid SMILES.\n"
    for command in (
        ["train", "m.csv", "-o", "r", "--quiet", *SETTINGS],
        ["embed", "r", "m.csv", "-o", "v.csv", "--quiet"],
        ["neighbors", "r", "m.csv", "--query", "0"],
        ["data", "import", "m.csv", "-o", "m.graphs"],
    ):
        code, _, err = igsd(*command)
        assert code == 0
        # The rows are shown once, and only counted after that.
        assert err == (first if command[0] == "train" else f"{note}, as before: line 3, line 6.\n")
    code, _, err = igsd("embed", "r", "m.graphs", "-o", "w.parquet", "--quiet")
    assert (code, err) == (0, "")
    rows = [line.split(",")[:3] for line in (tmp_path / "v.csv").read_text().splitlines()]
    assert rows[0] == ["graph", "line", "name"]
    assert [row[1:] for row in rows[1:]] == [
        ["2", "CCO"],
        ["4", "CCN"],
        ["5", "c1ccccc1"],
        ["7", "CC"],
    ]
    assert pyarrow.parquet.read_table("w.parquet")["line"].to_pylist() == [2, 4, 5, 7]


def test_the_ids_of_a_table_are_kept(igsd: Run, tmp_path: Path) -> None:
    # Vectors and predictions once lacked them, so that they had to be joined by line.
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("id,smiles,y\n7,CCO,a\n8,nope,b\nx9,CCN,b\n10,CC,a\n")
    assert igsd("train", "m.csv", "-o", "r", "--labels", "y", "--quiet", *SETTINGS)[0] == 0
    for command in ("embed", "predict"):
        for suffix in ("csv", "parquet"):
            assert igsd(command, "r", "m.csv", "-o", f"{command}.{suffix}", "--quiet")[0] == 0
        rows = [r.split(",")[:4] for r in (tmp_path / f"{command}.csv").read_text().splitlines()]
        assert rows[0] == ["graph", "line", "id", "name"]
        assert [row[2] for row in rows[1:]] == ["7", "x9", "10"]
        table = pyarrow.parquet.read_table(f"{command}.parquet")
        assert table["id"].to_pylist() == ["7", "x9", "10"]
    assert read_vectors("embed.csv").shape == read_vectors("embed.parquet").shape
    # An imported file once lost them.
    assert igsd("data", "import", "m.csv", "-o", "m.graphs")[0] == 0
    assert igsd("embed", "r", "m.graphs", "-o", "again.csv", "--quiet")[0] == 0
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "embed.csv").read_text()
    assert "id 10" in igsd("neighbors", "r", "m.graphs", "--query", "10")[1]


def test_ids_for_a_spreadsheet(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("id,smiles,y\n=1+1,CCO,@a\n8,CCN,b\n9,CC,@a\n")
    assert igsd("train", "m.csv", "-o", "r", "--labels", "y", "--quiet", *SETTINGS)[0] == 0
    for command in ("embed", "predict"):
        for option, text in (([], "0,2,=1+1,CCO"), (["--spreadsheet"], "0,2,'=1+1,CCO")):
            assert igsd(command, "r", "m.csv", "-o", "t.csv", "--quiet", *option)[0] == 0
            assert (tmp_path / "t.csv").read_text().splitlines()[1].startswith(text)
        code, _, err = igsd(command, "r", "m.csv", "-o", "t.parquet", "--spreadsheet")
        assert (code, "--spreadsheet is for .csv files" in err) == (2, True)
    given = ("neighbors", "r", "m.csv", "--query", "8", "-k", 2, "--quiet", "--spreadsheet")
    assert igsd(*given, "-o", "t.csv")[0] == 0
    assert ",'=1+1,'@a,CCO" in (tmp_path / "t.csv").read_text()
    for more, text in (([], "give -o FILE.csv"), (["-o", "t.parquet"], "is for .csv files")):
        code, _, err = igsd(*given, *more)
        assert (code, text in err) == (2, True)


def test_links_that_lead_to_themselves(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    for arguments in (["loop.npy", toy, "-o", "v.npy"], [trained, "loop.npy", "-o", "v.npy"]):
        code, _, err = igsd("embed", *arguments)
        assert (code, "a link that leads nowhere, or to itself" in err) == (2, True)
    code, _, err = igsd("embed", trained, toy, "-o", "loop.npy")
    assert (code, "it is a link that leads to itself" in err) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf_8(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    run, data = tmp_path / "run\udcff", tmp_path / "data\udcff.graphs"
    shutil.copytree(trained, run)
    assert igsd("data", "import", toy, "-o", data)[0] == 0
    assert igsd("embed", run, data, "-o", "v\udcff.csv", "--quiet")[0] == 0
    assert igsd("report", "--run", run, "-o", "p\udcff.html")[0] == 0
    (tmp_path / "TOY\udcff").symlink_to(toy)
    assert igsd("data", "show", tmp_path / "TOY\udcff")[0] in (0, 2)


def test_node_labels_never_seen_are_noted(igsd: Run, trained: Path, tmp_path: Path) -> None:
    make_graphs(5, seed=9, node_label_names=(0, 1, 7)).save(tmp_path / "new.graphs")
    code, _, err = igsd("embed", trained, "new.graphs", "-o", "v.npy", "--quiet")
    assert code == 0
    assert "nodes of 'new' have labels that the model has not seen (7)" in err
    make_graphs(5, seed=9).save(tmp_path / "new.graphs")
    code, _, err = igsd("embed", trained, "new.graphs", "-o", "v.npy", "--quiet")
    assert code == 0
    assert err.startswith("igsd: note: Not one node label of 'new' was seen in training")
    make_graphs(5, seed=9, node_label_names=("0", "1", "7")).save(tmp_path / "new.graphs")
    code, _, err = igsd("embed", trained, "new.graphs", "-o", "v.npy", "--quiet")
    assert "it has '0', '1', '7', the model knows 0, 1" in err


def test_a_folder_that_was_made_is_noted(igsd: Run, trained: Path, toy: Path) -> None:
    code, _, err = igsd("embed", trained, toy, "-o", "a/b/v.npy", "--quiet")
    assert (code, err) == (0, "igsd: note: created the folder a/b.\n")


def test_wrong_outputs(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for output, text in (
        ("v.txt", ".npy, .csv, .parquet"),
        ("v", ".npy, .csv, .parquet"),
        ("file/v.npy", "Cannot write"),
    ):
        code, _, err = igsd("embed", trained, toy, "-o", output)
        assert (code, text in err) == (2, True)
    assert {path.name for path in tmp_path.iterdir()} == {"TOY", "file"}


def test_the_input_is_not_overwritten(igsd: Run, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCC\n")
    code, _, err = igsd("embed", trained, "m.csv", "-o", "m.csv")
    assert (code, "is the input" in err) == (2, True)
    assert (tmp_path / "m.csv").read_text() == "smiles\nCC\n"


def test_wrong_models(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    whole = (trained / "model.safetensors").read_bytes()
    (tmp_path / "short").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "m.safetensors").write_bytes(pickle.dumps({"weights": [1.0]}))
    arrays, header = read_arrays(trained / "model.safetensors", "model")
    write_arrays(tmp_path / "old", arrays, header | {"version": 9})
    header.pop("features")
    write_arrays(tmp_path / "no-key", arrays, header)
    (tmp_path / "bit").write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    (tmp_path / "no-array").write_bytes(whole[:-8])
    for model, text in (
        ("short", "short"),
        ("empty", "not a model"),
        ("m.safetensors", "pickle"),
        ("old", "format 9"),
        ("bit", "bit is damaged: its content has another checksum"),
        ("nothing", "no model at nothing. A model is a run folder made by `igsd train`"),
        ("no-key", "damaged, or a model of another version: 'features' is missing"),
        ("no-array", "does not fit into the file. Copy it again"),
        (toy, "without a model"),
    ):
        code, _, err = igsd("embed", model, toy, "-o", "v.npy")
        assert (code, text in err) == (2, True), err
    assert not (tmp_path / "v.npy").exists()


def test_a_model_of_standardised_molecules(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles\n[Na+].CC(=O)[O-]\nCCO\nCCN\nCCC\nC[NH3+].[Cl-]\n")
    histogram = ("--quiet", "--method", "histogram")
    assert igsd("train", "m.csv", "-o", "r", "--standardise", *histogram)[0] == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["data"]["standardised"] == "neutral"
    code, out, err = igsd("embed", "r", "m.csv", "-o", "-", "--quiet")
    assert code == 0
    assert out.splitlines()[1].startswith("0,2,CC(=O)O,")
    note = "molecules are standardised (neutral), as those of the model's training were"
    assert note in err
    # The file of the model alone, or without metrics.json, gave salts other vectors, silently.
    (tmp_path / "r" / "metrics.json").unlink()
    for model in ("r/model.safetensors", "r"):
        assert igsd("embed", model, "m.csv", "-o", "-", "--quiet")[1] == out
        assert note in igsd("index", model, "m.csv", "-o", "i", "--quiet", "--force")[2]
        assert note in igsd("neighbors", model, "m.csv", "--query", "0")[2]
    (tmp_path / "classes.csv").write_text("smiles,c\n" + "CCO,a\nC[NH3+].[Cl-],b\n" * 10)
    out = igsd("evaluate", "r", "classes.csv", "--labels", "c", "--seeds", "1")[1]
    assert "trained on molecules that were standardised (neutral), and those of classes" in out
    assert igsd("train", "m.csv", "-o", "p", *histogram)[0] == 0
    code, out, err = igsd("embed", "p", "m.csv", "-o", "v.csv", "--quiet", "--standardise")
    assert (code, "those of m.csv are standardised (neutral): their vectors are not" in err) == (
        0,
        True,
    )


def test_runs_of_several_processes_do_not_read_standard_input(igsd: Run) -> None:
    code, _, err = igsd("evaluate", "--recipe", "molecules", "-")
    assert (code, "standard input can be read only once. Save it to a file" in err) == (2, True)


def test_model_data_and_vectors_in_a_store(igsd: Run, trained: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra cluster is not installed")
    graphs = make_graphs(5, seed=9, node_label_names=(0, 1, 2))
    graphs.save(tmp_path / "new.graphs")
    system = fsspec.filesystem("memory")
    system.put(str(tmp_path / "new.graphs"), "/store/new.graphs")
    system.put(str(trained / "model.safetensors"), "/store/model")
    places = ("memory://store/model", "memory://store/new.graphs")
    code, out, _ = igsd("embed", *places, "-o", "memory://store/v.npy", "--quiet")
    assert (code, out) == (0, "5 vectors of 16 numbers: memory://store/v.npy\n")
    system.get("/store/v.npy", str(tmp_path / "v.npy"))
    expected = IGSD.load(trained / "model.safetensors").transform(graphs)
    assert np.array_equal(read_vectors(tmp_path / "v.npy"), expected)
    code, _, err = igsd("embed", "memory://store/none", places[1], "-o", "v.npy")
    assert code == 2
    assert "There is no file at memory://store/none" in err
    code, _, err = igsd("embed", *places, "-o", "nonsense://store/v.npy")
    assert code == 2
    assert "URLs of the kind nonsense:// cannot be opened here" in err


def test_more_processes_than_cores_and_other_options(
    igsd: Run, trained: Path, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd.cli import embed

    monkeypatch.setattr("igsd.cli.options.num_cores", lambda: 2)
    monkeypatch.setattr(embed, "prepare_output", lambda *paths: exit(7))
    code, _, err = igsd("embed", trained, toy, "-o", "v.npy", "--jobs", "8")
    assert code == 7
    assert err.startswith("igsd: note: --jobs 8 on 2 cores: more processes than cores")
    for options, text in (
        (["--jobs", "0"], "--jobs must be at least 1"),
        (["--backend", "dask"], "--backend dask and --scheduler ADDRESS go together"),
        (["--backend", "dask", "--scheduler", "x:1", "--jobs", "2"], "--jobs is for this machine"),
        (["--backend", "dask", "--scheduler", "foo"], "must be SCHEME://HOST:PORT"),
    ):
        code, _, err = igsd("embed", trained, toy, "-o", "v.npy", *options)
        assert code == 2
        assert text in err


def test_a_url_does_not_replace_its_own_input(igsd: Run, trained: Path, tmp_path: Path) -> None:
    """The table of the user was replaced by vectors: only plain paths were compared."""
    fsspec = pytest.importorskip("fsspec", reason="the extra cluster is not installed")
    table, url = tmp_path / "some.csv", f"file://{tmp_path}/some.csv"
    table.write_text("smiles\nCCO\n")
    for source, output in ((str(table), url), (url, str(table)), (url, url)):
        code, _, err = igsd("embed", str(trained), source, "-o", output)
        assert (code, "is the input" in err) == (2, True)
    fsspec.filesystem("memory").pipe("/own/some.csv", table.read_bytes())
    code, _, err = igsd("embed", trained, "memory://own/some.csv", "-o", "memory:///own/some.csv")
    assert (code, "is an input. Choose another name" in err) == (2, True)
    assert table.read_text() == "smiles\nCCO\n"


@pytest.mark.parametrize("to", ["| head -c 10", "> /dev/full"])
def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path, to: str) -> None:
    """The table was written through an object that closed standard output with it."""
    pytest.importorskip("rdkit")
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    table = tmp_path / "table.csv"
    table.write_text("smiles\n" + "\n".join("C" * n for n in range(1, 40)) + "\n")
    command = f"{shlex.quote(sys.executable)} -m igsd embed molecules {shlex.quote(str(table))}"
    done = subprocess.run(
        f"{command} -o - --quiet {to}", shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert ("The disk is full" in done.stderr) == ("full" in to)
