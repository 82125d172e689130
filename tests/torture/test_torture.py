"""A part of ``make torture`` that takes about two minutes, and the tools of the attack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.torture import attack as tools
from tests.torture.__main__ import main
from tests.torture.attack import Attack, Batch, Command, Death, Row
from tests.torture.materials import toy_graphs, train
from tests.torture.modules import MODULES
from tests.torture.mutants import KINDS, mutate_container, seal

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def attack(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    return Attack(tmp_path_factory.mktemp("torture"), "short")


@pytest.mark.parametrize("name", MODULES)
def test_nothing_fails(name: str, attack: Attack) -> None:
    rows = list(MODULES[name](attack))
    assert [failure for row in rows for failure in row.failures] == []
    assert all(row.tried or row.skipped for row in rows)


def dies() -> None:
    os.abort()


def hangs() -> None:
    import time

    time.sleep(60)


def eats() -> None:
    np.ones(2**30)


def works(value: str | None) -> str | None:
    return value


def test_a_batch_outlives_what_it_runs(tmp_path: Path) -> None:
    with Batch(tmp_path) as batch:
        assert batch.run(works, None) is None
        assert batch.run(works, "a fault") == "a fault"
        assert batch.run(dies) == "the process died (SIGABRT)"
        assert "MemoryError" in (batch.run(eats) or "")
        batch.patience = 1
        assert batch.run(hangs) == "not done after 1 s"
        batch.patience = 60
        assert batch.run(works, None) is None


@pytest.mark.parametrize("moment", ["writing", "renaming", "renamed"])
def test_a_command_dies_where_it_should(moment: str, tmp_path: Path) -> None:
    toy_graphs().save(tmp_path / "toy.graphs")
    command = Command(
        tmp_path, *train("toy.graphs", "run"), death=Death("model.safetensors", 1, moment)
    )
    assert command.wait() == -9
    assert (tmp_path / "run" / "model.safetensors").exists() == (moment == "renamed")
    assert not (tmp_path / "run" / "embeddings.npy").exists()


def test_mutants_are_the_same_every_time() -> None:
    content = seal({"__metadata__": {"igsd": "{}", "blocks": "[0]", "table": "00000000"}}, b"")
    one, other = (
        [mutate_container(content, Attack(Path()).rng("x")) for _ in range(2)] for _ in range(2)
    )
    assert one == other
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_a_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(attack: Attack) -> Iterator[Row]:
        row = Row("mine")
        row.count(None)
        row.count("wrong", "second")
        yield row
        raise OSError("no more")

    monkeypatch.setattr("tests.torture.__main__.MODULES", {"one": rows})
    assert main(["--folder", str(tmp_path)]) == 1
    found = list(tools.run_rows(Attack(tmp_path), {"one": rows}))
    assert found[0].to_json() == {"name": "mine", "tried": 2, "failed": 1, "skipped": ""}
    assert "the attack itself failed" in found[1].failures[0]
