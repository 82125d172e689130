"""The plan for a billion molecules, and the simulation that checks it."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from benchmarks import billion, render
from benchmarks.billion import Stage, rates_of, render_plan, simulate, stages_of

ROOT = Path(__file__).parents[2]


def test_doctests() -> None:
    assert doctest.testmod(billion).failed == 0


def test_the_page_is_up_to_date() -> None:
    records = ROOT / "results" / "scaling"
    assert render.main([str(records), str(ROOT / "docs" / "scaling.md"), "--check"]) == 0


def row(name: str, data: str, ours: float, note: str = "") -> dict[str, Any]:
    return {"name": name, "data": data, "ours": ours, "note": note}


ROWS = [
    row("data import / RDKit", "MOSES, 200,000 molecules", 100.0),
    row("PPR views: cost against size", "NCI1", 0.1),
    row("epoch: cost against size", "NCI1", 1.0),
    row("packed molecules to vectors / asked for", "ZINC, 5,000 molecules", 5000.0),
    row("index: peak / 2.5 GiB", "1,000,000 clustered vectors of 256", 3000.0, "500 s of CPU"),
    row("search: ms a query", "1,000,000 clustered vectors of 256", 0.5),
]
SIZES = {"text": 40.0, "graph": 1000.0, "vector": 1024.0}


def test_rates_are_those_of_the_newest_rows() -> None:
    older = [row("epoch: cost against size", "NCI1", 7.0)]
    rates = rates_of([{"rows": older}, {"rows": ROWS}])
    found = {name: entry["rate"] for name, entry in rates.items()}
    expected = {"parse": 2000, "views": 10_000, "train": 1000, "embed": 5000, "index": 2000}
    assert found == pytest.approx(expected | {"search": 2000})


def test_what_limits_a_stage() -> None:
    parse, embed, index = stages_of(rates_of([{"rows": ROWS}]), SIZES)
    assert parse.shard_seconds == pytest.approx(50)
    assert (parse.limit(8), index.limit(8)) == ("cores", "cores")
    assert embed.limit(1000) == "the collecting machine"
    assert embed.hours(1000) == embed.hours(2000) == pytest.approx(10_000 * embed.transfer / 3600)


@pytest.mark.parametrize("seconds", [2e-4, 1e-5])
def test_a_simulation_of_failing_and_slow_workers_is_near_the_plan(seconds: float) -> None:
    stage = Stage("some", seconds, 100.0, 1000.0)
    found = simulate(stage, workers=64, shards=2000)
    assert found["deaths"] > 0
    assert found["hours"] == pytest.approx(stage.hours(64, 2000), rel=0.2)


def test_a_worker_that_hardly_moves_is_overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage("some", 2e-4, 0.0, 0.0)
    monkeypatch.setattr(billion, "HOW_SLOW", 100.0)
    monkeypatch.setattr(billion, "SLOW", 0.1)
    found = simulate(stage, workers=16, shards=500, seed=1)
    assert found["copies"] > 0
    assert found["hours"] < 1.5 * 500 * stage.shard_seconds / 13 / 3600


def test_a_shard_that_ends_every_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billion, "DEATHS", 1.0)
    with pytest.raises(billion.WorkerLostError):
        simulate(Stage("some", 2e-4, 0.0, 0.0), workers=4, shards=3)


def test_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billion, "sizes", lambda: SIZES)
    monkeypatch.setattr(billion, "processor", lambda: "one")  # without torch
    monkeypatch.setattr(billion, "MOLECULES", 10**7)
    text = render_plan(billion.make_record([{"rows": ROWS}]))
    assert (
        "| parse | 2,000 | data import / RDKit, MOSES, 200,000 molecules | with the rows |" in text
    )
    assert "Each stage has 100 shards of 100,000." in text
