"""``QM9Plan``: protocol ``qm9``, and which method is which row of its table."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.gin_supervised import GINRegressor, SupervisedRegressionConfig
from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.semi_methods import find_semi_method, regression_config
from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError, DataError, nearest
from igsd.evaluation.qm9 import (
    SIZES,
    Errors,
    QM9Sizes,
    QM9Split,
    qm9_split,
    score_constant,
    score_descriptors,
    score_targets,
)
from igsd.experiments.split_plan import SplitPlan, losses_of, split_folder
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9 import QM9_TARGETS, QM9_UNITS

QM9_METHODS = {
    "supervised": "gin",
    "mean-teacher": "mean-teacher",
    "infograph": "infograph",
    "infograph-star": "infograph-star",
    "igsd": "igsd-self",
}
"""The methods of the paper's figure, and what they are called among those with few labels."""

SUPERVISED = "supervised"
"""The method that all others are measured against."""


def qm9_config(method: str, recipe: str, changes: dict[str, Any]) -> SemiConfig:
    """Return the settings of a method; raises ``ConfigError`` for an unknown name or setting."""
    if method not in QM9_METHODS:
        raise ConfigError(
            f"Protocol qm9 has no method {method!r}. The methods are: {', '.join(QM9_METHODS)}."
        )
    return regression_config(QM9_METHODS[method], recipe, changes)


def check_targets(names: tuple[str, ...], graphs: GraphSet) -> tuple[str, ...]:
    """Return the targets asked for, all ten where none is; raises for one that is not there."""
    if not graphs.target_names:
        raise DataError(f"Protocol qm9 predicts targets of graphs, but {graphs.name!r} has none.")
    lower = {name.lower(): name for name in graphs.target_names}
    asked = names or tuple(name for name in QM9_TARGETS if name in lower.values())
    for name in asked:
        if name.lower() not in lower:
            raise DataError(
                f"{graphs.name!r} has no target {name!r}. {nearest(name, graphs.target_names)}"
            )
    chosen = tuple(lower[name.lower()] for name in asked)
    if not chosen:
        raise DataError(
            f"{graphs.name!r} has none of QM9's ten properties. Name targets of its own: "
            f"{', '.join(graphs.target_names)}."
        )
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"The targets must have different names. Got {', '.join(names)}.")
    return chosen


@dataclass(frozen=True)
class QM9Plan(SplitPlan):
    """A method for properties of molecules; ``targets``: those that are learned together."""

    targets: tuple[str, ...] = QM9_TARGETS
    sizes: QM9Sizes = SIZES

    def protocol(self) -> dict[str, Any]:
        """Return what decides the splits and what is learned, as plain values."""
        return {"name": "qm9", "targets": list(self.targets)} | self.sizes._asdict()

    def folder(self) -> str:
        """Return ``qm9``, with the targets where they are not all ten."""
        return split_folder("qm9", "" if self.targets == QM9_TARGETS else "+".join(self.targets))

    def check(self) -> None:
        """Raise ``DataError`` for a set without targets, or one that is too small."""
        check_targets(self.targets, self.graphs)
        qm9_split(len(self.graphs), 0, self.sizes)

    def run_split(self, seed: int, checkpoint: Path | None) -> dict[str, Any]:
        """Return the rows, the seconds, the number of steps and the history of a split."""
        split = qm9_split(len(self.graphs), seed, self.sizes)
        config = self.config_of(seed)
        estimator = find_semi_method(QM9_METHODS[self.method]).regressor.from_config(
            config, checkpoint=checkpoint, verbose=self.verbose
        )
        targets, begin = self._targets(), time.perf_counter()
        errors = score_targets(estimator, self.graphs, targets, self.targets, split)
        seconds = {"train": round(time.perf_counter() - begin, 3)}
        rows = [self._row(self.method, errors), *self._floors(seed, targets, split)]
        steps = config.epochs * -(-len(split.labelled) // config.label_batch_size)
        return {"seconds": seconds, "steps": steps, **losses_of(estimator), "rows": rows}

    def _targets(self) -> np.ndarray:
        columns = [self.graphs.target_names.index(name) for name in self.targets]
        return np.asarray(self.graphs.targets, np.float64)[:, columns]

    def _floors(self, seed: int, targets: np.ndarray, split: QM9Split) -> list[dict[str, Any]]:
        """Return the rows that a gain is measured against: vectors no label has touched, a mean."""
        labelled = self.graphs.take(split.labelled)
        settings = SupervisedRegressionConfig.known(self.config_of(seed).to_json())
        config = SupervisedRegressionConfig().updated(settings | {"epochs": 0})
        untrained = GINRegressor.from_config(config).fit(labelled, targets[split.labelled])
        vectors = {
            "untrained": untrained.transform,
            "histogram": LabelDegreeHistogram().fit(labelled).transform,
        }
        rows = [
            self._row(name, score_descriptors(function, self.graphs, targets, split))
            for name, function in vectors.items()
        ]
        return [*rows, self._row("mean", score_constant(targets, split))]

    def _row(self, method: str, errors: Errors) -> dict[str, Any]:
        row: dict[str, Any] = {"method": method, "protocol": "qm9"}
        row["units"] = {name: QM9_UNITS.get(name, "") for name in self.targets}
        row["mae"] = dict(zip(self.targets, errors["test"], strict=True))
        row["validation_mae"] = dict(zip(self.targets, errors["validation"], strict=True))
        return row
