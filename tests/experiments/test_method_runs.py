from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.baselines.measured import Measured
from igsd.errors import ConfigError, DataError, StorageError, TrainingError
from igsd.evaluation.nested import nested
from igsd.experiments import method_runs
from igsd.experiments.method_runs import (
    MethodPlan,
    finished_run,
    plan_method,
    run_method,
    run_methods,
)
from igsd.experiments.records import scored_of
from igsd.experiments.scoring import Scoring
from igsd.graphs.graphset import GraphSet
from tests.experiments.method_stand_in import in_process
from tests.small_graphs import make_graphs

__all__ = ["in_process"]

Made = list[tuple[str, int]]


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    return make_graphs(8, classes=True, name="toy")


def plan(graphs: GraphSet, name: str = "wl", **others: Any) -> MethodPlan:
    return plan_method(graphs, name, Scoring(standardise="no"), recipe="molecules", **others)


def test_a_record_says_everything(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    record = run_method(plan(labelled, records=tmp_path, memory_gib=2.0), 1)
    path = tmp_path / "nested" / "toy" / "wl" / "seed-1.json"
    assert json.loads(path.read_text()) == json.loads(json.dumps(record))
    assert (record["status"], record["method"], record["recipe"]) == ("ok", "wl", "molecules")
    assert record["seed"] == record["config"]["seed"] == 1
    assert record["limits"] == {"seconds": 86400.0, "memory_gib": 2.0}
    assert set(record["seconds"]) == {"train", "embed", "processor", "evaluate"}
    assert (record["peak_memory_mib"], record["features"]) == (3.0, 8)
    assert record["protocol"]["kernel"] == "precomputed"
    assert [row["method"] for row in record["rows"]] == ["wl", "majority"]


def test_the_folds_are_those_of_everything_else(labelled: GraphSet, in_process: Made) -> None:
    record = run_method(plan(labelled, "histogram"), 2)
    from igsd.baselines.histogram import LabelDegreeHistogram

    direct = nested(LabelDegreeHistogram().fit_transform(labelled), labelled.classes, seed=2)
    assert dict(scored_of(record))["histogram"] == direct
    assert record["protocol"] == Scoring(standardise="no").settings()


def test_classes_never_reach_a_method(labelled: GraphSet, monkeypatch: Any) -> None:
    def run(function: Any, graphs: GraphSet, *others: Any, **limited: Any) -> Measured:
        assert graphs.classes is None
        raise TrainingError("enough")

    monkeypatch.setattr(method_runs, "run_measured", run)
    assert run_method(plan(labelled), 0)["error"] == "enough"


def test_finished_runs_are_not_made_again(
    tmp_path: Path, labelled: GraphSet, in_process: Made
) -> None:
    def runs(**others: Any) -> list[tuple[str, int, bool]]:
        plans = [plan(labelled, name, records=tmp_path, **others) for name in ("wl", "histogram")]
        return [(p.method, r["seed"], there) for p, r, there in run_methods(plans, 2)]

    first = runs()
    assert first == [(n, s, False) for n in ("wl", "histogram") for s in (0, 1)]
    assert runs() == [(name, seed, True) for name, seed, _ in first]
    (tmp_path / "nested" / "toy" / "wl" / "seed-1.json").unlink()
    assert [there for *_, there in runs()] == [True, False, True, True]
    with pytest.raises(ConfigError, match=r"another run: iterations is 5 there and 1 here"):
        list(run_methods([plan(labelled, records=tmp_path, changes={"iterations": 1})], 1))


def test_what_draws_nothing_runs_once(labelled: GraphSet, in_process: Made) -> None:
    small = {"dim": 4, "epochs": 1, "min_count": 1}
    plans = [plan(labelled), plan(labelled, "graph2vec", changes=small)]
    records = [record for _, record, _ in run_methods(plans, 2)]
    assert in_process == [("wl", 0), ("graph2vec", 0), ("graph2vec", 1)]
    assert [record["rows"][0]["seed"] for record in records] == [0, 1, 0, 1]


def test_a_limit_is_an_answer(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    tight = plan(labelled, "shortest-path", records=tmp_path, memory_gib=1e-9)
    others = plan(labelled, "histogram", records=tmp_path)
    records = [record for _, record, _ in run_methods([tight, others], 3)]
    # A method that exceeds its limits is not tried again with the next seed.
    assert [r["status"] for r in records] == ["limit", "ok", "ok", "ok"]
    assert records[0]["word"] == "OMR"
    assert "the distances of" in records[0]["error"]
    assert finished_run(tight, 0) is not None
    assert finished_run(replace(tight, memory_gib=1e-10), 0) is not None
    assert finished_run(replace(tight, memory_gib=1.0), 0) is None
    assert finished_run(replace(tight, seconds=1.0), 0) is not None
    assert finished_run(replace(tight, force=True), 0) is None


def test_time_is_limited_too(labelled: GraphSet, in_process: Made) -> None:
    record = run_method(plan(labelled, "graphlet", seconds=1e-9), 0)
    assert (record["status"], record["word"]) == ("limit", "> limit")


def test_a_graph_too_large_for_a_quadratic_method(in_process: Made) -> None:
    path = np.arange(99_999)
    from igsd.graphs.build import from_edges

    sizes = [100_000, *[1] * 7]
    large = from_edges(sizes, path, path + 1, classes=np.arange(8) % 2, class_names=(0, 1))
    record = run_method(plan(large, "shortest-path", memory_gib=8.0), 0)
    assert (record["status"], record["word"]) == ("limit", "OMR")
    assert "needs 558.8 GiB, and the memory limit is 8.0 GiB" in record["error"]


def test_a_failed_method_does_not_stop_the_others(
    tmp_path: Path, labelled: GraphSet, in_process: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = method_runs.run_measured

    def run(function: Any, graphs: GraphSet, name: str, *others: Any, **limited: Any) -> Measured:
        if name == "wl":
            raise TrainingError("The process of a method ended without an answer.")
        return here(function, graphs, name, *others, **limited)

    monkeypatch.setattr(method_runs, "run_measured", run)
    plans = [plan(labelled, name, records=tmp_path) for name in ("wl", "histogram")]
    assert [r["status"] for _, r, _ in run_methods(plans, 1)] == ["failed", "ok"]
    assert finished_run(plans[0], 0) is None


def test_nothing_is_run_in_vain(tmp_path: Path, labelled: GraphSet) -> None:
    with pytest.raises(DataError, match="no class labels"):
        plan(labelled.without_labels())
    with pytest.raises(ConfigError, match=r"no method 'w1'"):
        plan(labelled, "w1")
    with pytest.raises(ConfigError, match="'wl' has no setting 'epochs'"):
        plan(labelled, changes={"epochs": 2})
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="for records"):
        plan(labelled, records=tmp_path / "file" / "results")


@pytest.mark.slow
def test_in_a_process_of_its_own(labelled: GraphSet) -> None:
    record = run_method(plan(labelled), 0)
    assert record["status"] == "ok"
    assert record["peak_memory_mib"] > 20
    tight = run_method(plan(labelled, memory_gib=0.001), 0)
    assert (tight["status"], tight["word"]) == ("limit", "OMR")
