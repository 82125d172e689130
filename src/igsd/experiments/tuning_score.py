"""What a search goes by: scores from inside training parts, which no test part takes part in.

The seeds are 100, 101, ...: not those of the tables, which are 0 to 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.baselines.semi_methods import find_semi_method
from igsd.config import Config
from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError
from igsd.evaluation.nested import inner_score
from igsd.evaluation.semi import LABEL_RATE, TEST_SHARE, score_split, semi_split
from igsd.experiments.scoring import class_codes
from igsd.experiments.trained import train_model
from igsd.graphs.graphset import GraphSet
from igsd.training.fit import check_trainable
from igsd.training.fit_labelled import check_labels_trainable

FIRST_SEED = 100


@dataclass(frozen=True)
class TuningTask(ABC):
    """Graphs, and how settings are scored on them, over ``num_seeds`` seeds."""

    graphs: GraphSet
    num_seeds: int

    @abstractmethod
    def protocol(self) -> dict[str, Any]:
        """Return what decides a score besides the settings, as plain values."""

    @abstractmethod
    def check(self, config: Config) -> None:
        """Raise for data or settings that cannot be trained or scored; nothing is trained."""

    @abstractmethod
    def score_seed(self, config: Config, seed: int) -> float:
        """Return the accuracy of one training with the seed that ``config`` has."""

    def score(self, config: Config) -> float:
        """Return the mean accuracy over the seeds."""
        seeds = range(FIRST_SEED, FIRST_SEED + self.num_seeds)
        scores = [self.score_seed(config.updated({"seed": seed}), seed) for seed in seeds]
        return float(np.mean(scores))


@dataclass(frozen=True)
class NestedTask(TuningTask):
    """Without labels: an SVM's accuracy on the inner folds of the outer folds' training parts.

    As in protocol ``nested``, graphs are trained on without their classes. ``jobs`` processes score
    the folds; the numbers are the same.
    """

    jobs: int = 1

    def protocol(self) -> dict[str, Any]:
        """Return what decides a score besides the settings, as plain values."""
        return {"name": "nested", "seeds": self.num_seeds, "standardise": "yes"}

    def check(self, config: Config) -> None:
        """Raise ``DataError`` for graphs without classes, ``ConfigError`` for settings."""
        class_codes(self.graphs)
        check_trainable(self.graphs, config)

    def score_seed(self, config: Config, seed: int) -> float:
        """Return the mean accuracy inside the training parts of one fold seed."""
        vectors = train_model(self.graphs, config).vectors
        codes = class_codes(self.graphs)
        return inner_score(vectors, codes, seed, standardise="yes", n_jobs=self.jobs)


@dataclass(frozen=True)
class SemiTask(TuningTask):
    """With few labels: accuracy after the last epoch, on splits of one split's training part."""

    method: str
    label_rate: float = LABEL_RATE

    def protocol(self) -> dict[str, Any]:
        """Return what decides a score besides the settings, as plain values."""
        shares = {"label_rate": self.label_rate, "test_share": TEST_SHARE}
        return {"name": "semi", "method": self.method, "seeds": self.num_seeds, **shares}

    def check(self, config: Config) -> None:
        """Raise ``DataError`` for classes too small to split twice, ``ConfigError`` otherwise."""
        if not isinstance(config, SemiConfig) or not config.epochs:
            raise ConfigError("A score over epochs needs at least one. Set epochs to 1 or more.")
        part, codes = self._training_part()
        semi_split(codes, FIRST_SEED, label_rate=self.label_rate)
        check_labels_trainable(part, config)

    def score_seed(self, config: Any, seed: int) -> float:
        """Return the accuracy of one split of the training part."""
        part, codes = self._training_part()
        split = semi_split(codes, seed, label_rate=self.label_rate)
        estimator = find_semi_method(self.method).classifier.from_config(config)
        return score_split(estimator, part, codes, split, seed)[0].mean

    def _training_part(self) -> tuple[GraphSet, np.ndarray]:
        """Return the graphs of the training part and their classes; the test part is left alone."""
        codes = class_codes(self.graphs, gaps=True)
        train = semi_split(codes, FIRST_SEED, label_rate=self.label_rate).train
        return self.graphs.take(train), codes[train]
