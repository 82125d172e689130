from __future__ import annotations

import json
from pathlib import Path

import pytest

from igsd.errors import ConfigError, IGSDWarning
from igsd.experiments.dispatch import execute, failed_record
from igsd.experiments.exhibit import find_exhibits
from igsd.experiments.job import cached_data
from igsd.experiments.records import write_record
from igsd.experiments.work import is_left_to_run, narrowed, plan_work
from tests.experiments.method_stand_in import in_process  # noqa: F401
from tests.experiments.small_exhibit import small_exhibit, write_data


def test_what_is_there_is_not_run_again(
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    source, records = write_data(tmp_path), tmp_path / "records"
    exhibits = [small_exhibit(source), small_exhibit(source)]
    work = plan_work(exhibits, records)
    assert (sum(len(job.runs) for job in work.jobs), len(work.done)) == (4, 0)
    # The histogram draws nothing: one job with both seeds. The first seeds come first.
    assert [[run.seed for run in job.runs] for job in work.jobs] == [[0], [0, 1], [1]]
    assert work.names == {source: "toy"}
    assert work.sizes == {source: 10}
    for job in work.jobs[:2]:
        execute(job)
    again = plan_work(exhibits, records)
    assert [str(job) for job in again.jobs] == [str(work.jobs[2])]
    assert len(again.done) == 3
    assert plan_work(exhibits, records, num_seeds=1).jobs == []


def test_other_settings_are_kept_unless_forced(
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    source = write_data(tmp_path)
    exhibits = narrowed([small_exhibit(source, seeds=1)], [], ["histogram"])
    (job,) = plan_work(exhibits, tmp_path).jobs
    (record,) = execute(job)
    path = job.path_of(0)
    path.write_text(json.dumps(record | {"data": record["data"] | {"checksum": "other"}}))
    work = plan_work(exhibits, tmp_path)
    (why,) = work.others.values()
    assert (work.jobs, why.split(" there")[0]) == ([], "checksum of the data is 'other'")
    assert len(plan_work(exhibits, tmp_path, force=True).jobs) == 1
    path.write_text(json.dumps(record | {"algorithm": 0}))
    assert len(plan_work(exhibits, tmp_path).jobs) == 1


def test_a_broken_file_costs_its_own_run(
    tmp_path: Path,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> None:
    exhibits = narrowed([small_exhibit(write_data(tmp_path), seeds=3)], [], ["histogram"])
    (job,) = plan_work(exhibits, tmp_path).jobs
    path = job.path_of(1)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.warns(IGSDWarning, match=r"seed-1\.json is not a record"):
        work = plan_work(exhibits, tmp_path)
    (rest,), (broken,) = work.jobs, work.broken
    assert broken.seed == 1
    # The seeds of a method that draws nothing share a job, which must not replace the file.
    assert [record["seed"] for record in execute(rest)] == [0, 2]
    assert path.read_text() == "{"
    with pytest.warns(IGSDWarning, match=r"seed-1\.json is not a record"):
        (forced,) = plan_work(exhibits, tmp_path, force=True).jobs
    assert [record["status"] for record in execute(forced)] == ["ok"]
    assert len(plan_work(exhibits, tmp_path).done) == 3


def test_seeds_after_an_exceeded_limit_are_not_run(tmp_path: Path) -> None:
    source = write_data(tmp_path)
    lines = [{"title": "g", "method": "graph2vec"}]
    exhibit = small_exhibit(source, row=lines)
    first, second = plan_work([exhibit], tmp_path).jobs
    assert is_left_to_run(second)
    record = failed_record(first, first.runs[0], cached_data(source), "too long")
    over = {"status": "limit", "word": "> limit", "limits": {"seconds": 86400.0}}
    write_record(first.path_of(0), record | over)
    assert not is_left_to_run(second)
    work = plan_work([exhibit], tmp_path)
    assert (work.jobs, len(work.done)) == ([], 2)
    # With wider limits it is worth another try.
    assert len(plan_work([exhibit], tmp_path, limits={"seconds": 1e6}).jobs) == 2


def test_data_that_are_not_to_be_had_do_not_stop_the_others(tmp_path: Path) -> None:
    source = write_data(tmp_path)
    work = plan_work([small_exhibit("no-such-set", source)], tmp_path)
    assert len(work.jobs) == 3
    assert len(work.problems) == 1
    assert work.problems[0].startswith("no-such-set is left out: There is no data set")


def test_missing_folds_are_one_problem(tmp_path: Path) -> None:
    work = plan_work([small_exhibit(write_data(tmp_path), protocol="gckn")], tmp_path)
    assert work.jobs == []
    assert len(work.problems) == 1


def test_narrowing() -> None:
    everything = find_exhibits("all")
    few = narrowed(everything, ["imdb-b"], ["igsd"])
    names = [exhibit.name for exhibit in few]
    assert names == ["table-1", "table-3", "gckn", "figure-negatives", "figure-projector", "beyond"]
    assert all(exhibit.data == ("IMDB-BINARY",) for exhibit in few)
    assert all(line.method == "igsd" for exhibit in few for line in exhibit.lines)
    assert narrowed(find_exhibits("beyond"), ["mine.csv"], [])[0].data == ("mine.csv",)
    with pytest.raises(ConfigError, match=r"table-1 has no data set 'PTQ'\. Did you mean 'PTC'"):
        narrowed(find_exhibits("table-1"), ["PTQ"], [])
    with pytest.raises(ConfigError, match=r"Nothing has a method 'igds'\. Did you mean 'igsd'"):
        narrowed(everything, [], ["igds"])
    # The method is to blame, not the data set that no exhibit with such a method has.
    with pytest.raises(ConfigError, match="table-1 has no method 'histogram'"):
        narrowed(find_exhibits("table-1"), ["MUTAG"], ["histogram"])
