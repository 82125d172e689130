from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import SETTINGS, Run

RINGS = ("C1CC1", "C1CCC1", "C1CCCC1", "c1ccccc1", "c1ccncc1", "C1CCNCC1", "c1ccoc1", "C1CCOC1")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of 48 molecules with a class, numbers, two more classes, and some empty cells."""
    pytest.importorskip("rdkit")
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    lines = ["smiles,active,size,a,b"]
    for i in range(48):
        chain = i % 6
        active = "" if i % 8 == 0 else "yes" if chain > 2 else "no"
        size = "" if i % 8 == 1 else f"{chain + 0.5}"
        smiles = "C" * (1 + chain) + RINGS[i % len(RINGS)]
        lines.append(f"{smiles},{active},{size},{int(chain > 2)},{int(chain > 3)}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


QUICK = ("--seeds", "2", "--quiet", "--jobs", "1")


def test_compare_on_the_same_splits(igsd: Run, table: Path, tmp_path: Path) -> None:
    command = ("compare", table, "--labels", "active", "--splits", "scaffold", *QUICK, *SETTINGS)
    code, out, err = igsd(*command, "--methods", "igsd,morgan,descriptors-forest")
    assert code == 0, err
    assert "t+active, scaffold splits, 20% of the molecules tested" in out
    assert "minus morgan" in out
    rows = [line.split()[0].split("+")[0] for line in out.splitlines()[2:]]
    assert rows == ["igsd", "morgan", "descriptors-forest"]
    assert "note: 6 of 48 graphs have no label: the scores are of the other 42." in err
    assert (tmp_path / "runs" / "compare-t+active-scaffold.png").exists()
    record = tmp_path / "runs" / "records" / "scaffold" / "t+active" / "morgan" / "seed-0.json"
    assert list(json.loads(record.read_text())["test_parts"]) == ["0", "1"]
    command = ("compare", table, "--labels", "active", "--splits", "scaffold", *QUICK)
    code, out, err = igsd(*command, "--methods", "morgan,descriptors", "--seeds", "1")
    assert [line.split()[-2] for line in out.splitlines()[2:]] == ["1", "1"]  # the same split


def test_numbers_of_labels_and_metrics(igsd: Run, table: Path) -> None:
    command = ("evaluate", table, "--labels", "active", "--splits", "random", *QUICK)
    options = ("--methods", "morgan,majority", "--train-labels", "8,all", "--metrics", "all")
    code, out, err = igsd(*command, *options, "--json", "s.json")
    assert code == 0, err
    for title in ("ROC-AUC, 8 labels", "AUPRC, all labels", "calibration error", "log loss"):
        assert title in out
    first = json.loads(Path("s.json").read_text())["methods"][0]
    assert [row["labels"] for row in first["rows"]] == [8, 0]


def test_numbers_and_several_columns(igsd: Run, table: Path) -> None:
    command = ("evaluate", table, "--methods", "morgan", "--splits", "random", *QUICK)
    code, out, err = igsd(*command, "--labels", "size", "--metrics", "rmse,mae")
    assert code == 0, err
    assert "RMSE" in out
    assert "mean absolute error" in out
    code, out, err = igsd(*command, "--labels", "a,b")
    assert code == 0, err
    assert "means over 2 targets" in out


def test_vectors_of_a_file(igsd: Run, table: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(48, 3)))
    command = ("evaluate", "v.npy", table, "--labels", "active", *QUICK)
    code, out, err = igsd(*command, "--splits", "random")
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["vectors", "histogram"]


@pytest.mark.parametrize("method", ["histogram", "morgan"])
def test_folds_leave_rows_without_a_label_out(igsd: Run, table: Path, method: str) -> None:
    code, _, err = igsd("compare", table, "--labels", "active", "--methods", method, *QUICK)
    assert code == 0, err
    assert "6 of 48 graphs of 't+active' have no label: the score is of the other 42." in err


def test_embeddings_of_all_rows_or_of_those_with_a_label(
    igsd: Run, table: Path, tmp_path: Path
) -> None:
    """`igsd compare` refused the vectors of all rows, `igsd evaluate` those of the labelled."""
    whole = np.random.default_rng(0).normal(size=(48, 3))
    known = [bool(line.split(",")[1]) for line in table.read_text().splitlines()[1:]]
    np.save(tmp_path / "all.npy", whole)
    np.save(tmp_path / "some.npy", whole[known])
    common = ("--labels", "active", *QUICK, "--seeds", 1, "--json", "-")
    shown = []
    for file in ("all", "some"):
        code, out, err = igsd("evaluate", f"{file}.npy", table, *common)
        assert code == 0, err
        assert "the other 42" in err
        rows = {row["method"]: row for row in json.loads(out)["rows"]}
        shown.append(rows["vectors"]["mean"])
        command = ("compare", table, "--methods", "majority", "--vectors", f"{file}.npy")
        code, out, err = igsd(*command, *common)
        assert code == 0, err
        rows = {row["method"]: row["rows"] for row in json.loads(out)["methods"]}
        shown.append(rows[file]["nested"]["mean"])
    assert len(set(shown)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--train-labels", "8"), "--train-labels needs --splits"),
        (("--splits", "random", "--protocol", "paper"), "takes the place of --protocol paper"),
        (("--splits", "random", "--train-labels", "1"), "whole numbers from 2 on, or all"),
        (("--splits", "random", "--train-labels", "400"), "fewer than the 400"),
        (("--splits", "random", "--metrics", "auc"), "no metric 'auc'"),
        (("--splits", "random", "--metrics", "mae"), "mae is not a metric of classes"),
        (("--splits", "random", "--without-twins"), "--without-twins is for other protocols"),
        (("--splits", "random", "--methods", "morgn"), "Did you mean 'morgan'"),
    ],
)
def test_options_that_do_not_fit(
    igsd: Run, table: Path, options: tuple[str, ...], message: str
) -> None:
    methods = () if "--methods" in options else ("--methods", "morgan")
    code, _, err = igsd("compare", table, "--labels", "active", *methods, *options)
    assert (code, message in err) == (2, True), err


def test_what_is_scored_must_be_named(igsd: Run, table: Path) -> None:
    code, _, err = igsd("evaluate", table, "--splits", "random")
    assert (code, "DATA alone and --methods" in err) == (2, True)
