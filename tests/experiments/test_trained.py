from __future__ import annotations

import numpy as np

from igsd.baselines.registry import configure
from igsd.config import Config
from igsd.experiments.trained import train_model
from tests.small_graphs import TINY, make_graphs


def test_a_model_and_its_vectors() -> None:
    graphs = make_graphs(6)
    trained = train_model(graphs, Config(**TINY).updated({"epochs": 0, "seed": 3}))
    assert trained.seed == 3
    assert np.array_equal(trained.vectors, trained.model.transform(graphs))
    assert set(trained.seconds) == {"train", "embed"}


def test_another_method() -> None:
    trained = train_model(make_graphs(6), configure("wl", "molecules", {}), method="wl")
    assert type(trained.model).__name__ == "WLKernel"
    assert len(trained.vectors) == 6
