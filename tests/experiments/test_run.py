from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd import processes
from igsd.errors import StorageError, TrainingError
from igsd.evaluation.cross_validation import cross_validate
from igsd.experiments import ALGORITHM
from igsd.experiments import run as running
from igsd.experiments.protocol_base import VectorProtocol, _in_time
from igsd.experiments.records import read_record, write_record
from igsd.experiments.run import (
    DONE,
    FAILED,
    LIMIT,
    MISSING,
    OTHER,
    STALE,
    Options,
    Run,
    changed_settings,
    opened,
)
from igsd.experiments.scoring import ROW_ORDER, Scoring, Vectors, score_seeds
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.limits import TimeLimitError
from igsd.processes import Measured
from igsd.settings.igsd import Config
from tests.experiments.method_stand_in import Made, in_process
from tests.experiments.small_exhibit import SHORT, write_data
from tests.small_graphs import make_graphs

__all__ = ["in_process"]


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    """Eight graphs with classes."""
    return make_graphs(8, classes=True, name="toy")


def run_of(method: str = "wl", seed: int = 0, **fields: Any) -> Run:
    return Run("nested", "toy", method, "molecules", seed, **{"standardise": "no"} | fields)


def test_a_record_says_everything(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    record = run_of(seed=1).execute(labelled, Options(tmp_path, memory_gib=2.0))
    path = tmp_path / "nested" / "toy" / "wl" / "seed-1.json"
    assert json.loads(path.read_text()) == json.loads(json.dumps(record))
    assert (record["status"], record["method"], record["recipe"]) == ("ok", "wl", "molecules")
    assert record["seed"] == record["config"]["seed"] == 1
    assert record["data"] == {"name": "toy", "checksum": labelled.checksum, "graphs": 8}
    assert record["limits"] == {"seconds": 86400.0, "memory_gib": 2.0}
    assert set(record["seconds"]) == {"train", "embed", "evaluate"}
    assert record["cpu_seconds"] >= 0
    assert (record["peak_memory_mib"], record["features"]) == (3.0, 8)
    assert record["protocol"]["kernel"] == "precomputed"
    assert [row["method"] for row in record["rows"]] == ["wl", "majority"]
    assert {"commit", "versions", "threads", "started", "algorithm"} <= record.keys()


def test_the_folds_are_those_of_everything_else(labelled: GraphSet, in_process: Made) -> None:
    record = run_of("histogram", 2).execute(labelled, Options())
    from igsd.baselines.references.histogram import LabelDegreeHistogram

    vectors = LabelDegreeHistogram().fit_transform(labelled)
    direct = cross_validate(vectors, labelled.classes, seed=2, standardise="no")
    assert record["rows"][0] == {"method": "histogram", **direct.to_dict()}
    assert record["protocol"] == {"name": "nested", "standardise": "no", "twins": False}


def test_igsd_with_reference_rows(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    whole = run_of("igsd", fixed=SHORT)
    alone, options = replace(whole, references=False), Options(tmp_path)
    few = alone.execute(labelled, options)
    assert [row["method"] for row in few["rows"]] == ["igsd", "majority"]
    assert alone.state(labelled, options)[0] == DONE
    # Its reference rows are still to be scored.
    assert whole.state(labelled, options)[0] == MISSING
    rows = whole.execute(labelled, options)["rows"]
    assert tuple(row["method"] for row in rows) == ROW_ORDER
    assert [row for row in rows if row["method"] in ("igsd", "majority")] == few["rows"]
    assert whole.state(labelled, options)[0] == alone.state(labelled, options)[0] == DONE


def test_a_model_is_handed_over(tmp_path: Path, labelled: GraphSet) -> None:
    models: list[Any] = []
    options = Options(tmp_path, on_trained=models.append)
    record = run_of("igsd", 1, fixed=SHORT, references=False).execute(labelled, options)
    assert (record["status"], [model.seed for model in models]) == ("ok", [1])
    assert len(record["history"]) == 2


def test_states(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    run, options = run_of("histogram"), Options(tmp_path)
    assert run.state(labelled, options) == (MISSING, "")
    record = run.execute(labelled, options)
    path = run.path(tmp_path)
    assert read_record(path) == record
    assert run.state(labelled, options)[0] == DONE
    for changes, state in (
        ({"algorithm": ALGORITHM - 1}, STALE),
        ({"config": {**record["config"], "degree_cap": 9}}, OTHER),
        ({"status": "failed"}, FAILED),
    ):
        write_record(path, {**record, **changes})
        assert run.state(labelled, options)[0] == state
    assert run.state(labelled, Options()) == (MISSING, "")


def test_limits(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    tight = Options(tmp_path, memory_gib=1e-9)
    run = run_of("shortest-path")
    record = run.execute(labelled, tight)
    assert (record["status"], record["word"]) == ("limit", "OMR")
    assert "the distances of" in str(record["error"])
    for options, state in (
        (tight, LIMIT),
        (replace(tight, memory_gib=1e-10), LIMIT),
        (replace(tight, seconds=1.0), LIMIT),
        (replace(tight, memory_gib=1.0), FAILED),  # with wider limits it is worth another try
    ):
        assert run.state(labelled, options)[0] == state
    record = run_of("graphlet").execute(labelled, Options(seconds=1e-9))
    assert (record["status"], record["word"]) == ("limit", "> limit")


def test_the_time_limit_covers_scoring(
    tmp_path: Path, labelled: GraphSet, in_process: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_method = processes.run_measured

    def run(function: Any, *arguments: Any, **limited: Any) -> Measured:
        if arguments:
            return run_method(function, *arguments, **limited)
        asked.append(limited)
        raise TimeLimitError("> limit")

    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(processes, "run_measured", run)
    assert run_of().execute(labelled, Options(tmp_path))["status"] == "ok"
    record = run_of(seed=1).execute(labelled, Options(tmp_path, seconds=60.0))
    assert (record["status"], record["word"]) == ("limit", "> limit")
    assert "not scored in the rest of the 60 seconds" in str(record["error"])
    assert 50.0 < asked[0]["seconds"] < 60.0
    assert asked[0]["starts_processes"] is False
    run_of(seed=2).execute(labelled, Options(seconds=60.0, fold_jobs=2))
    assert asked[1]["starts_processes"] is True


def test_scores_are_the_same_with_a_time_limit(labelled: GraphSet, in_process: Made) -> None:
    free, limited = (run_of().execute(labelled, Options(seconds=s)) for s in (None, 600.0))
    assert free["rows"] == limited["rows"]


@pytest.mark.slow
def test_an_svm_that_takes_too_long_is_ended() -> None:
    X = 1e4 * np.random.default_rng(0).normal(size=(400, 4))
    graphs = make_graphs(400, classes=True, name="toy")
    vectors = {"mine": Vectors(X @ X.T, "precomputed")}
    score = partial(score_seeds, vectors, graphs, Scoring(), [0])
    begin = time.monotonic()
    with pytest.raises(TimeLimitError, match="fitted in 1 seconds, but not scored"):
        _in_time(score, 1.0, Options(seconds=3.0))
    assert time.monotonic() - begin < 60.0


def test_a_score_beyond_the_current_limits_says_so(
    tmp_path: Path, labelled: GraphSet, in_process: Made
) -> None:
    run, wide = run_of(), Options(tmp_path)
    record = run.execute(labelled, wide)
    record["seconds"]["train"], record["peak_memory_mib"] = 30.0, 432.0
    write_record(run.path(tmp_path), record)
    assert run.finished(replace(wide, seconds=60.0, memory_gib=1.0)) == record
    for limit, text in (({"memory_gib": 0.4}, "0.4 GiB"), ({"seconds": 20.0}, "20 seconds")):
        found = run.finished(replace(wide, **limit))
        assert found is not None
        assert text in found["notes"][0]


def test_a_graph_too_large_for_a_quadratic_method(in_process: Made) -> None:
    path = np.arange(99_999)
    sizes = [100_000, *[1] * 7]
    large = from_edges(sizes, path, path + 1, classes=np.arange(8) % 2, class_names=(0, 1))
    record = run_of("shortest-path").execute(large, Options(memory_gib=8.0))
    assert (record["status"], record["word"]) == ("limit", "OMR")
    assert "needs 558.8 GiB, and the memory limit is 8.0 GiB" in str(record["error"])


def test_classes_never_reach_a_method(labelled: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(function: Any, graphs: GraphSet, *others: Any, **limited: Any) -> Measured:
        assert graphs.classes is None
        raise TrainingError("enough")

    monkeypatch.setattr(processes, "run_measured", run)
    assert run_of().execute(labelled, Options())["error"] == "enough"


@pytest.mark.parametrize("error", [KeyError("oh"), TrainingError("oh")])
def test_any_error_is_a_failed_run(
    tmp_path: Path, labelled: GraphSet, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(VectorProtocol, "execute", broken)
    record = run_of().execute(labelled, Options(tmp_path))
    assert (record["status"], "oh" in str(record["error"])) == ("failed", True)
    assert read_record(run_of().path(tmp_path)) == record


def test_a_full_disk_is_not_a_result(
    tmp_path: Path, labelled: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **limited: Any) -> Measured:
        raise StorageError("No space left on device.")

    monkeypatch.setattr(processes, "run_measured", full)
    with pytest.raises(StorageError, match="No space"):
        run_of().execute(labelled, Options(tmp_path))
    assert not list(tmp_path.rglob("*.json"))


def test_names_of_variants() -> None:
    run = run_of("infograph", changes=(("recipe", "social"), ("epochs", 3)))
    assert run.label == run.title == "infograph+recipe-social+epochs-3"
    assert run.config().epochs == 3
    # A run of IGSD has the place of its recipe, in every command.
    run = replace(run, method="igsd", recipe="social")
    assert (run.label, run.title) == ("social+epochs-3", "igsd+recipe-social+epochs-3")
    changes = changed_settings(Config(epochs=3, accelerator="cpu"), Config())
    assert changes == {"epochs": 3}  # the device does not change the vectors


def test_records_without_opening_the_graphs(
    tmp_path: Path, labelled: GraphSet, in_process: Made
) -> None:
    run = run_of("histogram", 1)
    record = run.execute(labelled, Options(tmp_path))
    assert replace(run, seed=0).is_like(record, labelled.checksum)
    assert run.is_like({**record, "algorithm": 0}, labelled.checksum)
    assert not run.is_like(record, "other")
    assert not replace(run, standardise="yes").is_like(record, labelled.checksum)
    assert not replace(run, fixed=(("gone", 1),)).is_like(record, labelled.checksum)


def test_data_are_opened_once_and_two_stay_open(tmp_path: Path) -> None:
    sources = [write_data(tmp_path, name) for name in ("a", "b", "c")]
    first, *others = (opened(source) for source in sources)
    assert [opened(source) for source in sources[1:]] == others
    assert opened(sources[2]) is others[1]
    assert opened(sources[0]) is not first


def test_opening_reports_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_slowly(source: str, progress: Any) -> GraphSet:
        progress(1, 2)
        return make_graphs(2)

    monkeypatch.setattr(running, "open_data", open_slowly)
    told: list[tuple[int, int | None]] = []
    for _ in range(2):
        opened("slow", progress=lambda *counts: told.append(counts))
    assert told == [(1, 2)]


@pytest.mark.slow
def test_in_a_process_of_its_own(labelled: GraphSet) -> None:
    record = run_of().execute(labelled, Options())
    assert record["status"] == "ok"
    assert (record["peak_memory_mib"] or 0) > 20
    tight = run_of().execute(labelled, Options(memory_gib=0.001))
    assert (tight["status"], tight["word"]) == ("limit", "OMR")
