from __future__ import annotations

import json
import re
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
import torch

from igsd.errors import ConfigError, IGSDWarning, StorageError
from igsd.files.arrays import write_arrays
from igsd.files.models import (
    FILE_NAME,
    KIND,
    VERSION,
    is_same_source,
    model_path,
    read_metrics,
    read_model,
    resume_command,
    stored_metrics,
    whole_model,
    write_model,
)

DEEP = json.loads("[" * 40 + "]" * 40)


@pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "other"}'])
def test_what_is_no_run(tmp_path: Path, text: str) -> None:
    assert read_metrics(tmp_path) is None
    (tmp_path / "metrics.json").write_text(text)
    assert read_metrics(tmp_path) is None


def test_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"kind": KIND, "seed": 1}))
    assert read_metrics(tmp_path) == {"kind": KIND, "seed": 1}


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("labels", {"source": "y", "rate": None}, "labels.rate must be a finite number. Got null."),
        ("data", [], "data must be an object. Got []."),
        ("table", {"protocol": "nested", "rows": [{"method": "wl"}]}, "table.rows[0].seeds is"),
        ("seed", 10**30, "seed must be a whole number of at most 64 bits."),
        ("notes", ["a", 1], "notes[1] must be a text. Got 1."),
        ("versions", DEEP, "versions must be an object."),
        ("other", DEEP, "is nested too deeply."),
    ],
)
def test_a_damaged_entry_is_left_out_and_named(
    tmp_path: Path, key: str, value: object, reason: str
) -> None:
    values = {"kind": KIND, "status": "finished", "epochs": 3, key: value}
    (tmp_path / "metrics.json").write_text(json.dumps(values))
    with pytest.warns(IGSDWarning, match="metrics.json is damaged") as warned:
        found = read_metrics(tmp_path)
    assert found == {"kind": KIND, "status": "finished", "epochs": 3}
    assert reason in str(warned[0].message)
    with pytest.raises(StorageError, match="cannot be continued: start again with --force"):
        read_metrics(tmp_path, needs_all=True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\xff{}", "not UTF-8"), (b"{", "is not JSON"), (b"[" * 100_000, "nested too deeply")],
)
def test_a_description_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "metrics.json").write_bytes(content)
    with pytest.warns(IGSDWarning, match=rf"metrics\.json is not .*{reason}"):
        assert read_metrics(tmp_path) is None


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


def test_comes_back_bit_for_bit(tmp_path: Path) -> None:
    tensors = {
        "weight": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).T,
        "count": torch.tensor(7),
        "empty": torch.zeros(0, 2),
    }
    write_model(tmp_path / "m", tensors, {"estimator": "X", "numbers": [1, 2.5, None]})
    found, header = read_model(tmp_path / "m")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[k], v) and found[k].dtype == v.dtype for k, v in tensors.items())
    assert header["numbers"] == [1, 2.5, None]
    assert header["version"] == VERSION


def test_loaded_weights_can_be_trained_on(tmp_path: Path) -> None:
    write_model(tmp_path / "m", {"w": torch.zeros(2)}, {})
    found, _ = read_model(tmp_path / "m")
    found["w"] += 1  # a memory-mapped, read-only array would fail here
    assert read_model(tmp_path / "m")[0]["w"].tolist() == [0.0, 0.0]


def test_another_kind_of_file_is_named(tmp_path: Path) -> None:
    write_arrays(tmp_path / "g", {}, {"kind": "graph set"})
    with pytest.raises(StorageError, match="holds a graph set, but a model was expected"):
        read_model(tmp_path / "g")


def test_another_version_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "m", {}, {"kind": "model", "version": VERSION + 1})
    with pytest.raises(StorageError, match=f"format {VERSION + 1}.*reads format {VERSION}"):
        read_model(tmp_path / "m")


def test_the_model_of_another_estimator_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "m", {"w": torch.zeros(2)}, {"estimator": "X"})
    assert read_model(tmp_path / "m", "X")[0].keys() == {"w"}
    with pytest.raises(StorageError, match="holds a model of X, not of Y"):
        read_model(tmp_path / "m", "Y")


def test_a_run_folder_stands_for_the_model_in_it(tmp_path: Path) -> None:
    write_model(tmp_path / "run" / FILE_NAME, {"w": torch.zeros(2)}, {})
    assert model_path(tmp_path / "run") == tmp_path / "run" / FILE_NAME
    assert model_path(tmp_path / "run" / FILE_NAME) == tmp_path / "run" / FILE_NAME
    assert read_model(tmp_path / "run")[0].keys() == {"w"}


@pytest.mark.parametrize(
    "header",
    [{"features": {"label_names": ["C", [1]]}}, {"labels": {"classes": 3}}, {"history": [1]}],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, header: dict[str, Any]) -> None:
    write_model(tmp_path / "m", {"w": torch.zeros(2)}, header)
    with pytest.raises(StorageError, match=f"damaged: in its header, {next(iter(header))}.* must"):
        read_model(tmp_path / "m")


def test_where_there_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"no model at .*`igsd train`, or a file written by"):
        model_path(tmp_path / "nothing")
    with pytest.raises(StorageError, match="without a model"):
        model_path(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StorageError, match="a link that leads nowhere, or to itself"):
        model_path(tmp_path / "loop")
    (tmp_path / "checkpoint.safetensors").touch()
    with pytest.raises(StorageError, match=r"not finished.*`igsd train DATA -o .* --resume`"):
        model_path(tmp_path)


def test_an_unfinished_run_tells_how_to_finish_it(tmp_path: Path) -> None:
    """The command lacked --labels, and was refused when it was followed."""
    about = {"data": {"source": "mols.csv"}, "labels": {"source": "active", "task": "classes"}}
    (tmp_path / "metrics.json").write_text(json.dumps({"kind": KIND, **about}))
    place = quote(str(tmp_path))
    words = f"`igsd train mols.csv --labels active --task classes -o {place} --resume`"
    with pytest.raises(StorageError, match=re.escape(words)):
        model_path(tmp_path)


@pytest.mark.parametrize("error", [KeyError("features"), TypeError("no"), RuntimeError("size")])
def test_damage_is_told_as_damage(error: Exception) -> None:
    with (
        pytest.raises(StorageError, match="m is damaged, or a model of another version"),
        whole_model("m"),
    ):
        raise error
    with pytest.raises(ConfigError, match="on purpose"), whole_model("m"):
        raise ConfigError("on purpose")
