from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from igsd.run_metrics import KIND, is_same_source, read_metrics, resume_command, stored_metrics


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "other"}'])
def test_what_is_no_run(tmp_path: Path, text: str) -> None:
    assert read_metrics(tmp_path) is None
    (tmp_path / "metrics.json").write_text(text)
    assert read_metrics(tmp_path) is None


def test_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"kind": KIND, "seed": 1}))
    assert read_metrics(tmp_path) == {"kind": KIND, "seed": 1}


def test_files_are_found_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "project" / "runs" / "a"
    run.mkdir(parents=True)
    for name in ("mols.csv", "labels.csv"):
        (tmp_path / "project" / name).write_text("")
    about = {"kind": KIND, "data": {"source": "mols.csv"}, "labels": {"source": "labels.csv"}}
    monkeypatch.chdir(tmp_path / "project")
    (run / "metrics.json").write_text(json.dumps(stored_metrics(run, about)))
    assert read_metrics(Path("runs/a")) == about

    monkeypatch.chdir(run.parent)
    found = read_metrics(Path("a"))
    assert found is not None
    assert (found["data"]["source"], found["labels"]["source"]) == ("../mols.csv", "../labels.csv")

    (tmp_path / "project").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    found = read_metrics(Path("moved/runs/a"))
    assert found is not None
    assert found["data"]["source"] == "moved/mols.csv"

    (tmp_path / "moved" / "mols.csv").unlink()
    found = read_metrics(Path("moved/runs/a"))
    assert found is not None
    assert found["data"]["source"] == "moved/mols.csv"  # what is gone is named as it is seen here


def test_names_that_are_no_files_stay(tmp_path: Path) -> None:
    about = {"kind": KIND, "data": {"source": "MUTAG"}, "labels": {"source": "class"}}
    assert stored_metrics(tmp_path, about) == about
    whole = {"data": {"source": str(tmp_path)}, "labels": None}
    assert stored_metrics(tmp_path, whole) == whole


def test_the_same_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "b.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    assert is_same_source("MUTAG", "MUTAG")
    assert is_same_source("./a.csv", str(tmp_path / "a.csv"))
    assert not is_same_source("a.csv", "b.csv")
    assert not is_same_source("a.csv", "class")


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({}, "igsd train DATA -o 'my runs' --resume"),
        ({"data": {"source": "a b.csv"}}, "igsd train 'a b.csv' -o 'my runs' --resume"),
        (
            {"labels": {"source": "logS", "rate": 0.05, "task": "numbers"}},
            "igsd train DATA --labels logS --label-rate 0.05 --task numbers -o 'my runs' --resume",
        ),
        (
            {"labels": {"source": "y", "rate": 1.0}},
            "igsd train DATA --labels y -o 'my runs' --resume",
        ),
    ],
)
def test_how_to_go_on(metrics: dict[str, Any], expected: str) -> None:
    assert resume_command(Path("my runs"), metrics) == expected
