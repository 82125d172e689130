from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import make_graphs

KNOWN = [pair for pair in SETTINGS if not any(k in pair for k in ("head", "cache", "=batch_size"))]
OPTIONS = ["--method", "gin", "--seeds", 2, "--quiet", *KNOWN]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make_graphs(30, classes=True, name="toy").save(tmp_path / "toy.graphs")
    return tmp_path / "toy.graphs"


@pytest.mark.parametrize("protocol", ["semi", "semi-paper"])
def test_both_are_printed(igsd: Run, data: Path, protocol: str) -> None:
    code, out, err = igsd("evaluate", data, "--protocol", protocol, *OPTIONS)
    assert code == 0, err
    assert "semi %" in out
    assert "semi-paper % (optimistic)" in out
    rows = [line.split()[0] for line in out.splitlines()[2:6]]
    assert rows == ["gin", "untrained", "histogram", "majority"]
    assert "at least 5 splits" in out


def test_json_and_records(igsd: Run, data: Path, tmp_path: Path) -> None:
    options = [*OPTIONS, "--records", "rec", "--json", "table.json", "--label-rate", 0.3]
    assert igsd("evaluate", data, "--protocol", "semi", *options)[0] == 0
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["protocol"] == "semi"
    assert table["beside"][0]["protocol"] == "semi-paper"
    assert len(table["rows"][0]["seeds"]) == 2
    code, _, err = igsd("evaluate", data, "--protocol", "semi", *options)
    assert code == 0
    assert err.count("skipped") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "DATA", "--protocol", "semi"], "train inside each split"),
        (["DATA", "--protocol", "semi", "--method", "gun"], "no method 'gun'"),
        (["DATA", "--protocol", "semi", "--set", "seed=1"], "seed cannot be set"),
        (["DATA", "--protocol", "semi", "-o", "run"], "use --records"),
        (["DATA", "--protocol", "semi", "--label-rate", "7"], "label_rate must be a share"),
        (["DATA", "--protocol", "semi", "--set", "view=ppr", "--method", "gin"], "no setting"),
        (["DATA", "--method", "gin"], "no method 'gin'"),
        (["DATA", "--protocol", "semi", "--standardise", "no"], "--standardise is for"),
        (["DATA", "--protocol", "semi-paper", "--jobs", "2"], "--jobs is for the protocols nested"),
        (["DATA", "--protocol", "semi", "--limit-memory", "9"], "--limit-memory is for"),
    ],
)
def test_bad_input(igsd: Run, data: Path, arguments: list[str], message: str) -> None:
    given = [str(data) if a == "DATA" else a for a in arguments]
    code, _, err = igsd("evaluate", *given)
    assert code == 2
    assert message in err


def test_columns_with_and_without_empty_cells(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rows = [f"{'C' * (1 + i % 7)}O,{('', 'a', 'b')[i % 3]},{i % 2}\n" for i in range(30)]
    (tmp_path / "mols.csv").write_text("smiles,active,toxic\n" + "".join(rows))
    options = ["mols.csv", "--label-rate", 0.3, "--records", "rec", *OPTIONS]
    code, out, err = igsd("evaluate", "--protocol", "semi", "--labels", "active", *options)
    assert code == 0, err
    assert "note: the class of 10 of 30 graphs is unknown" in out
    code, out, err = igsd("evaluate", "--protocol", "semi", "--labels", "toxic", *options)
    assert code == 0, err
    assert "unknown" not in out
    names = sorted(path.name for path in (tmp_path / "rec" / "semi-0.3").iterdir())
    assert names == ["mols+active", "mols+toxic"]
    code, _, err = igsd("evaluate", "--recipe", "molecules", "mols.csv", "--labels", "active")
    assert code == 2
    assert "protocol semi" in err


def test_data_without_classes(igsd: Run, unlabelled: Path) -> None:
    code, _, err = igsd("evaluate", unlabelled, "--protocol", "semi", *OPTIONS)
    assert code == 2
    assert "no class labels" in err
