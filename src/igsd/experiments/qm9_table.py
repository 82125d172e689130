"""The table of protocol ``qm9``: errors and ratios, from the records that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from igsd.experiments.qm9_runner import QM9_METHODS, SUPERVISED, QM9Plan
from igsd.experiments.records import read_record

FLOORS = ("untrained", "histogram", "mean")
Errors = dict[int, dict[str, float]]
"""The MAE of each target, by split."""


@dataclass(frozen=True)
class QM9Cell:
    """The MAE of a method on one target over splits, and its ratio to the supervised method's.

    ``ratios`` has an entry for every split on which both were run.
    """

    method: str
    target: str
    errors: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def mae(self) -> float:
        """The mean MAE over splits."""
        return float(np.mean(self.errors))

    @property
    def ratio(self) -> float | None:
        """The mean ratio over splits, None where there is no supervised record to compare with."""
        return float(np.mean(self.ratios)) if self.ratios else None

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain values."""
        spread = float(np.std(self.errors, ddof=1)) if len(self.errors) > 1 else None
        figures = {"mae": self.mae, "std_over_splits": spread, "ratio": self.ratio}
        return {"method": self.method, "target": self.target} | figures


def qm9_errors(plan: QM9Plan, own: Sequence[dict[str, Any]]) -> dict[str, Errors]:
    """Return the errors by method: those of ``own`` records, and of all others that are there.

    A record counts if it is of the same data, targets and sizes and ended well. The floors come
    from the plan's own records, which all have them.
    """
    found: dict[str, Errors] = {}
    for method in QM9_METHODS:
        records = list(own) if method == plan.method else _stored(replace(plan, method=method))
        errors = {record["seed"]: _errors(record, method) for record in records}
        if errors:
            found[method] = errors
    return found | {
        name: {record["seed"]: _errors(record, name) for record in own} for name in FLOORS
    }


def qm9_cells(plan: QM9Plan, errors: dict[str, Errors]) -> list[QM9Cell]:
    """Return a cell for each method and target, methods in the order of the paper's figure."""
    base = errors.get(SUPERVISED, {})
    return [
        QM9Cell(
            method,
            target,
            tuple(row[target] for row in per_split.values()),
            tuple(
                row[target] / base[seed][target] for seed, row in per_split.items() if seed in base
            ),
        )
        for method, per_split in errors.items()
        for target in plan.targets
    ]


def _stored(plan: QM9Plan) -> list[dict[str, Any]]:
    """Return the records of another method on the same splits."""
    records = []
    for seed in range(plan.num_splits):
        path = plan.path_of(seed)
        record = None if path is None else read_record(path)
        if record is not None and _is_alike(record, plan):
            records.append(record)
    return records


def _is_alike(record: dict[str, Any], plan: QM9Plan) -> bool:
    same = record["protocol"] == plan.protocol()
    same = same and record["data"]["checksum"] == plan.graphs.checksum
    return bool(same and record["status"] == "ok")


def _errors(record: dict[str, Any], method: str) -> dict[str, float]:
    return next(row["mae"] for row in record["rows"] if row["method"] == method)
