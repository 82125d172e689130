from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.semi_methods import regression_config
from igsd.errors import DataError
from igsd.experiments.plan import finished_runs, run_seeds
from igsd.experiments.value_plan import ValuePlan
from tests.small_graphs import TINY, make_graphs

SIZES = {**TINY, "epochs": 1}


def plan_of(records: Path | None = None, target: str = "size") -> ValuePlan:
    made = make_graphs(20)
    values = np.append(made.node_counts()[:16] + 0.5, [np.nan] * 4)[:, None]
    graphs = replace(made, targets=values, target_names=("size",))
    config = regression_config("gin", "molecules", {k: v for k, v in SIZES.items() if k in KNOWN})
    return ValuePlan(graphs, "gin", "molecules", config, 1, records, target=target, label_rate=0.5)


KNOWN = {entry.name for entry in type(regression_config("gin", "molecules", {})).settings()}


def test_a_record_of_a_split(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    (record,) = run_seeds(plan, finished_runs(plan))
    assert record["status"] == "ok", record["error"]
    assert [row["method"] for row in record["rows"]] == ["gin", "mean"]
    assert all(row["mae"] > 0 for row in record["rows"])
    assert record["num_labelled"] == 7
    path = plan.path_of(0)
    assert path is not None
    assert path.relative_to(tmp_path).parts[0] == "semi-size-0.5"
    assert list(finished_runs(plan)) == [0]


def test_fingerprints_stand_beside_molecules() -> None:
    pytest.importorskip("rdkit")
    plan = plan_of()
    named = replace(plan.graphs, graph_names=tuple("C" * (1 + i) for i in range(20)))
    (record,) = run_seeds(replace(plan, graphs=named), {})
    assert [row["method"] for row in record["rows"]] == ["gin", "mean", "morgan"]


def test_a_target_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"has no target 'siz'.*'size'"):
        plan_of(target="siz").check()
