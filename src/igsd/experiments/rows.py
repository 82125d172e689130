"""``Row``: one method over several seeds, and the table that rows make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.scoring import ROW_ORDER, TWINS_REMOVED, Scored


@dataclass(frozen=True)
class Row:
    """A method's results under one protocol, one for each seed; none where it could not be run."""

    method: str
    protocol: str
    results: tuple[ProtocolResult, ...]

    @property
    def mean(self) -> float | None:
        """Mean accuracy: over the folds of each seed, then over the seeds."""
        return float(np.mean([r.mean for r in self.results])) if self.results else None

    @property
    def std_over_seeds(self) -> float | None:
        """Standard deviation of the seeds' means (population, ddof 0), None for a single seed."""
        return float(np.std([r.mean for r in self.results])) if len(self.results) > 1 else None

    @property
    def std_over_folds(self) -> float | None:
        """Standard deviation over all folds of all seeds (population, ddof 0)."""
        folds = [accuracy for r in self.results for accuracy in r.accuracies]
        return float(np.std(folds)) if folds else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values for JSON."""
        return {
            "method": self.method,
            "protocol": self.protocol,
            "optimistic": any(r.optimistic for r in self.results),
            "mean": self.mean,
            "std_over_seeds": self.std_over_seeds,
            "std_over_folds": self.std_over_folds,
            "seeds": [r.to_dict() for r in self.results],
        }


def make_rows(per_seed: Iterable[Iterable[Scored]], protocol: str) -> list[Row]:
    """Return the rows of one protocol from the results of each seed.

    Rows with twins removed come first where there are any, then methods that are not in
    ``ROW_ORDER``, then its four, always, so that a method that could not be run shows as a row
    without a number. Only ``igsd`` is left out where another method stands in its place.
    """
    gathered: dict[str, list[ProtocolResult]] = {}
    for scored in per_seed:
        for method, result in scored:
            if result.protocol == protocol:
                gathered.setdefault(method, []).append(result)
    before = [method for method in gathered if method.endswith(TWINS_REMOVED)]
    others = [method for method in gathered if method not in (*before, *ROW_ORDER)]
    last = [
        method for method in ROW_ORDER if method != "igsd" or method in gathered or not gathered
    ]
    order = [*before, *others, *last]
    return [Row(method, protocol, tuple(gathered.get(method, ()))) for method in order]


def rows_to_dict(rows: list[Row], beside: list[Row] | None = None) -> dict[str, Any]:
    """Return the table as plain values; ``beside``: the ``nested`` rows of an optimistic table."""
    table: dict[str, Any] = {"protocol": rows[0].protocol}
    if beside:
        table["beside"] = [row.to_dict() for row in beside]
    return table | {"rows": [row.to_dict() for row in rows]}


def result_from_dict(values: Mapping[str, Any]) -> ProtocolResult:
    """Return the result whose ``to_dict`` gave these values."""
    known = {entry.name for entry in fields(ProtocolResult)}
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in values.items()
        if key in known
    }
    return ProtocolResult(**plain)
