from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.experiments import ALGORITHM
from igsd.experiments.dispatch import (
    DONE,
    FAILED,
    LIMIT,
    MISSING,
    OTHER,
    STALE,
    check_run,
    execute,
    failed_record,
    plan_of,
    state_of,
)
from igsd.experiments.job import Job, cached_data, make_jobs
from igsd.experiments.method_plan import MethodPlan
from igsd.experiments.recipe_plan import RecipePlan
from igsd.experiments.records import read_record
from igsd.experiments.runs import Run
from igsd.experiments.scoring import ROW_ORDER
from tests.experiments.method_stand_in import in_process  # noqa: F401
from tests.experiments.small_exhibit import write_data
from tests.small_graphs import TINY, make_graphs

PAIRS = tuple(TINY.items())


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write_data(tmp_path)


def job_of(run: Run, source: str, folder: Path) -> Job:
    return make_jobs([run], source, folder, {})[0]


def test_igsd_by_a_recipe(source: str, tmp_path: Path) -> None:
    run = Run("nested", "toy", "igsd", "molecules", 1, PAIRS)
    job = job_of(run, source, tmp_path)
    graphs = cached_data(source)
    assert state_of(job, run, graphs) == MISSING
    (record,) = execute(job)
    assert record["status"] == "ok"
    assert record["seed"] == 1
    # Settings of its own: the floors stand beside the recipe as it is.
    assert [row["method"] for row in record["rows"]] == ["igsd", "majority"]
    path = run.path(tmp_path)
    assert read_record(path) == record
    assert [p.name for p in path.parent.iterdir()] == ["seed-1.json"]
    assert state_of(job, run, graphs) == DONE

    path.write_text(json.dumps(record | {"algorithm": ALGORITHM - 1}))
    assert state_of(job, run, graphs) == STALE
    path.write_text(json.dumps(record | {"config": record["config"] | {"epochs": 9}}))
    assert state_of(job, run, graphs) == OTHER
    path.write_text(json.dumps(record | {"status": "failed"}))
    assert state_of(job, run, graphs) == FAILED


def test_a_run_of_compare_is_made_whole(source: str, tmp_path: Path) -> None:
    run = Run("nested", "toy", "igsd", "molecules", 1, fixed=PAIRS)
    job, graphs = job_of(run, source, tmp_path), cached_data(source)
    (record,) = execute(job)
    assert [row["method"] for row in record["rows"]] == list(ROW_ORDER)
    assert state_of(job, run, graphs) == DONE
    own = [row for row in record["rows"] if row["method"] in ("igsd", "majority")]
    run.path(tmp_path).write_text(json.dumps(record | {"rows": own, "method": "igsd"}))
    assert state_of(job, run, graphs) == MISSING


def test_a_method_that_draws_nothing_is_run_once_for_all_seeds(
    source: str,
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    runs = [Run("nested", "toy", "histogram", "molecules", seed) for seed in range(3)]
    (job,) = make_jobs(runs, source, tmp_path, {})
    assert str(job) == "histogram on toy, seeds 0 to 2"
    records = execute(job)
    assert [record["seed"] for record in records] == [0, 1, 2]
    assert in_process == [("histogram", 0)]
    assert all(run.path(tmp_path).exists() for run in runs)
    assert state_of(job, runs[2], cached_data(source)) == DONE


def test_a_stale_record_of_a_method_is_replaced(
    source: str,
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    run = Run("nested", "toy", "histogram", "molecules", 0)
    job = job_of(run, source, tmp_path)
    (record,) = execute(job)
    run.path(tmp_path).write_text(json.dumps(record | {"algorithm": 0}))
    assert state_of(job, run, cached_data(source)) == STALE
    execute(job)
    assert state_of(job, run, cached_data(source)) == DONE


def test_limits(
    source: str,
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    run = Run("nested", "toy", "random-walk", "molecules", 0)
    (job,) = make_jobs([run], source, tmp_path, {"memory_gib": 1e-9})
    (record,) = execute(job)
    assert (record["status"], record["word"]) == ("limit", "OMR")
    assert state_of(job, run, cached_data(source)) == LIMIT
    assert state_of(replace(job, memory_gib=1.0), run, cached_data(source)) == FAILED


def test_few_labels(source: str, tmp_path: Path) -> None:
    fixed = (("epochs", 1), ("num_layers", 1), ("hidden_dim", 4))
    run = Run("semi", "toy", "gin", "molecules", 1, fixed=fixed, label_rate=0.6)
    job = job_of(run, source, tmp_path)
    check_run(job, run, cached_data(source))
    (record,) = execute(job)
    assert record["status"] == "ok"
    assert record["config"]["epochs"] == 1
    assert str(job) == "gin on toy, 60% labels, seed 1"
    assert state_of(job, run, cached_data(source)) == DONE


@pytest.mark.parametrize("protocol", ["semi", "qm9"])
def test_a_number_alone(protocol: str, tmp_path: Path) -> None:
    graphs = make_graphs(20)
    values = graphs.node_counts()[:, None] + 0.5
    graphs = replace(graphs, targets=values, target_names=("size",))
    source = str(tmp_path / "graphs.igsd")
    graphs.save(source)
    method, recipe = ("gin", "molecules") if protocol == "semi" else ("supervised", "qm9")
    run = Run(protocol, graphs.name, method, recipe, 0, target="size")
    job = job_of(run, source, tmp_path)
    plan = plan_of(job, run, graphs)
    assert plan.path_of(0) == run.path(tmp_path)
    assert plan.protocol()["name"] == protocol
    assert f"{graphs.name}, size" in str(job)


@pytest.mark.parametrize(
    "run",
    [
        Run("nested", "toy", "igsd", "molecules", 1, PAIRS),
        Run("nested", "toy", "wl", "molecules", 1, (("iterations", 2),)),
        Run("semi", "toy", "gin", "molecules", 1, (("hidden_dim", 4),), label_rate=0.1),
        Run("semi", "toy", "gin", "molecules", 1, (("hidden_dim", 4),), target="size"),
        Run("qm9", "toy", "supervised", "qm9", 1, (("hidden_dim", 4),), target="size"),
    ],
    ids=lambda run: f"{run.protocol}-{run.method}-{run.target}",
)
def test_a_plan_and_its_run_agree_on_the_place_of_a_variant(
    source: str, tmp_path: Path, run: Run
) -> None:
    """Of few labels, a variant's record would have stood in the place of the plain one's."""
    plan = plan_of(job_of(run, source, tmp_path), run, cached_data(source))
    assert plan.path_of(1) == run.path(tmp_path)
    assert "+" in run.label


@pytest.mark.parametrize("method", ["igsd", "graph2vec", "wl"])
def test_what_nobody_thought_of_is_a_failed_run(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Of a method that draws nothing, which is run once for all seeds, it had ended everything."""

    def broken(*_: object, **__: object) -> None:
        raise KeyError("oh")

    monkeypatch.setattr(RecipePlan, "run", broken)
    monkeypatch.setattr(MethodPlan, "run", broken)
    run = Run("nested", "toy", method, "molecules", 0, PAIRS if method == "igsd" else ())
    (record,) = execute(job_of(run, source, tmp_path))
    assert (record["status"], record["error"]) == ("failed", "KeyError: 'oh'")
    assert read_record(run.path(tmp_path)) == record


def test_a_place_that_cannot_be_written_ends_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(RecipePlan, "run", full)
    run = Run("nested", "toy", "igsd", "molecules", 0, PAIRS)
    with pytest.raises(StorageError, match="full"):
        execute(job_of(run, source, tmp_path))


def test_missing_folds_are_found_before_anything_is_run(source: str, tmp_path: Path) -> None:
    run = Run("gckn", "toy", "igsd", "molecules", 0, PAIRS)
    with pytest.raises(ValueError, match="toy"):
        check_run(job_of(run, source, tmp_path), run, cached_data(source))


def test_record_of_a_killed_run(source: str, tmp_path: Path) -> None:
    run = Run("nested", "toy", "wl", "molecules", 0)
    job = job_of(run, source, tmp_path)
    record = failed_record(job, run, cached_data(source), "It was killed.")
    assert read_record(run.path(tmp_path)) == record
    assert state_of(job, run, cached_data(source)) == FAILED
