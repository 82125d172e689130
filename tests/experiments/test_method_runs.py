from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.measured import Measured
from igsd.errors import ConfigError, TrainingError
from igsd.experiments import method_plan
from igsd.experiments.method_runs import run_methods
from igsd.graphs.graphset import GraphSet
from tests.experiments.method_stand_in import Made, in_process, labelled, plan

__all__ = ["in_process", "labelled"]


def test_finished_runs_are_not_made_again(
    tmp_path: Path, labelled: GraphSet, in_process: Made
) -> None:
    def runs(**others: Any) -> list[tuple[str, int, bool]]:
        plans = [
            plan(labelled, name, num_seeds=2, records=tmp_path, **others)
            for name in ("wl", "histogram")
        ]
        return [(p.method, r["seed"], there) for p, r, there in run_methods(plans)]

    first = runs()
    assert first == [(n, s, False) for n in ("wl", "histogram") for s in (0, 1)]
    assert runs() == [(name, seed, True) for name, seed, _ in first]
    (tmp_path / "nested" / "toy" / "wl" / "seed-1.json").unlink()
    assert [there for *_, there in runs()] == [True, False, True, True]
    other = replace(plan(labelled, records=tmp_path, changes={"iterations": 1}), label="")
    with pytest.raises(ConfigError, match=r"another run: iterations is 5 there and 1 here"):
        list(run_methods([other]))


def test_what_draws_nothing_runs_once(labelled: GraphSet, in_process: Made) -> None:
    small = {"dim": 4, "epochs": 1, "min_count": 1}
    plans = [
        plan(labelled, num_seeds=2),
        plan(labelled, "graph2vec", num_seeds=2, changes=small),
    ]
    records = [record for _, record, _ in run_methods(plans)]
    assert in_process == [("wl", 0), ("graph2vec", 0), ("graph2vec", 1)]
    assert [record["rows"][0]["seed"] for record in records] == [0, 1, 0, 1]


def test_a_limit_is_an_answer(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    tight = plan(labelled, "shortest-path", num_seeds=3, records=tmp_path, memory_gib=1e-9)
    others = plan(labelled, "histogram", num_seeds=3, records=tmp_path)
    records = [record for _, record, _ in run_methods([tight, others])]
    # A method that exceeds its limits is not tried again with the next seed.
    assert [r["status"] for r in records] == ["limit", "ok", "ok", "ok"]
    assert records[0]["word"] == "OMR"
    assert "the distances of" in records[0]["error"]
    assert tight.finished(0) is not None
    assert replace(tight, memory_gib=1e-10).finished(0) is not None
    assert replace(tight, memory_gib=1.0).finished(0) is None
    assert replace(tight, seconds=1.0).finished(0) is not None
    assert replace(tight, force=True).finished(0) is None


def test_a_score_beyond_the_limits_of_now_says_so(
    tmp_path: Path, labelled: GraphSet, in_process: Made
) -> None:
    wide = plan(labelled, records=tmp_path)
    path = wide.path_of(0)
    assert path is not None
    made = json.loads(json.dumps(wide.run(0)))
    made |= {"seconds": made["seconds"] | {"train": 30.0}, "peak_memory_mib": 432.0}
    path.write_text(json.dumps(made))
    assert replace(wide, seconds=60.0, memory_gib=1.0).finished(0) == made
    for limit, text in (({"memory_gib": 0.4}, "0.4 GiB"), ({"seconds": 20.0}, "20 seconds")):
        found = replace(wide, **limit).finished(0)
        assert found is not None
        told = f"when it was made, a run took more than {text}, the limit of now; its score stands."
        assert (found["status"], found["notes"]) == ("ok", [told])


def test_a_failed_method_does_not_stop_the_others(
    tmp_path: Path, labelled: GraphSet, in_process: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = method_plan.run_measured

    def run(function: Any, graphs: GraphSet, name: str, *others: Any, **limited: Any) -> Measured:
        if name == "wl":
            raise TrainingError("The process of a method ended without an answer.")
        return here(function, graphs, name, *others, **limited)

    monkeypatch.setattr(method_plan, "run_measured", run)
    plans = [plan(labelled, name, records=tmp_path) for name in ("wl", "histogram")]
    assert [r["status"] for _, r, _ in run_methods(plans)] == ["failed", "ok"]
    assert plans[0].finished(0) is None
