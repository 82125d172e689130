from __future__ import annotations

import numpy as np

from igsd.baselines.untrained import untrained_twin
from igsd.config import Config
from igsd.estimators import IGSD
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY


def test_is_the_encoder_that_training_starts_from(graphs: GraphSet) -> None:
    config = Config().updated(TINY | {"seed": 3})
    untrained = untrained_twin(IGSD.from_config(config)).fit(graphs)
    assert untrained.history_ == []
    assert untrained.get_params()["random_state"] == 3
    vectors = untrained.transform(graphs)
    assert np.array_equal(vectors, untrained_twin(IGSD.from_config(config)).fit_transform(graphs))
    assert not np.array_equal(vectors, IGSD.from_config(config).fit_transform(graphs))
    other = untrained_twin(IGSD.from_config(config.updated({"seed": 4}))).fit_transform(graphs)
    assert not np.array_equal(vectors, other)
