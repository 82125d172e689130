from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from igsd.errors import ConfigError, IGSDWarning, StorageError
from igsd.experiments import work
from igsd.experiments.execute import execute_runs, work_on
from igsd.experiments.exhibits import narrowed
from igsd.experiments.records import write_record
from igsd.experiments.run import Options, Run, opened
from igsd.experiments.work import (
    Batch,
    Estimates,
    batch_title,
    make_batches,
    plan_exhibits,
    plan_runs,
)
from igsd.workers.pools import Workers
from scripts.costs import published_costs
from tests.experiments.method_stand_in import Made, in_process
from tests.experiments.small_exhibit import small_exhibit, write_data

__all__ = ["in_process"]


def test_what_is_there_is_not_run_again(tmp_path: Path, in_process: Made) -> None:
    source, records = write_data(tmp_path), tmp_path / "records"
    exhibits = [small_exhibit(source), small_exhibit(source)]
    work = plan_exhibits(exhibits, Options(records))
    assert (sum(map(len, work.batches)), len(work.done)) == (4, 0)
    # The histogram is deterministic: one batch with both seeds. The first seeds come first.
    assert [[run.seed for run in batch] for batch in work.batches] == [[0], [0, 1], [1]]
    assert work.names == {source: "toy"}
    assert work.sizes == {"toy": 10}
    for batch in work.batches[:2]:
        work_on(batch, Options(records))
    again = plan_exhibits(exhibits, Options(records))
    assert again.batches == work.batches[2:]
    assert len(again.done) == 3
    assert plan_exhibits(exhibits, Options(records), num_seeds=1).batches == []


def test_one_fit_is_scored_under_both_protocols(tmp_path: Path, in_process: Made) -> None:
    source, options = write_data(tmp_path), Options(tmp_path / "r")
    exhibits = [small_exhibit(source, shown=["paper", "nested"], seeds=1)]
    first, second = plan_exhibits(exhibits, options).batches
    assert [(run.method, run.protocol) for run in first] == [("igsd", "nested"), ("igsd", "paper")]
    nested, paper = work_on(first, options)
    assert in_process == [("igsd", 0)]
    assert nested["history"] == paper["history"]
    for record, name in ((nested, "nested"), (paper, "paper")):
        assert record["protocol"]["name"] == name
        assert {row["protocol"] for row in record["rows"]} == {name}
        assert first[0].path(tmp_path / "r").exists()
    # Where one is missing, the vectors are made again, the other record is not.
    work_on(second, options)
    path = first[0].path(tmp_path / "r")
    before = path.stat().st_mtime_ns
    first[1].path(tmp_path / "r").unlink()
    work = plan_exhibits(exhibits, options)
    assert (work.batches, len(work.done)) == ([first[1:]], 3)
    (again,) = work_on(work.batches[0], options)
    assert again["rows"] == paper["rows"]
    assert again["history"] == paper["history"]
    assert path.stat().st_mtime_ns == before
    assert again["notes"] == paper["notes"] == []
    # On another machine rounding differs, which the record says.
    epochs = [epoch | {"total": 7.25} for epoch in nested["history"]]
    path.write_text(json.dumps(nested | {"history": epochs}))
    other = work.batches[0][0].execute(opened(source), options)
    (note,) = other["notes"]
    assert note.startswith("fitted again with the same seed for protocol paper; rounding made its")
    assert note.endswith("in the record of nested it is 7.25.")


def test_a_limit_ends_both_protocols_of_a_seed(tmp_path: Path, in_process: Made) -> None:
    lines, options = [{"title": "wl", "method": "wl"}], Options(tmp_path, memory_gib=1e-6)
    exhibits = [small_exhibit(write_data(tmp_path), row=lines, shown=["paper", "nested"])]
    (batch,) = plan_exhibits(exhibits, options).batches
    records = work_on(batch, options)
    assert [(r["protocol"]["name"], r["seed"]) for r in records] == [("nested", 0), ("paper", 0)]
    assert {record["status"] for record in records} == {"limit"}
    assert len(in_process) == 1
    assert plan_exhibits(exhibits, options).batches == []


def test_other_settings_are_kept_unless_forced(tmp_path: Path, in_process: Made) -> None:
    source = write_data(tmp_path)
    exhibits = narrowed([small_exhibit(source, seeds=1)], [], ["histogram"])
    (batch,) = plan_exhibits(exhibits, Options(tmp_path)).batches
    (record,) = work_on(batch, Options(tmp_path))
    path = batch[0].path(tmp_path)
    path.write_text(json.dumps(record | {"data": record["data"] | {"checksum": "other"}}))
    work = plan_exhibits(exhibits, Options(tmp_path))
    (why,) = work.others.values()
    assert (work.batches, why.split(" there")[0]) == ([], "checksum of the data is 'other'")
    assert len(plan_exhibits(exhibits, Options(tmp_path, force=True)).batches) == 1
    path.write_text(json.dumps(record | {"algorithm": 0}))
    assert len(plan_exhibits(exhibits, Options(tmp_path)).batches) == 1


def test_a_broken_file_costs_its_own_run(tmp_path: Path, in_process: Made) -> None:
    exhibits = narrowed([small_exhibit(write_data(tmp_path), seeds=3)], [], ["histogram"])
    (batch,) = plan_exhibits(exhibits, Options(tmp_path)).batches
    path = batch[1].path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.warns(IGSDWarning, match=r"seed-1\.json is not a record"):
        work = plan_exhibits(exhibits, Options(tmp_path))
    (rest,), (broken,) = work.batches, work.broken
    assert broken.seed == 1
    # The seeds of a method that is deterministic share a batch, which must not replace the file.
    assert [record["seed"] for record in work_on(rest, Options(tmp_path))] == [0, 2]
    assert path.read_text() == "{"
    with pytest.warns(IGSDWarning, match=r"seed-1\.json is not a record"):
        (forced,) = plan_exhibits(exhibits, Options(tmp_path, force=True)).batches
    assert [record["status"] for record in work_on(forced, Options(tmp_path))] == ["ok"]
    assert len(plan_exhibits(exhibits, Options(tmp_path)).done) == 3


def test_seeds_after_an_exceeded_limit_are_not_run(tmp_path: Path) -> None:
    source = write_data(tmp_path)
    lines = [{"title": "g", "method": "graph2vec"}]
    exhibit = small_exhibit(source, row=lines)
    first, second = plan_exhibits([exhibit], Options(tmp_path)).batches
    record = first[0].failed(opened(source), Options(tmp_path), "too long")
    over = {"status": "limit", "word": "> limit", "limits": {"seconds": 86400.0}}
    write_record(first[0].path(tmp_path), {**record, **over})
    assert list(execute_runs([second], Options(tmp_path), Workers(1))) == []
    work = plan_exhibits([exhibit], Options(tmp_path))
    assert (work.batches, len(work.done)) == ([], 2)
    # With wider limits it is worth another try.
    assert len(plan_exhibits([exhibit], Options(tmp_path, seconds=1e6)).batches) == 2


def test_data_that_are_not_to_be_had_do_not_stop_the_others(tmp_path: Path) -> None:
    source = write_data(tmp_path)
    work = plan_exhibits([small_exhibit("no-such-set", source)], Options(tmp_path))
    assert len(work.batches) == 3
    assert len(work.problems) == 1
    assert work.problems[0].startswith("no-such-set is left out: There is no data set")


def test_missing_folds_are_one_problem(tmp_path: Path) -> None:
    work = plan_exhibits([small_exhibit(write_data(tmp_path), protocol="gckn")], Options(tmp_path))
    assert work.batches == []
    assert len(work.problems) == 1


def test_seeds_of_a_deterministic_method_share_a_batch() -> None:
    runs = [Run("nested", "toy", name, "molecules", s) for s in range(2) for name in ("igsd", "wl")]
    assert [batch_title(batch) for batch in make_batches(runs)] == [
        "molecules on toy, seed 0",
        "wl on toy, seeds 0 to 1",
        "molecules on toy, seed 1",
    ]
    both = [replace(run, protocol=name) for run in runs for name in ("nested", "paper")]
    assert [batch_title(batch) for batch in make_batches(both)] == [
        "molecules on toy, seed 0 (nested, paper)",
        "wl on toy, seeds 0 to 1 (nested, paper)",
        "molecules on toy, seed 1 (nested, paper)",
    ]
    assert [run.seed for run in make_batches(both)[1]] == [0, 0, 1, 1]
    few = [Run("semi", "toy", "wl", "molecules", s, label_rate=0.6) for s in range(2)]
    assert batch_title(make_batches(few)[1]) == "wl on toy, 60% labels, seed 1"


def test_one_data_set_is_planned_strictly(tmp_path: Path, in_process: Made) -> None:
    source, options = write_data(tmp_path), Options(tmp_path)
    graphs = opened(source)
    run = Run("nested", "toy", "histogram", "molecules", 0, source=source)
    assert plan_runs([run], graphs, options).batches == [(run,)]
    record = run.execute(graphs, options)
    assert plan_runs([run], graphs, options).done == [run]
    write_record(run.path(tmp_path), {**record, "algorithm": 0})
    with pytest.raises(ConfigError, match="another run: algorithm is 0 there"):
        plan_runs([run], graphs, options)
    assert plan_runs([run], graphs, Options(tmp_path, force=True)).batches == [(run,)]
    run.path(tmp_path).write_text("{")
    with pytest.raises(StorageError, match="not a record"):
        plan_runs([run], graphs, options)


def record(seconds: float, graphs: int = 10, status: str = "ok") -> Any:
    parts = {"train": seconds - 1, "evaluate": 1.0, "processor": 99.0}
    return {"status": status, "seconds": parts, "data": {"graphs": graphs}}


def batch(data: str, *seeds: int) -> Batch:
    return tuple(Run("nested", data, "wl", "social", seed) for seed in seeds)


def test_seconds_of_runs_like_it() -> None:
    estimates = Estimates()
    assert estimates.seconds(batch("A", 0), 10) is None
    estimates.add(Path("r/nested/A/wl/seed-0.json"), record(4.0))
    estimates.add(Path("r/nested/A/wl/seed-1.json"), record(6.0))
    estimates.add(Path("r/nested/A/wl/seed-2.json"), record(60.0, status="failed"))
    assert estimates.seconds(batch("A", 2, 3), 10) == pytest.approx(10.0)
    assert estimates.seconds(batch("B", 0), 100) == pytest.approx(50.0)
    # Until protocol paper was run, it counts as much as nested.
    paper = tuple(replace(run, protocol="paper") for run in batch("A", 2))
    assert estimates.seconds(paper, 10) == pytest.approx(5.0)
    estimates.add(Path("r/paper/A/wl/seed-0.json"), record(1.0))
    assert estimates.seconds((*batch("A", 2), *paper), 10) == pytest.approx(6.0)


def test_published_runs_stand_in_for_records(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = json.loads(Path(work.__file__).with_name(work.COSTS).read_text())
    monkeypatch.setattr(work, "probe", lambda: 2 * costs["probe"])
    estimates = Estimates().guess()
    assert estimates.speed == pytest.approx(2.0)
    published, graphs = costs["runs"]["nested/MUTAG/wl"]
    assert graphs == 188
    assert estimates.seconds(batch("MUTAG", 0, 1), 188) == pytest.approx(4 * published)
    rough = estimates.seconds(batch("MINE", 0), 100)
    assert rough is not None
    assert 0 < rough < 10_000
    unheard = (replace(batch("MINE", 0)[0], protocol="semi", method="new", label_rate=0.3),)
    assert estimates.seconds(unheard, 100) is not None
    estimates.add(Path("r/nested/MUTAG/wl/seed-0.json"), record(7.0))
    assert estimates.seconds(batch("MUTAG", 1), 188) == pytest.approx(7.0)


def test_the_probe_is_quick_and_leaves_threads_alone() -> None:
    threads = torch.get_num_threads()
    assert 0.001 < work.probe() < 5.0
    assert torch.get_num_threads() == threads


def test_costs_are_written_from_records() -> None:
    costs = json.loads(published_costs(Path(__file__).parents[2] / "results"))
    assert costs["runs"].keys() >= {"nested/MUTAG/wl", "nested/MUTAG/molecules"}


def test_files_that_are_no_records_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "nested" / "A" / "wl"
    folder.mkdir(parents=True)
    (folder / "seed-0.json").write_text("{}")
    assert Estimates.read(tmp_path) == Estimates()


def test_what_is_left_in_words() -> None:
    estimates, sizes = Estimates(), {"A": 10, "B": 10}
    batches = [batch("A", 0, 1), batch("A", 2)]
    assert estimates.left([], sizes, 1) == "nothing left"
    assert estimates.left(batches, sizes, 1) == "3 runs left, duration not known yet"
    estimates.add(Path("r/nested/A/wl/seed-9.json"), record(60.0))
    assert estimates.left(batches, sizes, 1) == "3 runs left, about 3 min"
    assert estimates.left(batches, sizes, 9) == "3 runs left, about 2 min"
    other = (Run("nested", "B", "gcc", "social", 0),)
    assert estimates.left([*batches, other], sizes, 9) == (
        "4 runs left, about 2 min and 1 run of unknown length"
    )
