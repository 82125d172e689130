from __future__ import annotations

import numpy as np
import torch

from igsd.config_semi import SemiConfig
from igsd.training.fit import fit_self_supervised
from igsd.training.fit_labelled import fit_labelled
from igsd.training.labels import Labels
from igsd.training.pretraining import pretrain
from igsd.training.semi_supervised import SemiSupervisedIGSD
from tests.small_graphs import TINY, make_graphs

SETTINGS = TINY | {"label_batch_size": 4, "pretraining_epochs": 2}


def test_the_weights_are_those_of_self_distillation() -> None:
    graphs, config = make_graphs(12), SemiConfig(**SETTINGS)
    alone = fit_self_supervised(graphs, config.updated({"epochs": 2}))
    network = SemiSupervisedIGSD.build(config, alone.features.dim, 2)
    pretrain(network, graphs, config)
    for name, value in alone.model.state_dict().items():
        assert torch.equal(network.igsd.state_dict()[name], value)


def test_it_changes_where_the_labels_begin() -> None:
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    ends = [
        fit_labelled(graphs, labels, SemiConfig(**(SETTINGS | changes)), SemiSupervisedIGSD())
        for changes in ({}, {"pretraining_epochs": 0})
    ]
    assert ends[0].history != ends[1].history
    assert len(ends[0].history) == len(ends[1].history) == 2
