from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.evaluation.qm9 import QM9Sizes
from igsd.experiments.plan import finished_runs, run_seeds
from igsd.experiments.qm9_plan import QM9_METHODS, QM9Plan, check_targets, qm9_config
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9 import QM9_TARGETS
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY
from tests.small_molecules import make_molecules

SIZES = QM9Sizes(10, 6, 6)
SMALL = TINY | {"edge_hidden_dim": 4, "label_batch_size": 5, "epochs": 2}


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    made = make_molecules(30)
    sizes = made.node_counts().astype(float)
    targets = np.stack([sizes, sizes**2, -sizes], axis=1)
    return replace(made, targets=targets, target_names=("mu", "alpha", "r2"))


def plan(graphs: GraphSet, folder: Path | None = None, method: str = "igsd", **changes: Any) -> Any:
    known = {entry.name for entry in type(qm9_config(method, "qm9", {})).settings()}
    config = qm9_config(method, "qm9", {k: v for k, v in SMALL.items() if k in known})
    others = {"targets": ("mu", "alpha"), "sizes": SIZES} | changes
    return QM9Plan(graphs, method, "qm9", config, 2, records=folder, **others)


def run(made: QM9Plan) -> list[dict[str, Any]]:
    return list(run_seeds(made, finished_runs(made)))


@pytest.mark.parametrize("method", QM9_METHODS)
def test_the_budget_is_the_same_for_every_method(method: str) -> None:
    config = qm9_config(method, "qm9", {})
    assert config.epochs * -(-5_000 // config.label_batch_size) >= 3_000
    assert (config.encoder, config.hidden_dim, config.label_batch_size) == ("mpnn", 64, 64)
    assert config.batch_size == 64 or method == "supervised"


def test_records_have_errors_units_and_floors(graphs: GraphSet, tmp_path: Path) -> None:
    records = run(plan(graphs, tmp_path))
    assert [record["status"] for record in records] == ["ok", "ok"]
    own, *floors = records[0]["rows"]
    assert own["units"] == {"mu": "D", "alpha": "bohr^3"}
    assert set(own["mae"]) == set(own["validation_mae"]) == {"mu", "alpha"}
    assert [row["method"] for row in floors] == ["untrained", "histogram", "mean"]
    assert records[0]["steps"] == 4
    assert (tmp_path / "qm9-mu+alpha" / "molecules" / "igsd" / "seed-1.json").is_file()
    assert not list(tmp_path.rglob("*.checkpoint"))
    assert run(plan(graphs, tmp_path)) == records
    with pytest.raises(ConfigError, match="record of another run"):
        run(replace(plan(graphs, tmp_path), sizes=QM9Sizes(10, 6, 7)))


def test_the_order_of_targets_does_not_change_the_split(graphs: GraphSet) -> None:
    """The floor of a target is the same whether it is learned alone or with others."""
    joint, alone = (run(plan(graphs, targets=t)) for t in (("mu", "alpha"), ("alpha",)))
    for a, b in zip(joint, alone, strict=True):
        assert a["rows"][-1]["mae"]["alpha"] == b["rows"][-1]["mae"]["alpha"]


def test_a_killed_split_goes_on(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(plan(graphs, tmp_path / "whole"))

    with monkeypatch.context() as patch:
        after_label_steps(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            run(plan(graphs, tmp_path / "cut"))
    assert len(list((tmp_path / "cut").rglob("*.checkpoint"))) == 1
    resumed = run(plan(graphs, tmp_path / "cut"))
    for a, b in zip(whole, resumed, strict=True):
        assert (a["history"], a["rows"]) == (b["history"], b["rows"])


def test_bad_input(graphs: GraphSet) -> None:
    with pytest.raises(ConfigError, match=r"no method 'igst'.*supervised, .*igsd"):
        qm9_config("igst", "qm9", {})
    with pytest.raises(ConfigError, match="no setting 'temperature'"):
        qm9_config("supervised", "qm9", {"temperature": 1.0})
    with pytest.raises(DataError, match="has no target 'mo'"):
        check_targets(("mo",), graphs)
    with pytest.raises(ConfigError, match="different names"):
        check_targets(("mu", "MU"), graphs)
    with pytest.raises(DataError, match="The set has 30"):
        finished_runs(plan(graphs, sizes=QM9Sizes()))
    assert check_targets((), graphs) == ("mu", "alpha", "r2")
    assert check_targets(("R2",), graphs) == ("r2",)
    assert QM9_TARGETS[0] == "mu"


def test_a_set_without_targets() -> None:
    with pytest.raises(DataError, match="predicts targets of graphs, but 'molecules' has none"):
        check_targets(("mu",), make_molecules())
