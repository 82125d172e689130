from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from igsd.config import Config
from igsd.errors import DataError, StorageError
from igsd.experiments.identity import Identity
from igsd.experiments.plan import Plan, finished_runs, run_seeds
from igsd.experiments.records import Record
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


@dataclass(frozen=True)
class MadeUpPlan:
    """A plan whose seed 1 has been run."""

    graphs: GraphSet
    num_seeds: int = 3
    records: Path | None = None
    is_bad: bool = False

    def check(self) -> None:
        if self.is_bad:
            raise DataError("no classes")

    def identity(self, seed: int) -> Identity:
        return Identity(Config(seed=seed), self.graphs.checksum, {})

    def path_of(self, seed: int) -> Path | None:
        return None if self.records is None else self.records / f"{seed}.json"

    def finished(self, seed: int) -> Record | None:
        return {"seed": 1, "was": "there"} if seed == 1 else None

    def run(self, seed: int) -> Record:
        return {"seed": seed, "was": "run"}


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    plan: Plan = MadeUpPlan(make_graphs(2), records=tmp_path / "new")
    finished = finished_runs(plan)
    assert list(finished) == [1]
    assert (tmp_path / "new").is_dir()
    assert [r["was"] for r in run_seeds(plan, finished)] == ["run", "there", "run"]


def test_nothing_is_run_where_nothing_can_be(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no classes"):
        finished_runs(MadeUpPlan(make_graphs(2), is_bad=True))
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="for records"):
        finished_runs(MadeUpPlan(make_graphs(2), records=tmp_path / "file" / "results"))
