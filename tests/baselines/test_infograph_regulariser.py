from __future__ import annotations

import numpy as np
import torch

from igsd.baselines.infograph_regulariser import (
    InfoGraphConfig,
    InfoGraphMethod,
    InfoGraphObjective,
)
from tests.baselines.label_steps import label_step, parts
from tests.estimators.few_labels import few_graphs


def test_the_loss_is_the_label_and_the_mutual_information_of_all_graphs() -> None:
    graphs = few_graphs()
    config, network, source = parts(
        InfoGraphMethod(), InfoGraphConfig, graphs, information_weight=0.5
    )
    losses = InfoGraphObjective(config, network, network, source).losses(label_step())
    batch = source.batch(np.concatenate([np.arange(4), np.arange(8, 12)]))
    outputs, information = network(batch, 4)
    entropy = torch.nn.functional.cross_entropy(outputs, label_step().targets)
    torch.testing.assert_close(losses["supervised"], entropy)
    torch.testing.assert_close(losses["information"], information)
    torch.testing.assert_close(losses["total"], entropy + 0.5 * information)


def test_it_predicts_without_the_discriminator() -> None:
    graphs = few_graphs()
    _, network, source = parts(InfoGraphMethod(), InfoGraphConfig, graphs)
    batch = source.batch(np.arange(5))
    torch.testing.assert_close(network.outputs(batch), network(batch, 5)[0])
    assert not network.takes_counts
