from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.evaluation.qm9 import QM9Sizes
from igsd.experiments.qm9_plan import QM9Plan
from tests.cli.conftest import SETTINGS, Run
from tests.small_molecules import make_molecules

KNOWN = [pair for pair in SETTINGS if not any(k in pair for k in ("head", "cache", "=batch_size"))]
BASE = ["--protocol", "qm9", "--seeds", 2, "--quiet", "--targets", "mu,R2"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file with thirty molecules, enough for a protocol of this size."""
    defaults = QM9Plan.__init__.__defaults__
    assert defaults is not None
    small = (*defaults[:-1], QM9Sizes(10, 6, 6))
    monkeypatch.setattr(QM9Plan.__init__, "__defaults__", small)
    graphs = make_molecules(30)
    targets = np.stack([graphs.node_counts(), -graphs.node_counts()], axis=1).astype(float)
    replace(graphs, targets=targets, target_names=("mu", "r2")).save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


def test_errors_and_ratios(igsd: Run, data: Path, tmp_path: Path) -> None:
    options = [*BASE, *KNOWN, "--records", "rec"]
    code, out, err = igsd("evaluate", data, "--method", "mean-teacher", *options)
    assert code == 0, err
    assert "There is no record of --method supervised" in out
    code, out, _ = igsd("evaluate", data, "--method", "supervised", *options)
    assert code == 0
    head, *lines = out.splitlines()[1:4]
    names = ["supervised", "mean-teacher", "untrained", "histogram", "mean"]
    assert head.split() == ["target", "unit", *names]
    assert [line.split()[:2] for line in lines] == [["mu", "D"], ["r2", "bohr^2"]]
    assert "(1.00)" in lines[0]
    code, _, err = igsd("evaluate", data, "--method", "supervised", *options, "--json", "t.json")
    assert code == 0
    assert err.count("skipped") == 2
    table = json.loads((tmp_path / "t.json").read_text())
    assert table["settings"]["targets"] == ["mu", "r2"]
    assert table["cells"][0]["ratio"] == 1.0
    for file in (tmp_path / "rec").rglob("supervised/seed-*.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"algorithm": 0}))
    code, out, _ = igsd("evaluate", data, "--method", "mean-teacher", *options)
    assert code == 0
    assert "supervised (stale)" in out
    assert "supervised are not of this run (stale), so no ratio" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "DATA"], "takes DATA alone"),
        (["DATA", "--method", "gin"], "no method 'gin'"),
        (["DATA", "--set", "seed=1"], "seed cannot be set"),
        (["DATA", "-o", "run"], "use --records"),
        (["DATA", "--label-rate", "0.1"], "5,000 molecules"),
        (["DATA", "--labels", "class"], "named by --targets"),
        (["DATA", "--targets", "mu,homo"], "no target 'homo'"),
        (["DATA", "--recipe", "qm8"], "no recipe 'qm8'"),
        (["DATA", "--no-without-twins"], "--without-twins is for the protocols nested"),
        (["DATA", "--limit-seconds", "9"], "protocol qm9 trains inside each split"),
    ],
)
def test_bad_input(igsd: Run, data: Path, arguments: list[str], message: str) -> None:
    given = [str(data) if a == "DATA" else a for a in arguments]
    code, _, err = igsd("evaluate", "--protocol", "qm9", *given)
    assert code == 2
    assert message in err


def test_targets_belong_to_the_protocol(igsd: Run, data: Path) -> None:
    code, _, err = igsd("evaluate", data, "--recipe", "molecules", "--targets", "mu")
    assert code == 2
    assert "--targets is for the protocols qm9 and semi" in err
