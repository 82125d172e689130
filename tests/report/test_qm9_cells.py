from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.evaluation import qm9
from igsd.evaluation.qm9 import QM9Sizes
from igsd.experiments import ALGORITHM
from igsd.experiments.records import start_record, write_record
from igsd.experiments.run import Run
from igsd.graphs.graphset import GraphSet
from igsd.report.scores import QM9Cell, qm9_cells
from igsd.report.summary import summarise
from tests.small_molecules import make_molecules

FLOORS = ["untrained", "histogram", "mean"]


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    made = make_molecules(4)
    return replace(made, targets=np.zeros((4, 2)), target_names=("mu", "r2"))


@pytest.fixture(autouse=True)
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qm9, "SIZES", QM9Sizes(2, 1, 1))


def plan(method: str = "igsd", **changes: Any) -> Run:
    fixed = tuple(changes.items())
    return Run("qm9", "molecules", method, "qm9", 0, fixed=fixed, target="mu,r2")


def record(
    run: Run, graphs: GraphSet, folder: Path, seed: int, mu: float, **changes: Any
) -> dict[str, Any]:
    """Return the record of a split with these errors, which is also written."""
    run = replace(run, seed=seed)
    identity = run.identity(graphs)
    made: Any = start_record(identity, graphs, method=run.method, recipe="qm9", seed=seed)
    made |= {"status": "ok", "rows": [row(run.method, mu), *(row(name, 9.0) for name in FLOORS)]}
    write_record(run.path(folder), made | changes)
    return made | changes


def row(method: str, mu: float) -> dict[str, Any]:
    return {"method": method, "protocol": "qm9", "mae": {"mu": mu, "r2": 10 * mu}}


def on_mu(run: Run, own: Any, folder: Path) -> dict[str, QM9Cell]:
    cells = qm9_cells(run, own, num_seeds=2, folder=folder)
    return {cell.method: cell for cell in cells if cell.target == "mu"}


def test_ratios_to_the_supervised_records_that_are_there(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan()
    own = [record(made, graphs, tmp_path, 0, 1.0), record(made, graphs, tmp_path, 1, 3.0)]
    without = on_mu(made, own, tmp_path)
    assert list(without) == ["igsd", *FLOORS]
    assert all(cell.ratio.mean is None for cell in without.values())
    record(plan("supervised"), graphs, tmp_path, 0, 2.0)
    cells = on_mu(made, own, tmp_path)
    assert list(cells) == ["supervised", "igsd", *FLOORS]
    assert cells["igsd"].error.by_seed == {0: 1.0, 1: 3.0}
    assert cells["igsd"].ratio.by_seed == {0: 0.5}
    assert (cells["supervised"].ratio.mean, cells["mean"].ratio.by_seed) == (1.0, {0: 4.5})
    assert cells["igsd"].to_dict() == {
        "method": "igsd",
        "target": "mu",
        "mae": 2.0,
        "std_over_splits": 1.0,  # population, as everywhere
        "ratio": 0.5,
        "notes": [],
    }
    other = {**own[0], "protocol": own[0]["protocol"] | {"test": 9}}
    assert list(on_mu(made, [other], tmp_path)) == ["igsd", *FLOORS]


def test_stale_records_are_marked_and_no_base(graphs: GraphSet, tmp_path: Path) -> None:
    """A ratio to an older version of the algorithm was once printed without a word."""
    made = plan()
    own = [record(made, graphs, tmp_path, 0, 1.0)]
    record(plan("supervised"), graphs, tmp_path, 0, 2.0, algorithm=0)
    record(plan("infograph"), graphs, tmp_path, 0, 4.0, algorithm=0)
    record(plan("infograph"), graphs, tmp_path, 1, 5.0)
    cells = on_mu(made, own, tmp_path)
    assert (cells["supervised"].notes, cells["supervised"].ratio.mean) == (("stale",), None)
    assert cells["igsd"].ratio.mean is None
    # Fresh records never mix with stale ones.
    assert cells["infograph"].error.by_seed == {1: 5.0}
    assert cells["infograph"].notes == ("1 more stale",)


def test_records_of_other_settings_are_marked_and_no_base(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan(epochs=3, self_weight=0.5)
    own = [record(made, graphs, tmp_path, 0, 1.0)]
    record(plan("supervised"), graphs, tmp_path, 0, 2.0)
    cells = on_mu(made, own, tmp_path)
    assert (cells["supervised"].notes, cells["igsd"].ratio.mean) == (("other settings",), None)
    # What is changed counts for every method that has it; self_weight is IGSD's alone.
    record(plan("supervised", epochs=3), graphs, tmp_path, 0, 2.0)
    cells = on_mu(made, own, tmp_path)
    assert (cells["supervised"].notes, cells["igsd"].ratio.mean) == ((), 0.5)


def test_failed_runs_are_left_out(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan()
    own = [record(made, graphs, tmp_path, 0, 1.0)]
    record(plan("supervised"), graphs, tmp_path, 0, 2.0, status="failed", rows=[])
    assert "supervised" not in on_mu(made, own, tmp_path)


def test_a_ratio_needs_both_splits() -> None:
    own = [_stored(0, row("a", 1.0)), _stored(1)]
    base = [_stored(0, row("b", 4.0), method="b"), _stored(1, row("b", 1.0), method="b")]
    cell = summarise(own, "mae", method="a", target="mu", relative_to=base)
    assert cell.by_seed == {0: 0.25}
    assert summarise(own, "mae", method="a", target="gap", relative_to=base).word == "-"


def _stored(seed: int, *rows: dict[str, Any], method: str = "a") -> Any:
    known = {"seed": seed, "status": "ok", "algorithm": ALGORITHM, "method": method}
    return known | {"rows": [*rows]}
