from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from igsd.baselines.semi_methods import method_config
from igsd.config import Config
from igsd.errors import ConfigError, DataError
from igsd.estimators import IGSD
from igsd.evaluation.nested import inner_score
from igsd.evaluation.semi import semi_split
from igsd.experiments import tuning_score
from igsd.experiments.tuning_score import NestedTask, SemiTask
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs

CONFIG = Config(**TINY | {"epochs": 1})
METHOD = "igsd-supcon+self-training"


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(24, classes=True, name="toy")


def few_labels(**changes: Any) -> Config:
    settings = {"pretraining_epochs": 0, "self_training_start": 1, "self_training_threshold": 0.5}
    return method_config(METHOD, "molecules", TINY | settings | changes)


def test_without_labels_it_is_the_mean_of_inner_scores() -> None:
    graphs, expected = make_graphs(6, classes=True), []
    for seed in (100, 101):
        vectors = IGSD.from_config(CONFIG.updated({"seed": seed})).fit_transform(graphs)
        expected.append(inner_score(vectors, graphs.classes, seed, standardise="yes"))
    assert NestedTask(graphs, 2).score(CONFIG) == pytest.approx(np.mean(expected), abs=1e-12)


def test_few_labels_stay_inside_the_training_part(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, real = [], tuning_score.score_split

    def watched(estimator: Any, part: GraphSet, codes: Any, split: Any, seed: int) -> Any:
        results = real(estimator, part, codes, split, seed)
        seen.append((part.checksum, len(split.train) + len(split.test), seed, results[0].mean))
        return results

    monkeypatch.setattr(tuning_score, "score_split", watched)
    score = SemiTask(graphs, 2, METHOD, 0.3).score(few_labels())
    train = semi_split(graphs.classes, 100, label_rate=0.3).train
    part = graphs.take(train).checksum
    assert [entry[:3] for entry in seen] == [(part, len(train), 100), (part, len(train), 101)]
    assert score == pytest.approx(np.mean([entry[3] for entry in seen]))


def test_what_cannot_be_scored(graphs: GraphSet) -> None:
    one_class = replace(graphs, classes=np.zeros(24, np.int64))
    for task in (NestedTask(one_class, 1), SemiTask(one_class, 1, METHOD)):
        with pytest.raises(DataError, match="at least two classes"):
            task.check(few_labels())
    with pytest.raises(DataError, match="no class labels"):
        NestedTask(make_graphs(6), 1).check(CONFIG)
    with pytest.raises(DataError, match="every class needs at least 3"):
        SemiTask(make_graphs(6, classes=True), 1, METHOD).check(few_labels())
    with pytest.raises(ConfigError, match="Set epochs to 1"):
        SemiTask(graphs, 1, METHOD).check(few_labels(epochs=0))


def test_protocols_say_what_decides() -> None:
    graphs = make_graphs(6)
    assert NestedTask(graphs, 1, 4).protocol() == NestedTask(graphs, 1, 1).protocol()
    assert SemiTask(graphs, 3, METHOD, 0.2).protocol()["label_rate"] == 0.2
