from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.registry import method_names
from igsd.cli.options import methods_text
from igsd.cli.run_parsers import add_running_arguments, add_scoring_arguments
from igsd.cli.running import (
    RunDisplay,
    check_running,
    open_graphs,
    outcome,
    parse_methods,
    refuse,
    report,
    shared_out,
    spread_out,
    written_changes,
)
from igsd.errors import ConfigError, StorageError
from igsd.experiments import ALGORITHM
from igsd.experiments.run import Run
from igsd.experiments.work import Batch, Work
from igsd.report.tables import Column, Row, Table
from igsd.workers.pools import Workers
from tests.small_graphs import make_graphs


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_scoring_arguments(parser, ("nested", "gckn"))
    add_running_arguments(parser, jobs="one")
    return parser.parse_args([*arguments, "--quiet"])


def test_who_makes_the_runs() -> None:
    graphs = make_graphs()
    # One run at a time, so that the seconds are of a method alone.
    assert spread_out(parsed(), 9, graphs) == (Workers(1), {"fold_jobs": 1, "verbose": False})
    assert spread_out(parsed("--jobs", "3"), 9, graphs) == (Workers(3), {})
    alone = {"fold_jobs": 3, "verbose": False}
    assert spread_out(parsed("--jobs", "3"), 1, graphs) == (Workers(1), alone)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--seeds", "0"], "--seeds must be at least 1"),
        (["--jobs", "0"], "--jobs must be at least 1, or -1"),
        (["--limit-memory", "0"], "--limit-memory must be above 0"),
        (["--scheduler", "a:1"], "go together"),
        (["--scheduler", "a:1", "--backend", "dask", "--jobs", "2"], "--jobs is for this machine"),
    ],
)
def test_invalid_options(arguments: list[str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        check_running(parsed(*arguments))


def test_where_the_table_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StorageError, match="is a folder"):
        check_running(parsed("--json", str(tmp_path)))
    with pytest.raises(StorageError, match=r"Use one of \.json"):  # vectors were replaced
        check_running(parsed("--json", str(tmp_path / "v.npy")))
    table = Table("A title", (Column("b"),), (Row("c", ("1",)),))
    printed = []
    for arguments in ([], ["--json", "-"], ["--json", str(tmp_path / "t.json")]):
        report(parsed(*arguments), {"a": 1}, table, ["a note"])
        printed.append(capsys.readouterr().out)
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]
    assert printed[0] == printed[2]
    assert printed[0].splitlines()[0] == "A title"
    assert printed[0].splitlines()[-1] == "a note"
    assert json.loads(printed[1]) == {"a": 1}


def test_options_that_do_not_belong() -> None:
    refuse({"--a": None, "--b": []}, "is for others.")
    with pytest.raises(ConfigError, match="--d is for others"):
        refuse({"--a": None, "--d": 0.0}, "is for others.")


def test_a_column_becomes_the_classes(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles,active\nCC,1\nCO,0\nCN,\n")
    graphs = open_graphs(str(tmp_path / "m.csv"), parsed("--labels", "active"), gaps=True)
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([1, 0, -1], ("0", "1"))
    with pytest.warns(UserWarning, match=r"1 of 3 graphs .* have no label"):
        known = open_graphs(str(tmp_path / "m.csv"), parsed("--labels", "active"))
    assert known.classes is not None
    assert known.classes.tolist() == [1, 0]


def batch(*seeds: int) -> Batch:
    return tuple(Run("nested", "A", "wl", "social", seed) for seed in seeds)


def record(mean: float, status: str = "ok", **more: Any) -> Any:
    rows = [
        {"method": name, "protocol": "nested", "mean": value, "accuracies": [value]}
        for name, value in (("wl", mean), ("majority", 0.5))
    ]
    made = {"method": "wl", "seed": 0, "status": status, "rows": rows, "seconds": {"train": 20.0}}
    return made | {"algorithm": ALGORITHM, "data": {"graphs": 10}} | more


def test_lines_without_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(batches=[batch(0), batch(1)], sizes={"A": 10})
    with RunDisplay(work, tmp_path, 1, shown=True) as display:
        display.start(batch(0))
        # A log file said nothing until the first run had ended, which may take hours.
        begin = capsys.readouterr().err
        display.end(batch(0), [record(0.9)])
    assert begin == "2 runs left, duration not known yet\nwl on A, seed 0 ...\n"
    err = capsys.readouterr().err
    assert err.startswith("1/2 wl on A, seed 0: 90.0 %, 0.0 s; 1 run left, about 20 s")


def test_batches_that_are_not_started(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(batches=[batch(0), batch(1, 2)], sizes={"A": 10})
    with RunDisplay(work, None, 1, shown=True) as display:
        display.skip(batch(0), "taken")
        display.skip(batch(1, 2), "budget")
    begin, over, taken = capsys.readouterr().err.splitlines()
    assert begin.startswith("3 runs left")
    assert over.startswith("The budget is used up: 2 runs left")
    assert taken == "Another command in the same folder makes 1 run of these."


def test_quiet_reports_failures_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(batches=[batch(0), batch(1)], sizes={"A": 10})
    with RunDisplay(work, tmp_path, 1, shown=False) as display:
        display.start(batch(0))
        display.end(batch(0), [record(0.9)])
        display.end(batch(1), [record(0.0, "failed", error="It broke.")])
    assert capsys.readouterr().err == "2/2 wl on A, seed 1: It broke.\n"


def test_outcomes() -> None:
    assert outcome([record(0.9), record(0.8, seed=1)]) == "85.0 %"
    assert outcome([record(0.9, "limit", error="OMR: too much.", word="OMR")]) == "OMR"
    assert (
        outcome([record(0.9, rows=[{"method": "wl", "protocol": "qm9", "mae": {"mu": 0.5}}])])
        == "mu 0.5"
    )
    assert (
        outcome([record(0.9, rows=[{"method": "wl", "protocol": "qm9", "mae": 0.25}])])
        == "mean absolute error 0.25"
    )
    assert outcome([record(0.9, rows=[])]) == "done"


def test_names_of_methods() -> None:
    assert parse_methods("wl, igsd,wl") == ["wl", "igsd"]
    assert parse_methods("all") == method_names()
    assert all(name in methods_text() for name in method_names(everything=True))
    with pytest.raises(ConfigError, match=r"no method 'w1'.*'wl'"):
        parse_methods("igsd,w1")
    with pytest.raises(ConfigError, match="Got none"):
        parse_methods(",")


def test_a_setting_goes_to_all_that_have_it() -> None:
    names = ["igsd", "infograph", "wl", "untrained"]
    shares = shared_out({"epochs": 3, "wl.iterations": 2}, names)
    # What makes a method this method is not changed with the others.
    expected = {"igsd": {"epochs": 3}, "infograph": {"epochs": 3}}
    assert shares == expected | {"wl": {"iterations": 2}, "untrained": {}}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("epoch", "no setting 'epoch' of 'igsd' or 'wl'.*'epochs'"),
        ("wl.epochs", "no setting 'epochs' of 'wl'"),
        ("gcc.epochs", "a setting of 'gcc', which is not run"),
    ],
)
def test_a_setting_that_nobody_has(key: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        shared_out({key: 1}, ["igsd", "wl"])


def test_settings_from_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("epochs = 4\n[wl]\niterations = 3\n")
    args = argparse.Namespace(config=str(file), settings=["wl.iterations=2"])
    assert written_changes(args) == {"epochs": 4, "wl.iterations": 2}
    for pair in ("seed=1", "wl.seed=1"):
        with pytest.raises(ConfigError, match="cannot be set"):
            written_changes(argparse.Namespace(config=None, settings=[pair]))


@pytest.mark.parametrize("option", ["json", "plot"])
def test_an_output_that_is_an_input(tmp_path: Path, option: str) -> None:
    """The table of a user was replaced by the scores of its rows."""
    table = tmp_path / "table.csv"
    table.write_text("smiles\nCCO\n")
    args = parsed()
    for inputs in ({"data": str(table)}, {"inputs": ["molecules", str(table)]}):
        given = argparse.Namespace(**vars(args) | inputs | {option: str(table)})
        with pytest.raises(StorageError, match=f"--{option} {table} is the input"):
            check_running(given)
    assert table.read_text() == "smiles\nCCO\n"
