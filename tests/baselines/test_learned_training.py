from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.baselines.learned_training import LearnedTask, fit_learned
from igsd.errors import DataError
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.training.batches import epoch_batches
from tests.small_graphs import TINY, make_graphs


class OneNumber(LearnedNetwork):
    """A network with one weight, whose loss is the weight; it counts its steps."""

    def __init__(self) -> None:
        super().__init__(1)
        self.weight = torch.nn.Parameter(torch.rand(1))
        self.num_steps = 0

    def forward(self, indices: np.ndarray) -> Tensor:
        return self.weight.sum()

    def after_step(self) -> None:
        self.num_steps += 1


class OneNumberMethod:
    """Steps are the indices of their graphs, which are kept."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any]] = []

    def network(self, config: Any, in_dim: int) -> OneNumber:
        return OneNumber()

    def source(self, graphs: GraphSet, features: FeatureMap, config: Any, device: Any) -> Any:
        return self

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[np.ndarray]:
        self.seen.append((indices, draw))
        return (indices,)


def config_of(**changes: Any) -> LearnedConfig:
    known = {entry.name for entry in LearnedConfig.settings()}
    settings = {k: v for k, v in (TINY | changes).items() if k in known}
    return LearnedConfig().updated(settings)


def test_steps_are_the_batches_of_the_epoch_small_graphs_first(graphs: GraphSet) -> None:
    method, config = OneNumberMethod(), config_of(seed=5)
    sizes = graphs.node_counts()
    task = LearnedTask(OneNumber(), OneNumber(), method, sizes, config)
    assert task.num_steps(0) == 3
    for epoch, step in ((0, 1), (1, 2)):
        task.losses(epoch, step)
        indices, draw = method.seen[-1]
        assert draw == (epoch, step)
        assert sorted(indices) == sorted(epoch_batches(10, 4, 5, epoch)[step])
        assert (np.diff(sizes[indices]) >= 0).all()


def test_every_step_is_trained_and_followed(graphs: GraphSet) -> None:
    method = OneNumberMethod()
    fitted = fit_learned(graphs, config_of(), method, name="one")
    assert len(method.seen) == fitted.network.num_steps == 6
    assert [line["epoch"] for line in fitted.history] == [0.0, 1.0]
    assert fitted.history[1]["total"] < fitted.history[0]["total"]
    assert not fitted.network.training


def test_the_seed_decides_and_the_callers_state_stays(graphs: GraphSet) -> None:
    before = torch.random.get_rng_state()
    weights = [
        fit_learned(graphs, config_of(epochs=0, seed=s), OneNumberMethod(), name="one").network
        for s in (1, 1, 2)
    ]
    assert torch.equal(torch.random.get_rng_state(), before)
    values = [float(network.weight.detach()) for network in weights]
    assert values[0] == values[1] != values[2]


def test_one_graph_is_told_in_the_name_of_the_method() -> None:
    with pytest.raises(DataError, match="Own tells graphs apart, so it needs at least 2"):
        fit_learned(make_graphs(1), config_of(), OneNumberMethod(), name="Own")
