"""The table of protocol ``qm9``: errors and ratios, from the records that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from igsd.experiments.qm9_plan import QM9_METHODS, SUPERVISED, QM9Plan, qm9_config
from igsd.experiments.records import Record, is_fresh, usable_record

FLOORS = ("untrained", "histogram", "mean")
STALE, OTHER = "stale", "other settings"

Errors = Mapping[int, Mapping[str, float]]
"""The MAE of each target, by split."""


@dataclass(frozen=True)
class QM9Cell:
    """The MAE of a method on one target over splits, and its ratio to the supervised method's.

    ``ratios`` has an entry for every split on which both were run. ``notes`` qualify the result:
    its records are stale, or of other settings than those that are run now.
    """

    method: str
    target: str
    errors: tuple[float, ...]
    ratios: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def mae(self) -> float:
        """The mean MAE over splits."""
        return float(np.mean(self.errors))

    @property
    def ratio(self) -> float | None:
        """The mean ratio over splits, None where there is no supervised record to compare with."""
        return float(np.mean(self.ratios)) if self.ratios else None

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain values; the deviation as everywhere (population, ddof 0)."""
        spread = float(np.std(self.errors)) if len(self.errors) > 1 else None
        figures = {"mae": self.mae, "std_over_splits": spread, "ratio": self.ratio}
        return {"method": self.method, "target": self.target} | figures | {"notes": [*self.notes]}


def qm9_cells(plan: QM9Plan, own: Sequence[Record]) -> list[QM9Cell]:
    """Return a cell for each method and target, methods in the order of the paper's figure.

    Made of the plan's ``own`` records and those of other methods on the same data, targets and
    sizes that ended well. Stale records of a method count only where there are no others. Ratios
    are to supervised records that are neither stale nor of other settings. The floors come from
    the plan's own records, which all have them.
    """
    columns = {
        name: (own, ()) if name == plan.method else _stored(plan, name) for name in QM9_METHODS
    }
    base, faults = columns[SUPERVISED]
    supervised: Errors = {} if faults else errors_by_split(base, SUPERVISED)
    columns |= dict.fromkeys(FLOORS, (own, ()))
    return [
        _cell(target, name, errors_by_split(records, name), supervised, notes)
        for name, (records, notes) in columns.items()
        for target in plan.targets
        if records
    ]


def errors_by_split(records: Sequence[Record], method: str) -> dict[int, dict[str, float]]:
    """Return the MAE of each target in records of this protocol, by split; none where it failed."""
    return {
        record["seed"]: next((r["mae"] for r in record["rows"] if r["method"] == method), {})
        for record in records
    }


def error_ratios(own: Errors, base: Errors, target: str) -> dict[int, float]:
    """Return the errors on a target over those of another method, of the splits that both have."""
    return {
        seed: row[target] / base[seed][target]
        for seed, row in own.items()
        if target in row and target in base.get(seed, {})
    }


def _cell(
    target: str, method: str, errors: Errors, supervised: Errors, notes: tuple[str, ...]
) -> QM9Cell:
    ratios = tuple(error_ratios(errors, supervised, target).values())
    return QM9Cell(method, target, tuple(row[target] for row in errors.values()), ratios, notes)


def _stored(plan: QM9Plan, method: str) -> tuple[Sequence[Record], tuple[str, ...]]:
    """Return the records of another method on the same splits, and what is wrong with them."""
    other = replace(plan, method=method, config=_config_like(plan, method))
    paths = (other.path_of(seed) for seed in range(plan.num_seeds))
    read = (None if path is None else usable_record(path) for path in paths)
    found = [record for record in read if record is not None and _is_alike(record, plan)]
    current = [record for record in found if is_fresh(record)]
    used, notes = (current, ()) if current or not found else (found, (STALE,))
    if any(_has_other_settings(record, other) for record in used):
        return used, (*notes, OTHER)
    return used, notes


def _config_like(plan: QM9Plan, method: str) -> Any:
    """Return the settings of another method by the plan's recipe and what is changed in it."""
    usual = qm9_config(plan.method, plan.recipe, {}).to_json()
    changed = {k: v for k, v in plan.config.to_json().items() if v != usual[k]}
    other = qm9_config(method, plan.recipe, {})
    return other.updated(other.known(changed))


def _is_alike(record: Record, plan: QM9Plan) -> bool:
    same = record["protocol"] == plan.protocol()
    same = same and record["data"]["checksum"] == plan.graphs.checksum
    return bool(same and record["status"] == "ok")


def _has_other_settings(record: Record, plan: QM9Plan) -> bool:
    wanted = replace(plan.identity(record["seed"]), algorithm=record["algorithm"])
    return bool(wanted.differences(record))
