"""``ValuePlan``: protocol ``semi`` for a number to predict, such as logBB."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.semi_methods import find_semi_method
from igsd.errors import DataError, nearest
from igsd.evaluation.fingerprints import (
    MORGAN,
    NUM_BITS,
    has_smiles,
    morgan_fingerprints,
)
from igsd.evaluation.semi import LABEL_RATE, TEST_SHARE, SemiSplit
from igsd.evaluation.semi_values import score_mean, score_ridge, score_values, value_split
from igsd.experiments.split_plan import SplitPlan, losses_of, split_folder


@dataclass(frozen=True)
class ValuePlan(SplitPlan):
    """A method for one target of the set; ``label_rate`` of the known values are shown to it."""

    target: str = ""
    label_rate: float = LABEL_RATE

    def protocol(self) -> dict[str, Any]:
        """Return what decides the splits, as plain values."""
        shares = {"label_rate": self.label_rate, "test_share": TEST_SHARE}
        return {"name": "semi", "target": self.target} | shares

    def folder(self) -> str:
        """Return ``semi-TARGET``, with the share of labels where it is not the protocol's."""
        return split_folder("semi", self.target, self.label_rate)

    def check(self) -> None:
        """Raise ``DataError`` for a target that the set does not have, or with too few values."""
        value_split(self.values(), 0, label_rate=self.label_rate)

    def run_split(self, seed: int, checkpoint: Path | None) -> dict[str, Any]:
        """Return the rows, mean absolute errors, and the seconds and history of a split."""
        values = self.values()
        split = value_split(values, seed, label_rate=self.label_rate)
        estimator = find_semi_method(self.method).regressor.from_config(
            self.config_of(seed), checkpoint=checkpoint, verbose=self.verbose
        )
        begin = time.perf_counter()
        errors = {self.method: score_values(estimator, self.graphs, values, split)}
        seconds = {"train": round(time.perf_counter() - begin, 3)}
        errors |= self._floors(values, split)
        return {
            "seconds": seconds,
            **losses_of(estimator),
            "num_labelled": len(split.labelled),
            "rows": [{"method": m, "protocol": "semi", "mae": e} for m, e in errors.items()],
        }

    def _floors(self, values: np.ndarray, split: SemiSplit) -> dict[str, float]:
        """Return the errors that a gain is measured against, on the same split."""
        floors = {"mean": score_mean(values, split)}
        if has_smiles(self.graphs.graph_names):
            # Only these have a value to learn from or to be compared with.
            used = np.concatenate([split.labelled, split.test])
            X = np.zeros((len(values), NUM_BITS), np.float32)
            X[used] = morgan_fingerprints([(self.graphs.graph_names or ())[i] for i in used])
            floors[MORGAN] = score_ridge(X, values, split)
        return floors

    def values(self) -> np.ndarray:
        """Return the target of every graph, [G], NaN where it is unknown; raises ``DataError``."""
        names = list(self.graphs.target_names)
        if self.target not in names:
            hint = nearest(self.target, names) if names else "It has no targets."
            raise DataError(f"{self.graphs.name!r} has no target {self.target!r}. {hint}")
        return np.asarray(self.graphs.targets, np.float64)[:, names.index(self.target)]
