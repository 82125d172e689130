from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.estimators import IGSD
from igsd.experiments.vectors import read_vectors
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import Run
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
    old = whole.replace(rb"\"version\": 1", rb"\"version\": 9", 1)
    assert old != whole
    (tmp_path / "old").write_bytes(old)
    for model, text in (
        ("short", "short"),
        ("empty", "not a model"),
        ("m.safetensors", "pickle"),
        ("old", "format 9"),
        ("nothing", "no model at"),
        (toy, "without a model"),
    ):
        code, _, err = igsd("embed", model, toy, "-o", "v.npy")
        assert (code, text in err) == (2, True), err
    assert not (tmp_path / "v.npy").exists()
