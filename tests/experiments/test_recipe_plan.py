from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.config import Config
from igsd.errors import DataError, StorageError
from igsd.experiments import recipe_plan
from igsd.experiments.plan import finished_runs, run_seeds
from igsd.experiments.recipe_plan import RecipePlan
from igsd.experiments.records import scored_of
from igsd.experiments.scoring import ROW_ORDER, Scoring
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    return make_graphs(8, classes=True, name="toy")


def plan(graphs: GraphSet, records: Path | None = None, **others: Any) -> RecipePlan:
    config = Config().updated(TINY | {"epochs": 1})
    return RecipePlan(graphs, "molecules", config, Scoring(standardise="no"), 2, records, **others)


def test_a_record_says_everything(tmp_path: Path, labelled: GraphSet) -> None:
    trained = []
    records = list(run_seeds(plan(labelled, tmp_path, on_trained=trained.append), {}))
    assert [t.seed for t in trained] == [0, 1]
    path = tmp_path / "nested" / "toy" / "molecules" / "seed-1.json"
    record = json.loads(path.read_text())
    assert record == json.loads(json.dumps(records[1]))
    assert record["status"] == "ok"
    assert record["config"]["seed"] == record["seed"] == 1
    assert record["data"] == {"name": "toy", "checksum": labelled.checksum, "graphs": 8}
    assert set(record["seconds"]) == {"train", "embed", "evaluate"}
    assert record["threads"] >= 1
    assert tuple(row["method"] for row in record["rows"]) == ROW_ORDER
    assert all(len(row["accuracies"]) == 4 for row in record["rows"])
    assert {"commit", "versions", "peak_memory_mib", "started", "algorithm"} <= record.keys()
    assert [method for method, _ in scored_of(record)] == list(ROW_ORDER)


def test_finished_runs_are_not_made_again(tmp_path: Path, labelled: GraphSet) -> None:
    first = list(run_seeds(plan(labelled, tmp_path), {}))
    (tmp_path / "nested" / "toy" / "molecules" / "seed-0.json").unlink()
    finished = finished_runs(plan(labelled, tmp_path))
    assert list(finished) == [1]
    trained = []
    again = list(run_seeds(plan(labelled, tmp_path, on_trained=trained.append), finished))
    assert [t.seed for t in trained] == [0]
    assert [r["rows"] for r in again] == [json.loads(json.dumps(r["rows"])) for r in first]


def test_floors_can_be_left_out_and_are_asked_for_again(tmp_path: Path, labelled: GraphSet) -> None:
    alone = plan(labelled, tmp_path, floors=False)
    few = alone.run(0)
    assert [row["method"] for row in few["rows"]] == ["igsd", "majority"]
    assert list(finished_runs(alone)) == [0]
    whole = plan(labelled, tmp_path)
    assert finished_runs(whole) == {}
    rows = whole.run(0)["rows"]
    assert [row for row in rows if row["method"] in ("igsd", "majority")] == few["rows"]
    assert list(finished_runs(alone)) == list(finished_runs(whole)) == [0]


def test_a_failed_run_does_not_stop_the_others(
    tmp_path: Path, labelled: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = recipe_plan.train_model

    def train(graphs: GraphSet, config: Config, **others: Any) -> Any:
        if config.seed == 0:
            raise MemoryError("no more")
        return real(graphs, config, **others)

    monkeypatch.setattr(recipe_plan, "train_model", train)
    records = list(run_seeds(plan(labelled, tmp_path), {}))
    assert [r["status"] for r in records] == ["failed", "ok"]
    assert records[0]["error"] == "MemoryError: no more"
    assert list(finished_runs(plan(labelled, tmp_path))) == [1]


def test_nothing_is_trained_in_vain(tmp_path: Path, labelled: GraphSet) -> None:
    with pytest.raises(DataError, match="no class labels"):
        finished_runs(plan(labelled.without_labels()))
    with pytest.raises(DataError, match="two classes"):
        finished_runs(plan(replace(labelled, classes=np.zeros(8, np.int64))))
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="for records"):
        finished_runs(plan(labelled, tmp_path / "file" / "results"))
