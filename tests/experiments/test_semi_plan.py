from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.baselines.semi_methods import method_config
from igsd.errors import ConfigError, StorageError
from igsd.experiments.plan import finished_runs, run_seeds
from igsd.experiments.records import read_record
from igsd.experiments.semi_plan import SemiPlan
from igsd.graphs.graphset import GraphSet
from igsd.training.label_task import LabelTask
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY, make_graphs


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(30, classes=True, name="toy")


def plan(graphs: GraphSet, folder: Path | None = None, method: str = "gin", **changes: Any) -> Any:
    known = {entry.name for entry in type(method_config(method, "molecules", {})).settings()}
    settings = {k: v for k, v in (TINY | changes).items() if k in known}
    config = method_config(method, "molecules", settings)
    return SemiPlan(graphs, method, "molecules", config, 2, label_rate=0.2, records=folder)


def run(made: SemiPlan) -> list[dict[str, Any]]:
    return list(run_seeds(made, finished_runs(made)))


def test_records_of_both_protocols(graphs: GraphSet, tmp_path: Path) -> None:
    records = run(plan(graphs, tmp_path))
    assert [record["status"] for record in records] == ["ok", "ok"]
    rows = [(row["method"], row["protocol"]) for row in records[0]["rows"]]
    assert rows[:2] == [("gin", "semi"), ("gin", "semi-paper")]
    assert [name for name, _ in rows[2:]] == ["untrained", "histogram", "majority"]
    curve = [entry["eval_accuracy"] for entry in records[0]["history"]]
    assert records[0]["rows"][0]["mean"] == curve[-1]
    assert records[0]["rows"][1]["mean"] == max(curve)
    path = tmp_path / "semi-0.2" / "toy" / "gin" / "seed-1.json"
    assert read_record(path) == records[1]
    assert not list(tmp_path.rglob("*.checkpoint"))


def test_the_epochs_before_the_labels_are_kept_where_there_are_any(graphs: GraphSet) -> None:
    (record, _) = run(plan(graphs, method="igsd-self", pretraining_epochs=2))
    assert [entry["epoch"] for entry in record["pretraining"]] == [0, 1]
    (record, _) = run(plan(graphs))
    assert "pretraining" not in record


def test_pseudo_labels_are_checked_where_the_class_is_known(graphs: GraphSet) -> None:
    codes = np.where(np.arange(30) % 3, np.arange(30) % 2, -1)
    gaps = replace(graphs, classes=codes)
    settings = {"epochs": 3, "self_training_start": 1, "self_training_threshold": 0.5}
    (record, _) = run(plan(gaps, method="gin+self-training", **settings))
    counts = record["pseudo_labels"]
    given, checked, right = (sum(counts[name]) for name in ("given", "checked", "right"))
    assert given > checked >= right
    assert record["rows"][0]["test_sizes"] == [2]
    assert record["rows"][0]["train_sizes"] == [28]


def test_finished_splits_are_not_run_again(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(plan(graphs, tmp_path))
    monkeypatch.setattr(LabelTask, "losses", None)
    assert run(plan(graphs, tmp_path)) == first


def test_records_of_other_settings_are_refused(graphs: GraphSet, tmp_path: Path) -> None:
    run(plan(graphs, tmp_path))
    with pytest.raises(ConfigError, match="hidden_dim"):
        run(plan(graphs, tmp_path, hidden_dim=4))
    forced = replace(plan(graphs, tmp_path, hidden_dim=4), force=True)
    assert [record["status"] for record in run(forced)] == ["ok", "ok"]


def test_a_stopped_split_goes_on(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings(folder: Path) -> SemiPlan:
        others = {"self_training_start": 1, "self_training_threshold": 0.5}
        return plan(graphs, folder, "igsd-supcon+self-training", epochs=3, **others)

    whole = run(settings(tmp_path / "whole"))

    with monkeypatch.context() as patch:
        after_label_steps(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            run(settings(tmp_path / "cut"))
    (left,) = (tmp_path / "cut").rglob("*.checkpoint")
    other = left.with_name("seed-0.01234567.checkpoint")  # as a stopped run of other settings
    other.write_bytes(b"")
    resumed = run(settings(tmp_path / "cut"))
    assert not list((tmp_path / "cut").rglob("*.checkpoint"))
    for a, b in zip(whole, resumed, strict=True):
        assert a["history"] == b["history"]
        assert a["pseudo_labels"] == b["pseudo_labels"]
    assert sum(whole[0]["pseudo_labels"]["given"]) > 0


def test_a_run_that_fails_does_not_stop_the_others(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("no more memory")

    monkeypatch.setattr(LabelTask, "losses", broken)
    records = run(plan(graphs))
    assert [record["status"] for record in records] == ["failed", "failed"]
    assert "no more memory" in records[0]["error"]


@pytest.mark.parametrize(
    "error", [StorageError("Cannot write."), OSError(errno.ENOSPC, "No space left")]
)
def test_what_would_end_every_split_is_raised(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """As for seeds: a full disk is not a result of the method."""

    def stop(*_: Any) -> None:
        raise error

    monkeypatch.setattr(SemiPlan, "run_split", stop)
    with pytest.raises(type(error)):
        run(plan(graphs, tmp_path))
    assert not list(tmp_path.rglob("*.json"))


def test_a_folder_that_cannot_be_made_is_found_first(graphs: GraphSet, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="for records"):
        finished_runs(plan(graphs, tmp_path / "file" / "records"))
