from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from igsd import processes
from igsd.baselines.registry import method_names
from igsd.errors import TrainingError
from igsd.files.locks import Lock
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run
from tests.experiments.method_stand_in import in_process

__all__ = ["in_process"]

FAST = ["--standardise", "no", "--jobs", "1", "--seeds", "1"]
SMALL = [*SETTINGS, "--set=graph2vec.min_count=1", "--set=mlg.num_samples=5", "--set=epochs=1"]
Made = list[tuple[str, int]]


def table_of(out: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:]}


@pytest.mark.slow
def test_every_method_in_one_table(igsd: Run, toy: Path, in_process: Made) -> None:
    code, out, err = igsd("compare", toy, "--methods", "all", *FAST, *SMALL)
    assert code == 0, err
    assert [name.split("+")[0] for name in table_of(out)] == [*method_names(), "majority"]
    assert all(float(cells[0]) <= 100 for cells in table_of(out).values())


def test_runs_that_another_command_makes_are_named(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made
) -> None:
    """The row was missing without a word."""
    folder = tmp_path / "rec" / "nested" / "TOY" / "wl"
    folder.mkdir(parents=True)
    lock = Lock(folder / ".seed-0.json.running")
    assert lock.acquire()
    command = ["compare", toy, "--methods", "histogram,wl", "--records", "rec", *FAST]
    _, out, err = igsd(*command)
    lock.release()
    assert "another command is making 1 run (first: wl on TOY, seed 0)" in err
    assert list(table_of(out)) == ["histogram", "majority"]


def test_finished_runs_are_skipped(igsd: Run, toy: Path, tmp_path: Path, in_process: Made) -> None:
    names = ["graphlet", "wl", "histogram"]
    command = ["compare", toy, "--methods", ",".join(names), *FAST]
    code, out, err = igsd(*command)
    assert (code, list(table_of(out))) == (0, [*names, "majority"])
    assert "histogram on TOY, seed 0 ...\n" in err  # a log names what runs
    assert "3/3 histogram on TOY, seed 0: " in err
    assert (tmp_path / "runs" / "compare-TOY.png").exists()
    records = tmp_path / "runs" / "records" / "nested" / "TOY"
    assert {path.name for path in records.iterdir()} == set(names)
    again = igsd(*command)
    assert again[:2] == (0, out)
    assert "3 runs have a record, skipped" in again[2]
    assert len(in_process) == 3


def test_other_settings_stand_beside_the_usual_ones(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made
) -> None:
    command = ["compare", toy, "--methods", "wl,histogram", *FAST]
    usual = igsd(*command)
    code, out, err = igsd(*command, "--set", "wl.iterations=2")
    assert (code, list(table_of(out))) == (0, ["wl+iterations-2", "histogram", "majority"])
    assert "wl+iterations-2 on TOY, seed 0" in err
    assert len(in_process) == 3
    records = tmp_path / "runs" / "records" / "nested" / "TOY"
    assert {path.name for path in records.iterdir()} == {"wl", "wl+iterations-2", "histogram"}
    # What is set as it is anyway is no other setting.
    assert igsd(*command, "--set", "iterations=5")[:2] == usual[:2]
    assert len(in_process) == 3


def test_json_and_a_place_for_the_picture(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made
) -> None:
    options = [*FAST, "--methods", "wl", "--plot", "deep/p.png", "--records", "r", "--json", "-"]
    code, out, _ = igsd("compare", toy, *options, "--quiet", "--protocol", "paper")
    assert code == 0
    entry = json.loads(out)["methods"][0]
    assert (entry["method"], set(entry["rows"])) == ("wl", {"nested", "paper"})
    assert (tmp_path / "deep" / "p.png").exists()
    for name in ("nested", "paper"):
        record = json.loads((tmp_path / "r" / name / "TOY" / "wl" / "seed-0.json").read_text())
        assert {row["protocol"] for row in record["rows"]} == {name}
    assert in_process == [("wl", 0)]
    # Each is used where it is asked for.
    code, out, err = igsd("compare", toy, *options, "--protocol", "paper")
    assert json.loads(out)["methods"][0] == entry
    assert "2 runs have a record" in err
    assert len(in_process) == 1


def test_one_method_by_evaluate(igsd: Run, toy: Path, tmp_path: Path, in_process: Made) -> None:
    code, out, _ = igsd("evaluate", "--method", "wl", toy, *FAST, "--set", "iterations=2")
    assert (code, list(table_of(out))) == (0, ["wl+iterations-2", "majority"])
    assert not (tmp_path / "runs").exists()


def test_reference_rows_are_methods(igsd: Run, toy: Path, in_process: Made) -> None:
    names = "histogram,majority,histogram-linear"
    code, out, err = igsd("compare", toy, "--methods", names, *FAST)
    assert (code, list(table_of(out))) == (0, names.split(",")), err
    assert table_of(out)["majority"][0] == "50.0"
    code, out, _ = igsd("evaluate", toy, "--methods", names, *FAST, "--records", "r")
    assert (code, list(table_of(out))) == (0, names.split(","))


def test_limits_end_in_words(igsd: Run, toy: Path, in_process: Made) -> None:
    names = ["--methods", "shortest-path,histogram"]
    code, out, err = igsd("compare", toy, *names, *FAST, "--limit-memory", "1e-9")
    assert (code, table_of(out)["shortest-path"][0]) == (0, "OMR")
    assert table_of(out)["histogram"][0] != "OMR"
    assert "1/2 shortest-path on TOY, seed 0: OMR, " in err
    assert err.count("OMR: the distances of") == 1
    assert "note: shortest-path: OMR: the distances of" in err
    options = ["--methods", "graphlet", "--limit-seconds", "1e-9", "--records", "r"]
    code, out, _ = igsd("compare", toy, *options, *FAST)
    assert (code, table_of(out)["graphlet"][:2]) == (0, [">", "limit"])


def test_no_picture_where_no_method_has_a_score(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made
) -> None:
    options = ["--methods", "graphlet", "--limit-seconds", "1e-9", "--plot", "p.png"]
    code, out, err = igsd("compare", toy, *options, *FAST)
    assert (code, table_of(out)["majority"][0]) == (0, "50.0")
    assert "no picture, since no method has a score" in err
    assert "earlier run" not in err
    assert not (tmp_path / "p.png").exists()
    (tmp_path / "p.png").write_bytes(b"older")
    assert "(p.png is of an earlier run)" in igsd("compare", toy, *options, *FAST)[2]
    assert (tmp_path / "p.png").read_bytes() == b"older"


def test_a_method_that_dies(
    igsd: Run, toy: Path, in_process: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = processes.run_measured

    def run(function: Any, graphs: GraphSet, name: str, *others: Any, **limited: Any) -> Any:
        if name == "wl":
            raise TrainingError("The process of a method ended without an answer.")
        return here(function, graphs, name, *others, **limited)

    monkeypatch.setattr(processes, "run_measured", run)
    code, out, err = igsd("compare", toy, "--methods", "wl,histogram", *FAST)
    assert (code, table_of(out)["wl"][0]) == (1, "failed")
    assert "1/2 wl on TOY, seed 0: The process of a method ended" in err
    assert err.count("The process of a method ended") == 1
    assert float(table_of(out)["histogram"][0]) > 0


def test_stopped_by_the_user(
    igsd: Run, toy: Path, tmp_path: Path, in_process: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = processes.run_measured

    def run(function: Any, graphs: GraphSet, name: str, *others: Any, **limited: Any) -> Any:
        if name == "wl":
            raise KeyboardInterrupt
        return here(function, graphs, name, *others, **limited)

    monkeypatch.setattr(processes, "run_measured", run)
    code, out, err = igsd("compare", toy, "--methods", "histogram,wl", *FAST)
    assert (code, out) == (130, "")
    assert "Finished runs are in runs/records; the same command continues" in err
    kept = tmp_path / "runs" / "records" / "nested" / "TOY"
    assert [path.name for path in kept.iterdir()] == ["histogram"]


def test_degrees_stand_in_for_labels(
    igsd: Run, toy_graphs: GraphSet, tmp_path: Path, in_process: Made
) -> None:
    plain = replace(toy_graphs, node_labels=None, node_label_names=())
    plain.save(tmp_path / "plain.graphs")
    code, _, err = igsd("compare", "plain.graphs", "--methods", "wl", *FAST)
    assert (code, "has no node labels: node degrees" in err) == (0, True)
    record = next((tmp_path / "runs" / "records").rglob("seed-0.json"))
    assert "node degrees are used" in json.loads(record.read_text())["notes"][0]


def test_wrong_questions(igsd: Run, toy: Path, unlabelled: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for arguments, text in (
        ([toy, "--methods", "w1"], "no method 'w1'. Did you mean 'wl'"),
        ([toy, "--methods", "wl", "--set", "epochs=1"], "no setting 'epochs' of 'wl'"),
        ([toy, "--methods", "wl", "--set", "iterations=x"], "must be a whole number"),
        ([toy, "--set", "seed=1"], "seed cannot be set"),
        ([toy, "--limit-seconds", "0"], "--limit-seconds must be above 0"),
        ([toy, "--limit-memory", "-1"], "--limit-memory must be above 0"),
        ([toy, "--records", "file/r"], "for records"),
        ([toy, "--plot", str(tmp_path)], "is a folder"),
        ([toy, "--plot", "p.jpg"], "Use one of .png, .svg, .pdf"),
        ([toy, "--plot", "file/p.png"], "file is a file."),
        ([toy, "--json", "file/t.json"], "file is a file."),
        ([toy, "--recipe", "sociable"], "no recipe"),
        ([toy, "--recipe", "paper", "--methods", "wl,mlg"], "and wl, mlg has none"),
        ([toy, "--protocol", "gckn"], "published folds"),
        ([unlabelled], "no class labels"),
        (["nothing"], "nothing"),
    ):
        code, _, err = igsd("compare", *arguments, *FAST)
        assert (code, text in err) == (2, True), err
    for arguments, text in (
        (["--method", "wl", toy, toy], "DATA alone"),
        (["--method", "w1", toy], "no method 'w1'"),
        (["--method", "wl", toy, "-o", "r"], "no run folder"),
        (["--method", "wl", toy, "--recipe", "paper"], "Leave out --recipe paper"),
        (["--recipe", "paper", toy, "--limit-seconds", "3"], "needs --methods"),
        (["--method", "wl", toy, "--label-rate", "0.1"], "protocols semi"),
    ):
        code, _, err = igsd("evaluate", *arguments, *FAST)
        assert (code, text in err) == (2, True), err


@pytest.mark.slow
def test_methods_in_processes_of_their_own(igsd: Run, toy: Path) -> None:
    code, out, _ = igsd("compare", toy, "--methods", "wl,histogram", *FAST)
    assert code == 0
    assert all(float(table_of(out)[name][5]) > 20 for name in ("wl", "histogram"))
