from __future__ import annotations

import copy

import numpy as np
import torch

from igsd.baselines.infograph_star import (
    InfoGraphStarClassifier,
    InfoGraphStarConfig,
    InfoGraphStarMethod,
    InfoGraphStarObjective,
)
from tests.baselines.label_steps import label_step, parts
from tests.estimators.few_labels import few_graphs, small, some_classes


def test_the_two_encoders_of_infograph_star_begin_apart() -> None:
    graphs = few_graphs()
    model = small(InfoGraphStarClassifier, epochs=0).fit(graphs, some_classes(graphs))
    supervised, other = model.network_.encoder, model.network_.unsupervised
    assert not torch.equal(supervised.layers[0].first.weight, other.layers[0].first.weight)


def test_the_unsupervised_encoder_is_taught_by_information_alone() -> None:
    graphs = few_graphs()
    made = small(InfoGraphStarClassifier, epochs=0, information_weight=0.0, transfer_weight=0.0)
    start = copy.deepcopy(made.fit(graphs, some_classes(graphs)).network_.unsupervised)
    made.set_params(epochs=2).fit(graphs, some_classes(graphs))
    for a, b in zip(start.parameters(), made.network_.unsupervised.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_parts_of_the_loss_count_by_their_weights() -> None:
    graphs = few_graphs()
    config, network, source = parts(
        InfoGraphStarMethod(),
        InfoGraphStarConfig,
        graphs,
        information_weight=0.5,
        transfer_weight=2.0,
    )
    losses = InfoGraphStarObjective(config, network, network, source).losses(label_step())
    expected = losses["supervised"] + 0.5 * losses["information"] + 2.0 * losses["transfer"]
    torch.testing.assert_close(losses["total"], expected)
    batch = source.batch(np.concatenate([np.arange(4), np.arange(8, 12)]))
    outputs, information, transfer = network(batch, 4)
    torch.testing.assert_close(outputs, network.outputs(batch)[:4])
    torch.testing.assert_close(losses["information"], information)
    torch.testing.assert_close(losses["transfer"], transfer)
