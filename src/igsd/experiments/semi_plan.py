"""``SemiPlan``: the protocols ``semi`` and ``semi-paper`` of few labels for classes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.baselines.gin_supervised import GINClassifier, SupervisedConfig
from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.semi_methods import find_semi_method
from igsd.estimators.classifier import GraphClassifier
from igsd.evaluation.fingerprints import MORGAN, has_smiles, morgan_fingerprints
from igsd.evaluation.semi import (
    LABEL_RATE,
    TEST_SHARE,
    SemiSplit,
    roc_auc,
    score_fingerprints,
    score_majority,
    score_split,
    score_svm,
    semi_split,
)
from igsd.experiments.scoring import Scored, class_codes
from igsd.experiments.split_plan import SplitPlan, losses_of, split_folder
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class SemiPlan(SplitPlan):
    """A method for classes; ``label_rate`` of the training part keeps its label."""

    label_rate: float = LABEL_RATE

    def protocol(self) -> dict[str, Any]:
        """Return what decides the splits, as plain values."""
        return {"name": "semi", "label_rate": self.label_rate, "test_share": TEST_SHARE}

    def folder(self) -> str:
        """Return ``semi``, with the share of labels where it is not the protocol's."""
        return split_folder("semi", label_rate=self.label_rate)

    def check(self) -> None:
        """Raise ``DataError`` for data without classes, or with one too small to be split."""
        semi_split(class_codes(self.graphs, gaps=True), 0, label_rate=self.label_rate)

    def run_split(self, seed: int, checkpoint: Path | None) -> dict[str, Any]:
        """Return the rows, the seconds, the history and the pseudo-labels of a split."""
        codes = class_codes(self.graphs, gaps=True)
        split = semi_split(codes, seed, label_rate=self.label_rate)
        estimator = find_semi_method(self.method).classifier.from_config(
            self.config_of(seed), checkpoint=checkpoint, verbose=self.verbose
        )
        begin = time.perf_counter()
        results = score_split(estimator, self.graphs, codes, split, seed)
        seconds = {"train": round(time.perf_counter() - begin, 3)}
        area = roc_auc(codes, estimator.predict_proba(self.graphs.take(split.test)), split)
        scored: list[Scored] = [(self.method, result) for result in results]
        scored += _floors(self, codes, split, seed)
        rows = [{"method": method} | result.to_dict() for method, result in scored]
        rows[0]["roc_auc"] = area
        return {
            "seconds": seconds,
            **losses_of(estimator),
            "pseudo_labels": _pseudo_labels(estimator, codes, split),
            "rows": [*rows, *_fingerprint_rows(self.graphs, codes, split, seed)],
        }


def _floors(plan: SemiPlan, codes: Any, split: SemiSplit, seed: int) -> list[Scored]:
    """Return the rows that a gain is measured against, on the same split."""
    settings = SupervisedConfig.known(plan.config_of(seed).to_json())
    config = SupervisedConfig().updated(settings | {"epochs": 0, "self_training": False})
    untrained = GINClassifier.from_config(config)
    untrained.fit(plan.graphs.take(split.train), split.training_labels(codes))
    vectors = {
        "untrained": untrained.transform(plan.graphs),
        "histogram": LabelDegreeHistogram()
        .fit(plan.graphs.take(split.train))
        .transform(plan.graphs),
    }
    rows = [(name, score_svm(X, codes, split, seed)) for name, X in vectors.items()]
    return [*rows, ("majority", score_majority(codes, split, seed))]


def _fingerprint_rows(
    graphs: GraphSet, codes: Any, split: SemiSplit, seed: int
) -> list[dict[str, Any]]:
    """Return the row of fingerprints with logistic regression, where graphs are molecules."""
    if not has_smiles(graphs.graph_names):
        return []
    X = morgan_fingerprints(graphs.graph_names or ())
    result, probabilities = score_fingerprints(X, codes, split, seed)
    row = {"method": MORGAN} | result.to_dict()
    return [row | {"roc_auc": roc_auc(codes, probabilities, split)}]


def _pseudo_labels(estimator: GraphClassifier, codes: Any, split: SemiSplit) -> dict[str, Any]:
    """Return, for each round, how many pseudo-labels were given, could be checked and are right.

    Those of graphs of an unknown class can not be checked.
    """
    found = estimator.pseudo_labels_
    truth = codes[split.train][found.graphs]
    given = estimator.classes_[found.codes] if len(found) else truth
    rounds = sorted(set(found.rounds.tolist()))
    counted = {"given": found.rounds > 0, "checked": truth >= 0, "right": given == truth}
    return {"rounds": rounds} | {
        name: [int((which & (found.rounds == number)).sum()) for number in rounds]
        for name, which in counted.items()
    }
