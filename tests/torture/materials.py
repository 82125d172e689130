"""Small files of every kind that igsd reads, made once for all attacks."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import write_toy
from tests.small_graphs import TINY, make_graphs
from tests.torture.attack import Attack, Command, Death

SETTINGS = [f"--set={key}={str(value).lower()}" for key, value in TINY.items()]
SMILES = ("CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CC1", "CCCl", "CC#N", "OCC(O)CO", "CCS", "CBr")

PRETRAIN = ["pretrain", "molecules.csv", "--quiet", "--set=hidden_dim=8", "--set=epochs=2"]


def train(data: object, folder: object, *options: object) -> list[str]:
    """Return the command line of a short training."""
    return ["train", str(data), "-o", str(folder), "--quiet", *SETTINGS, *map(str, options)]


def toy_graphs(count: int = 10) -> GraphSet:
    """Return a few graphs with classes, ids and names."""
    names = tuple(f"graph {i}" for i in range(count))
    others: dict[str, Any] = {"graph_names": names, "ids": tuple(f"id-{i}" for i in range(count))}
    return make_graphs(count, classes=True, name="toy", attributes=2, **others)


def write_materials(attack: Attack) -> Path:
    """Return the folder with the files, written unless they are there."""
    folder = attack.folder / "materials"
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    toy_graphs().save(folder / "toy.graphs")
    write_toy(folder)
    with zipfile.ZipFile(folder / "TOY.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((folder / "TOY").iterdir()):
            archive.write(path, path.name)
    rows = [f"m{i},{text},{i % 2},{i / 4}" for i, text in enumerate(SMILES)]
    table = "\n".join(["id,smiles,label,weight", *rows, ""])
    (folder / "molecules.csv").write_text(table)
    (folder / "molecules.csv.gz").write_bytes(gzip.compress(table.encode(), mtime=0))
    (folder / "labels.txt").write_text("".join(f"{'ab'[i % 2]}\n" for i in range(10)))
    write_networks(folder / "networks")
    (folder / "molecules.sdf").write_text(sdf_of(SMILES))
    _do(folder, *train("toy.graphs", "run", "--set=cache_views=true"))
    _do(folder, "train", "molecules.csv", "--labels", "label", "-o", "predictor", "--quiet")
    _do(folder, *PRETRAIN, "-o", "encoder.safetensors")
    _do(folder, *train("toy.graphs", "labelled", "--labels", "labels.txt"))
    for suffix in ("npy", "csv", "parquet"):
        _do(folder, "embed", "run", "toy.graphs", "-o", f"vectors.{suffix}", "--quiet")
    _do(folder, "index", "run", "toy.graphs", "-o", "toy.index", "--quiet")
    _do(folder, "data", "show", "MUTAG")
    death = Death("checkpoint", 2, "renamed")
    every = ("--set=epochs=4", "--set=checkpoint_every=1")
    _do(folder, *train("toy.graphs", "stopped", *every), death=death, codes=(-9,))
    compare = ("compare", "toy.graphs", "--methods", "histogram", "--seeds", "1", "--jobs", "1")
    _do(folder, *compare, "--records", "records", "--quiet")
    grid = ("--grid", "learning_rate=0.001,0.01", "--trials", "1", "--seeds", "1", "--jobs", "1")
    _do(folder, "tune", "toy.graphs", "-o", "tuned", *SETTINGS, *grid, "--quiet")
    (folder / "done").touch()
    return folder


def write_networks(folder: Path) -> None:
    """Write a small weighted, directed graph with attributes in every format of networks."""
    import networkx as nx
    from scipy import sparse

    folder.mkdir()
    graph = nx.DiGraph([(0, 1, {"weight": 2.0}), (1, 2, {"weight": 0.5}), (2, 0, {"weight": 1.0})])
    nx.set_node_attributes(graph, {0: 30.5, 1: 41.0, 2: 27.0}, "age")
    nx.set_node_attributes(graph, {0: "red", 1: "blue", 2: "red"}, "club")
    nx.write_graphml(graph, folder / "a.graphml")
    nx.write_gml(graph, folder / "a.gml")
    nx.write_gexf(graph, folder / "a.gexf")
    nx.write_pajek(nx.DiGraph(graph.edges), folder / "a.net")
    (folder / "a.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    nx.write_weighted_edgelist(graph, folder / "a.edgelist")
    matrix = sparse.coo_array(nx.to_numpy_array(graph))
    for form in ("csr", "coo"):
        sparse.save_npz(folder / f"{form}.npz", matrix.asformat(form))


def sdf_of(smiles: tuple[str, ...]) -> str:
    """Return molecules as an SDF with a property, written by RDKit."""
    from rdkit import Chem

    text = io.StringIO()
    with Chem.SDWriter(text) as writer:
        for number, string in enumerate(smiles):
            molecule = Chem.MolFromSmiles(string)
            molecule.SetProp("_Name", f"m{number}")
            molecule.SetProp("label", str(number % 2))
            writer.write(molecule)
    return text.getvalue()


def _do(
    folder: Path, *arguments: object, death: Death | None = None, codes: tuple[int, ...] = (0,)
) -> None:
    fault = Command(folder, *arguments, death=death).fault(codes)
    if fault is not None:
        raise RuntimeError(f"The materials of the attack could not be made: {fault}")
