from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.evaluation import qm9
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs
from tests.small_molecules import make_molecules

KNOWN = [pair for pair in SETTINGS if not any(k in pair for k in ("head", "cache", "=batch_size"))]
SEMI = ["--method", "gin", "--seeds", 2, "--quiet", *KNOWN]


@pytest.fixture
def thirty(tmp_path: Path) -> Path:
    make_graphs(30, classes=True, name="toy").save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


@pytest.mark.parametrize("protocol", ["semi", "semi-paper"])
def test_both_protocols_are_printed(igsd: Run, thirty: Path, protocol: str) -> None:
    code, out, err = igsd("evaluate", thirty, "--protocol", protocol, *SEMI)
    assert code == 0, err
    assert "semi %" in out
    assert "semi-paper % (optimistic)" in out
    rows = [line.split()[0] for line in out.splitlines()[2:6]]
    assert rows == ["gin", "untrained", "histogram", "majority"]
    assert "at least 5 splits" in out


def test_splits_with_json_and_records(igsd: Run, thirty: Path, tmp_path: Path) -> None:
    options = [*SEMI, "--records", "rec", "--json", "table.json", "--label-rate", 0.3]
    assert igsd("evaluate", thirty, "--protocol", "semi", *options)[0] == 0
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["protocol"] == "semi"
    assert table["beside"][0]["protocol"] == "semi-paper"
    assert len(table["rows"][0]["seeds"]) == 2
    loud = [option for option in options if option != "--quiet"]
    code, _, err = igsd("evaluate", thirty, "--protocol", "semi", *loud)
    assert code == 0
    assert "2 runs have a record, skipped" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "DATA", "--protocol", "semi"], "takes DATA alone"),
        (["DATA", "--protocol", "semi", "--method", "gun"], "no method 'gun'"),
        (["DATA", "--protocol", "semi", "--set", "seed=1"], "seed cannot be set"),
        (["DATA", "--protocol", "semi", "-o", "run"], "use --records"),
        (["DATA", "--protocol", "semi", "--label-rate", "7"], "label_rate must be a share"),
        (["DATA", "--protocol", "semi", "--set", "view=ppr", "--method", "gin"], "no setting"),
        (["DATA", "--method", "gin"], "'gin' learns from labels"),
        (["DATA", "--protocol", "semi", "--standardise", "no"], "--standardise is for"),
        (["DATA", "--protocol", "semi-paper", "--jobs", "0"], "--jobs must be at least 1"),
    ],
)
def test_bad_input_to_splits(igsd: Run, thirty: Path, arguments: list[str], message: str) -> None:
    given = [str(thirty) if a == "DATA" else a for a in arguments]
    code, _, err = igsd("evaluate", *given)
    assert code == 2
    assert message in err


def test_columns_with_and_without_empty_cells(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rows = [f"{'C' * (1 + i % 7)}O,{('', 'a', 'b')[i % 3]},{i % 2}\n" for i in range(30)]
    (tmp_path / "mols.csv").write_text("smiles,active,toxic\n" + "".join(rows))
    options = ["mols.csv", "--label-rate", 0.3, "--records", "rec", *SEMI]
    code, out, err = igsd("evaluate", "--protocol", "semi", "--labels", "active", *options)
    assert code == 0, err
    assert "note: the class of 10 of 30 graphs is unknown" in out
    code, out, err = igsd("evaluate", "--protocol", "semi", "--labels", "toxic", *options)
    assert code == 0, err
    assert "unknown" not in out
    names = sorted(path.name for path in (tmp_path / "rec" / "semi-0.3").iterdir())
    assert names == ["mols+active", "mols+toxic"]
    plain = ("mols.csv", "--labels", "active", "--seeds", 1, "--jobs", 1)
    code, _, err = igsd("compare", *plain, "--methods", "histogram")
    assert code == 0, err
    assert "10 of 30 graphs of 'mols+active' have no label" in err


def test_splits_without_classes(igsd: Run, unlabelled: Path) -> None:
    code, _, err = igsd("evaluate", unlabelled, "--protocol", "semi", *SEMI)
    assert code == 2
    assert "no class labels" in err


NUMBER = ["--protocol", "semi", "--method", "gin", "--seeds", 2, "--quiet", *KNOWN]


@pytest.fixture
def sized(tmp_path: Path) -> Path:
    graphs = make_graphs(30, name="toy")
    sizes = graphs.node_counts()[:, None] + 0.5
    replace(graphs, targets=sizes, target_names=("size",)).save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


def test_errors_over_splits(igsd: Run, sized: Path, tmp_path: Path) -> None:
    options = [*NUMBER, "--targets", "size", "--label-rate", 0.3, "--records", "rec"]
    code, out, err = igsd("evaluate", sized, *options, "--json", "table.json")
    assert code == 0, err
    assert "mean absolute error" in out
    assert out.splitlines()[-1] == "note: errors are in the unit of size"
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["gin", "mean"]
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert rows[1]["mae"] == pytest.approx(sum(rows[1]["all"]) / 2)
    options.remove("--quiet")
    assert "2 runs have a record, skipped" in igsd("evaluate", sized, *options)[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--targets", "sise"], "has no target 'sise'"),
        (["--targets", "size", "--method", "igsd-supcon"], "'igsd-supcon' needs classes"),
        (["--targets", "size", "--method", "gin+self-training"], "mean-teacher"),
        (["--targets", "a,b"], "one target at a time"),
        (["--targets", "size", "--protocol", "semi-paper"], "semi-paper is for classes"),
        (["--targets", "size", "--label-rate", "0.01"], "Use larger shares"),
    ],
)
def test_bad_input_for_numbers(igsd: Run, sized: Path, options: list[str], message: str) -> None:
    code, _, err = igsd("evaluate", sized, *NUMBER, *options)
    assert code == 2
    assert message in err


QM9 = ["--protocol", "qm9", "--seeds", 2, "--quiet", "--targets", "mu,R2"]


@pytest.fixture
def molecules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file with thirty molecules, enough for a protocol of this size."""
    monkeypatch.setattr(qm9, "SIZES", qm9.QM9Sizes(10, 6, 6))
    graphs = make_molecules(30)
    targets = np.stack([graphs.node_counts(), -graphs.node_counts()], axis=1).astype(float)
    replace(graphs, targets=targets, target_names=("mu", "r2")).save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


def test_errors_and_ratios(igsd: Run, molecules: Path, tmp_path: Path) -> None:
    options = [*QM9, *KNOWN, "--records", "rec"]
    code, out, err = igsd("evaluate", molecules, "--method", "mean-teacher", *options)
    assert code == 0, err
    assert "There is no record of --method supervised" in out
    code, out, _ = igsd("evaluate", molecules, "--method", "supervised", *options)
    assert code == 0
    head, *lines = out.splitlines()[1:4]
    names = ["supervised", "mean-teacher", "untrained", "histogram", "mean"]
    assert head.split() == ["target", "unit", *names]
    assert [line.split()[:2] for line in lines] == [["mu", "D"], ["r2", "bohr^2"]]
    assert "(1.00)" in lines[0]
    code, _, err = igsd(
        "evaluate", molecules, "--method", "supervised", *options, "--json", "t.json"
    )
    assert code == 0
    table = json.loads((tmp_path / "t.json").read_text())
    assert table["settings"]["targets"] == ["mu", "r2"]
    assert table["cells"][0]["ratio"] == 1.0
    for file in (tmp_path / "rec").rglob("supervised/seed-*.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"algorithm": 0}))
    code, out, _ = igsd("evaluate", molecules, "--method", "mean-teacher", *options)
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
        (["DATA", "--labels", "class"], "use --targets for numbers"),
        (["DATA", "--targets", "mu,homo"], "no target 'homo'"),
        (["DATA", "--recipe", "qm8"], "no recipe 'qm8'"),
        (["DATA", "--no-without-twins"], "--without-twins is for the protocols nested"),
    ],
)
def test_bad_input_for_properties(
    igsd: Run, molecules: Path, arguments: list[str], message: str
) -> None:
    given = [str(molecules) if a == "DATA" else a for a in arguments]
    code, _, err = igsd("evaluate", "--protocol", "qm9", *given)
    assert code == 2
    assert message in err


def test_targets_belong_to_the_protocol(igsd: Run, molecules: Path) -> None:
    code, _, err = igsd("evaluate", molecules, "--recipe", "molecules", "--targets", "mu")
    assert code == 2
    assert "--targets is for qm9 and semi" in err


def test_scores_of_vectors_are_not_stale(igsd: Run, tmp_path: Path) -> None:
    """Every figure was said to be stale, though no record was read."""
    pytest.importorskip("rdkit")
    rows = [f"{'C' * (n % 9 + 1)}{'O' if n % 2 else 'N'},{n % 2}" for n in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["smiles,active", *rows]) + "\n")
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(40, 3)))
    options = ("--labels", "active", "--splits", "random", "--seeds", 1, "--quiet")
    code, out, err = igsd("evaluate", "vectors.npy", "table.csv", *options)
    assert (code, "stale" in out) == (0, False), err
