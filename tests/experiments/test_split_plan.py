from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError, StorageError
from igsd.experiments.split_plan import SplitPlan
from tests.small_graphs import make_graphs


@dataclass(frozen=True)
class MadeUpPlan(SplitPlan):
    """A plan that trains nothing; ``error`` is what a run ends with."""

    error: Exception | None = None
    checkpoints: list[Path | None] = field(default_factory=list)

    def protocol(self) -> dict[str, Any]:
        return {"name": "made-up"}

    def folder(self) -> str:
        return "made-up"

    def check(self) -> None:
        """Accept everything."""

    def run_split(self, seed: int, checkpoint: Path | None) -> dict[str, Any]:
        self.checkpoints.append(checkpoint)
        if checkpoint is not None:
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            checkpoint.write_text("so far")
        if self.error is not None:
            raise self.error
        return {"rows": [{"method": self.method, "protocol": "made-up"}]}


def plan(records: Path | None = None, **others: Any) -> MadeUpPlan:
    graphs = make_graphs(4, name="toy")
    return MadeUpPlan(graphs, "gin", "social", SemiConfig(), 2, records, **others)


def test_a_record_in_its_place_and_no_checkpoint_left(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert made.finished(1) is None
    record = made.run(1)
    path = tmp_path / "made-up" / "toy" / "gin" / "seed-1.json"
    assert made.path_of(1) == path
    assert json.loads(path.read_text()) == record
    assert made.finished(1) == record
    assert (record["status"], record["method"], record["recipe"]) == ("ok", "gin", "social")
    assert (record["seed"], record["config"]["seed"]) == (1, 1)
    assert made.checkpoints == [path.with_suffix(f".{made.identity(1).digest}.checkpoint")]
    assert [file.name for file in path.parent.iterdir()] == ["seed-1.json"]
    with pytest.raises(ConfigError, match="another run: hidden_dim"):
        replace(made, config=SemiConfig(hidden_dim=4)).finished(1)


def test_without_records_nothing_is_kept() -> None:
    made = plan()
    assert made.path_of(0) is None
    assert made.run(0)["status"] == "ok"
    assert made.checkpoints == [None]
    assert made.finished(0) is None


def test_a_failed_run_keeps_its_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = plan(tmp_path, error=RuntimeError("no more"))
    record = made.run(0)
    assert (record["status"], record["error"]) == ("failed", "RuntimeError: no more")
    assert "split 0 failed: RuntimeError: no more" in capsys.readouterr().err
    assert made.finished(0) is None
    (checkpoint,) = made.checkpoints
    assert checkpoint is not None
    assert checkpoint.exists()


def test_what_would_end_every_run_is_raised(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        plan(tmp_path, error=StorageError("full")).run(0)
    assert not list(tmp_path.rglob("*.json"))
