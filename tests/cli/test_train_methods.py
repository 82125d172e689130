"""``igsd train --method``, and what the other commands do with such a run folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.registry import load_model, method_names, setting_names
from tests.cli.conftest import Run
from tests.small_graphs import TINY, make_graphs

SMALL = TINY | {"epochs": 1, "min_count": 1, "num_samples": 5, "num_anchors": 4, "dim": 4}


QUICK = ("infograph", "wl", "mlg", "untrained")
EVERY = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in method_names()]


@pytest.mark.parametrize("name", EVERY)
def test_a_run_folder_of_every_method(igsd: Run, toy: Path, tmp_path: Path, name: str) -> None:
    given = {key: value for key, value in SMALL.items() if key in setting_names(name)}
    settings = [f"--set={key}={str(value).lower()}" for key, value in given.items()]
    code, out, err = igsd("train", toy, "--method", name, "-o", "run", "--quiet", *settings)
    assert code == 0, err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["status"], metrics["method"]) == ("finished", name)
    vectors = np.load(tmp_path / "run" / "embeddings.npy", allow_pickle=False)
    assert igsd("embed", "run", toy, "-o", "v.npy", "--quiet")[0] == 0
    again = np.load(tmp_path / "v.npy", allow_pickle=False)
    np.testing.assert_allclose(again, vectors, rtol=1e-5, atol=1e-6)
    code, out, err = igsd("neighbors", "run", toy, "--query", 0, "-k", 3)
    assert (code, len(out.splitlines())) == (0, 5)
    # Only one kernel has no vectors of its own, and says so.
    assert ("similarity to one graph" in err) == (name == "mlg")
    assert igsd("train", toy, "-o", "run", "--resume", "--quiet")[1].endswith("nothing to do.\n")


def test_a_kernel_is_scored_by_its_matrix(igsd: Run, toy: Path) -> None:
    assert igsd("train", toy, "--method", "wl", "--quiet")[0] == 0
    options = ["--seeds", 1, "--quiet", "--json", "-"]
    code, out, _ = igsd("evaluate", "runs/TOY-wl-1", toy, *options)
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["method"] for row in rows] == ["wl", "untrained", "histogram", "majority"]
    assert not any(rows[0]["seeds"][0]["standardised"])
    model = load_model("runs/TOY-wl-1/model.safetensors")
    assert type(model).__name__ == "WLKernel"


def test_degrees_stand_in_for_labels(igsd: Run, tmp_path: Path) -> None:
    make_graphs(labels=False).save(tmp_path / "plain.graphs")
    code, _, err = igsd("train", "plain.graphs", "--method", "wl", "-o", "r", "--quiet")
    assert (code, "has no node labels" in err) == (0, True)
    notes = json.loads((tmp_path / "r" / "metrics.json").read_text())["notes"]
    assert "node degrees are used" in notes[0]


def test_wrong_questions(igsd: Run, toy: Path, tmp_path: Path) -> None:
    for arguments, text in (
        (["--method", "grapcl"], "no method 'grapcl'. Did you mean 'graphcl'"),
        (["--method", "wl", "--set", "epochs=2"], "'wl' has no setting 'epochs'"),
        (["--method", "wl", "--set", "iterations=-1"], "The setting 'iterations' must be"),
        (["--method", "wl", "--log-dir", "x"], "no training steps"),
        (["--method", "wl", "--recipe", "paper"], "and wl has none"),
        (["--method", "gin"], "learns from labels: give --labels"),
        (["--method", "wl", "--labels", "class"], "does not learn classes from --labels"),
    ):
        code, _, err = igsd("train", toy, *arguments)
        assert (code, text in err) == (2, True), err
    assert not (tmp_path / "runs").exists()


def test_another_method_with_labels(igsd: Run, toy: Path, tmp_path: Path) -> None:
    options = ["--method", "gin", "--labels", "class", "--quiet", "--set=epochs=1"]
    assert igsd("train", toy, *options)[0] == 0
    metrics = json.loads((tmp_path / "runs" / "TOY-labels-gin-1" / "metrics.json").read_text())
    assert (metrics["method"], metrics["labels"]["task"]) == ("gin", "classes")
    code, out, err = igsd("predict", "runs/TOY-labels-gin-1", toy, "-o", "p.csv", "--quiet")
    assert (code, "8 predictions" in out) == (0, True), err
    assert "nothing to do" in igsd("train", toy, *options, "--resume")[1]
    assert "settings of gin" in igsd("train", "--method", "gin", "--help")[1]
