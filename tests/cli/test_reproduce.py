from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from igsd import processes
from igsd.cli import reproduce
from igsd.experiments import exhibits, run
from igsd.experiments.protocol_base import VectorProtocol
from igsd.experiments.run import Run
from igsd.graphs import datasets
from igsd.graphs.graphset import GraphSet
from igsd.limits import MemoryLimitError
from tests.cli.conftest import Run as Command
from tests.experiments.method_stand_in import in_process  # noqa: F401
from tests.experiments.small_exhibit import small_exhibit, write_data
from tests.small_graphs import make_graphs


@pytest.fixture
def small(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_process: list[tuple[str, int]],  # noqa: F811
) -> str:
    """Put a small table in the place of Table 3 and return the path of its data."""
    source = write_data(tmp_path)
    monkeypatch.setattr(exhibits, "read_exhibit", lambda name: small_exhibit(source))
    return source


def test_run_resume_and_table(igsd: Command, small: str, tmp_path: Path) -> None:
    code, out, err = igsd("reproduce", "table-3", "--jobs", 1, "--seeds", 1)
    assert code == 0
    assert out.startswith("A table\nmethod")
    assert "1/2 molecules" in err
    assert "2/2 histogram on toy, seed 0" in err
    files = sorted((tmp_path / "results").rglob("seed-*.json"))
    assert len(files) == 2
    before = [file.stat().st_mtime_ns for file in files]
    code, again, err = igsd("reproduce", "table-3", "--jobs", 1, "--seeds", 1)
    assert (code, again, err) == (0, out, "")
    assert [file.stat().st_mtime_ns for file in files] == before


def test_a_dry_run_downloads_nothing(
    igsd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IGSD_DATA", raising=False)
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(datasets, "_fetch", lambda *_: pytest.fail("downloaded"))
    code, out, err = igsd("reproduce", "table-1", "--dry-run", "--data", "COLLAB")
    assert (code, "COLLAB is left out: COLLAB (5,000 graphs) is not on this" in err) == (1, True)
    assert "nothing can be run" in out
    code, _, err = igsd("tune", "COLLAB", "--dry-run")
    assert (code, "a dry run downloads nothing. `igsd data show COLLAB`" in err) == (2, True)


def test_budget_and_dry_run(igsd: Command, small: str, tmp_path: Path) -> None:
    code, out, err = igsd("reproduce", "table-3", "--dry-run")
    assert code == 0
    header, first, _, left, origin = out.splitlines()
    assert header.split() == ["protocol", "data", "method", "runs", "about"]
    assert first.split()[:4] == ["nested", "toy", "histogram", "2"]
    assert "unknown" not in out
    assert re.fullmatch(r"4 runs left, about .* with \d+ process(es)?; 0 done already", left)
    assert "Times are estimates" in origin
    assert not (tmp_path / "results").exists()
    code, out, err = igsd("reproduce", "table-3", "--jobs", 1, "--budget", "0.000001")
    assert code == 0
    assert "The budget is used up: 4 runs left" in err
    assert "not run" in out


def test_many_runs_are_listed_by_data_set(
    igsd: Command, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "_MOST_LINES", 1)
    _, out, _ = igsd("reproduce", "table-3", "--dry-run")
    assert out.splitlines()[1].split()[:5] == ["nested", "toy", "2", "methods", "4"]
    assert "--data NAME lists the methods" in out


def test_where_nothing_can_be_run_that_is_no_success(igsd: Command) -> None:
    """It had said that nothing was left, and ended with 0."""
    given = ("reproduce", "beyond", "--data", "nowhere.csv", "--jobs", 1)
    code, out, err = igsd(*given, "--dry-run")
    assert (code, out) == (1, "nothing can be run; 0 done already\n")
    assert "nowhere.csv is left out" in err
    assert igsd(*given)[0] == 1
    assert igsd(*given, "--budget", 0)[0] == 0


def test_without_a_budget_it_only_prints(igsd: Command, small: str, tmp_path: Path) -> None:
    options = ("--data", small, "--records", "a b", "--jobs", 1, "--force")
    code, out, err = igsd("reproduce", "table-3", *options, "--budget", "0m")
    assert code == 0
    assert "not run" in out
    assert re.match("4 runs left, about ", err)
    assert err.endswith(". The same command without --budget continues.\n")
    assert not (tmp_path / "a b").exists()
    assert igsd("reproduce", "table-3", *options)[0] == 0
    code, out, err = igsd("reproduce", "table-3", *options, "--budget", 0)
    assert (code, err) == (0, "")
    assert "not run" not in out


def test_a_first_opening_is_shown(
    igsd: Command, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_slowly(source: str, progress: Any) -> GraphSet:
        if progress is not None:
            progress(10, 10)
        return make_graphs(10, classes=True, name="toy")

    monkeypatch.setattr(run, "open_data", open_slowly)
    _, _, err = igsd("reproduce", "table-3", "--dry-run")
    assert f"note: {small} is downloaded or read for the first time" in err
    assert f"{small}: 10/10" in err


def test_failed_and_stale_runs_are_shown(
    igsd: Command, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = VectorProtocol.references

    def broken(self: Any, run: Run, graphs: GraphSet) -> Any:
        if run.method == "igsd":
            raise KeyError("oh")
        return real(self, run, graphs)

    with monkeypatch.context() as patch:
        patch.setattr(VectorProtocol, "references", broken)
        code, out, err = igsd("reproduce", "table-3", "--jobs", 1, "--seeds", 1, "--quiet")
    assert code == 1  # done in part
    assert "KeyError: 'oh'" in err
    assert "failed" in out
    (path,) = (tmp_path / "results").glob("nested/toy/histogram/seed-0.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"algorithm": 0}))
    code, out, err = igsd("reproduce", "table-3", "--jobs", 1, "--seeds", 1, "--budget", "0")
    assert "(stale, 1 of 2 seeds)" in out
    # A failed run is tried again, a stale one made again.
    code, out, err = igsd("reproduce", "table-3", "--jobs", 1, "--seeds", 1)
    assert code == 0
    assert "stale" not in out
    assert "failed" not in out
    assert "2/2" in err


def test_a_broken_record_is_named_once_and_the_table_is_printed(
    igsd: Command, small: str, tmp_path: Path
) -> None:
    options = ("reproduce", "table-3", "--jobs", 1, "--seeds", 1, "--quiet")
    _, whole, _ = igsd(*options)
    (path,) = (tmp_path / "results").glob("nested/toy/histogram/seed-0.json")
    path.write_text(path.read_text()[:50])
    code, out, err = igsd(*options)
    assert code == 0
    assert err.count("histogram/seed-0.json is not a record of igsd") == 1
    assert "not run" in out
    assert len(path.read_text()) == 50
    code, out, _ = igsd(*options, "--force")
    assert (code, out) == (0, whole)


def test_a_limit_exceeded_is_an_answer(
    igsd: Command, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*_: Any, **__: Any) -> None:
        raise MemoryLimitError("OMR: too large.")

    monkeypatch.setattr(processes, "run_measured", too_large)
    options = ("--jobs", 1, "--seeds", 1, "--methods", "histogram")
    code, out, _ = igsd("reproduce", "table-3", *options)
    assert code == 0
    assert "OMR" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tabel-1"], "Did you mean 'table-1'"),
        (["table-1", "--data", "MUTANG"], "Did you mean 'MUTAG'"),
        (["table-1", "--methods", "wll"], "table-1 has no method 'wll'"),
        (["table-1", "--budget", "soon"], "--budget takes a time"),
        (["table-1", "--seeds", "0"], "--seeds must be at least 1"),
        (["table-1", "--jobs", "0"], "--jobs must be at least 1"),
        (["table-1", "--data", ","], "--data takes names"),
        (["table-1", "--backend", "dask"], "--scheduler ADDRESS go together"),
        (["table-1", "--limit-seconds", "0"], "--limit-seconds must be above 0"),
    ],
)
def test_wrong_options(igsd: Command, arguments: list[str], text: str, tmp_path: Path) -> None:
    code, out, err = igsd("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert text in err
    assert not (tmp_path / "results").exists()


def test_an_address_without_a_port(igsd: Command, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    code, _, err = igsd("reproduce", "table-1", "--backend", "dask", "--scheduler", "foo")
    assert (code, "HOST:PORT" in err) == (2, True)
    assert not (tmp_path / "results").exists()


def test_label_of_a_run() -> None:
    assert Run("nested", "A", "igsd", "social", 0, (("projector", False),)).label == (
        "social+projector-false"
    )
