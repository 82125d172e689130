from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.evaluation.qm9 import QM9Sizes
from igsd.experiments.qm9_plan import QM9Plan, qm9_config
from igsd.experiments.qm9_table import QM9Cell, error_ratios, errors_by_split, qm9_cells
from igsd.experiments.records import start_record, write_record
from igsd.graphs.graphset import GraphSet
from tests.small_molecules import make_molecules

FLOORS = ["untrained", "histogram", "mean"]


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    made = make_molecules(4)
    return replace(made, targets=np.zeros((4, 2)), target_names=("mu", "r2"))


def plan(graphs: GraphSet, folder: Path, method: str = "igsd", **changes: Any) -> QM9Plan:
    config = qm9_config(method, "qm9", changes)
    others: dict[str, Any] = {"targets": ("mu", "r2"), "sizes": QM9Sizes(2, 1, 1)}
    return QM9Plan(graphs, method, "qm9", config, 2, records=folder, **others)


def record(made: QM9Plan, seed: int, mu: float, **changes: Any) -> dict[str, Any]:
    """Return the record of a split with these errors, which is also written."""
    about = start_record(made.identity(seed), made.graphs, seed, method=made.method)
    about |= {"status": "ok", "rows": [row(made.method, mu), *(row(name, 9.0) for name in FLOORS)]}
    path = made.path_of(seed)
    assert path is not None
    write_record(path, about | changes)
    return about | changes


def row(method: str, mu: float) -> dict[str, Any]:
    return {"method": method, "protocol": "qm9", "mae": {"mu": mu, "r2": 10 * mu}}


def on_mu(made: QM9Plan, own: list[dict[str, Any]]) -> dict[str, QM9Cell]:
    return {cell.method: cell for cell in qm9_cells(made, own) if cell.target == "mu"}


def test_ratios_to_the_supervised_records_that_are_there(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan(graphs, tmp_path)
    own = [record(made, 0, 1.0), record(made, 1, 3.0)]
    without = on_mu(made, own)
    assert list(without) == ["igsd", *FLOORS]
    assert all(cell.ratio is None for cell in without.values())
    record(plan(graphs, tmp_path, "supervised"), 0, 2.0)
    cells = on_mu(made, own)
    assert list(cells) == ["supervised", "igsd", *FLOORS]
    assert (cells["igsd"].errors, cells["igsd"].ratios) == ((1.0, 3.0), (0.5,))
    assert (cells["supervised"].ratio, cells["mean"].ratios) == (1.0, (4.5,))
    assert cells["igsd"].to_dict() == {
        "method": "igsd",
        "target": "mu",
        "mae": 2.0,
        "std_over_splits": 1.0,  # population, as everywhere
        "ratio": 0.5,
        "notes": [],
    }
    assert list(on_mu(replace(made, sizes=QM9Sizes(1, 1, 1)), own)) == ["igsd", *FLOORS]


def test_stale_records_are_marked_and_no_base(graphs: GraphSet, tmp_path: Path) -> None:
    """A ratio to an older version of the algorithm was once printed without a word."""
    made = plan(graphs, tmp_path)
    own = [record(made, 0, 1.0)]
    record(plan(graphs, tmp_path, "supervised"), 0, 2.0, algorithm=0)
    record(plan(graphs, tmp_path, "infograph"), 0, 4.0, algorithm=0)
    record(plan(graphs, tmp_path, "infograph"), 1, 5.0)
    cells = on_mu(made, own)
    assert (cells["supervised"].notes, cells["supervised"].ratio) == (("stale",), None)
    assert cells["igsd"].ratio is None
    # Fresh records never mix with stale ones.
    assert (cells["infograph"].errors, cells["infograph"].notes) == ((5.0,), ())


def test_records_of_other_settings_are_marked_and_no_base(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan(graphs, tmp_path, epochs=3, self_weight=0.5)
    own = [record(made, 0, 1.0)]
    record(plan(graphs, tmp_path, "supervised"), 0, 2.0)
    cells = on_mu(made, own)
    assert (cells["supervised"].notes, cells["igsd"].ratio) == (("other settings",), None)
    # What is changed counts for every method that has it; self_weight is IGSD's alone.
    record(plan(graphs, tmp_path, "supervised", epochs=3), 0, 2.0)
    cells = on_mu(made, own)
    assert (cells["supervised"].notes, cells["igsd"].ratio) == ((), 0.5)


def test_failed_runs_are_left_out(graphs: GraphSet, tmp_path: Path) -> None:
    made = plan(graphs, tmp_path)
    own = [record(made, 0, 1.0)]
    record(plan(graphs, tmp_path, "supervised"), 0, 2.0, status="failed", rows=[])
    assert "supervised" not in on_mu(made, own)


def test_a_ratio_needs_both_splits() -> None:
    own = errors_by_split([{"seed": 0, "rows": [row("a", 1.0)]}, {"seed": 1, "rows": []}], "a")
    assert own == {0: {"mu": 1.0, "r2": 10.0}, 1: {}}
    assert error_ratios(own, {0: {"mu": 4.0}, 1: {"mu": 1.0}}, "mu") == {0: 0.25}
    assert error_ratios(own, {0: {"mu": 4.0}}, "r2") == {}
