"""The command: which rows it runs, what it writes, how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import benchmarks.__main__ as command
from benchmarks.row import Row, Skipped

GOOD = Row("good", "-", 1.0, 3.0, 3.0, 2.0, "s", "same")
SLOW = Row("slow", "-", 3.0, 1.0, 0.3, 2.0, "s", "same")


def benchmark(monkeypatch: pytest.MonkeyPatch, name: str, outcome: Any) -> None:
    """Put a benchmark with this outcome in the place of a real one."""

    def rows(context: object) -> list[Row]:
        if isinstance(outcome, Exception):
            raise outcome
        return [outcome]

    module = ModuleType(f"benchmarks.{name}")
    module.rows = rows  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


def run(tmp_path: Path, only: str) -> tuple[int, dict[str, Any]]:
    path = tmp_path / "record.json"
    code = command.main(["--only", only, "--json", str(path)])
    return code, json.loads(path.read_text())


def test_all_rows_are_printed_before_it_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark(monkeypatch, "epoch", SLOW)
    benchmark(monkeypatch, "ppr", GOOD)
    monkeypatch.setattr(command, "_busy", lambda: 0.0)  # the other tests
    code, record = run(tmp_path, "epoch,ppr")
    assert code == 1
    assert [row["status"] for row in record["rows"]] == ["MISSED", "ok"]
    printed = capsys.readouterr().out
    assert "MISSED" in printed
    assert "good" in printed


def test_a_row_measured_under_load_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    benchmark(monkeypatch, "epoch", SLOW)
    monkeypatch.setattr(command, "_busy", iter([0.0, 1000.0]).__next__)
    code, record = run(tmp_path, "epoch")
    assert code == 0
    assert record["rows"][0]["status"] == "under load"
    assert record["rows"][0]["others"] > 1


def test_skipped_rows_do_not_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    benchmark(monkeypatch, "epoch", Skipped("no data: NCI1"))
    benchmark(monkeypatch, "ppr", GOOD)
    code, record = run(tmp_path, "epoch,ppr")
    assert code == 0
    assert record["rows"][0]["note"] == "no data: NCI1"
    assert record["kind"] == "igsd benchmarks"


def test_a_broken_benchmark_fails_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    benchmark(monkeypatch, "epoch", RuntimeError("boom"))
    benchmark(monkeypatch, "ppr", GOOD)
    code, record = run(tmp_path, "epoch,ppr")
    assert code == 1
    assert [row["name"] for row in record["rows"]] == ["epoch", "good"]


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--only", "epochs"]) == 2
    assert "'epoch'" in capsys.readouterr().err


def test_every_name_is_a_module() -> None:
    folder = Path(command.__file__).parent
    assert [name for name in command.NAMES if not (folder / f"{name}.py").exists()] == []
