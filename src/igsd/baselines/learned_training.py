"""``fit_learned``: a learned baseline through the same loop as IGSD."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork
from igsd.encoders.readout import parse_readout
from igsd.errors import DataError
from igsd.graphs.batch import small_first
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.training.batches import EpochBatches
from igsd.training.logging import epoch_logger
from igsd.training.loop import run_training
from igsd.training.start import seeded_fabric, set_up


class StepSource(Protocol):
    """Where the inputs of a step come from, as a pure function of ``indices`` and ``draw``."""

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Any, ...]:
        """Return what the network's ``forward`` takes for the graphs ``indices``."""


class LearnedMethod(Protocol):
    """How a baseline's network is made, and what it is fed in training."""

    def network(self, config: Any, in_dim: int) -> LearnedNetwork:
        """Return a fresh network for node features of width ``in_dim``."""

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> StepSource:
        """Return the source of training steps."""


class LearnedTask:
    """Shuffled batches of graphs, and the loss that the network makes of them."""

    def __init__(
        self,
        module: LearnedNetwork,
        forward: nn.Module,
        source: StepSource,
        sizes: np.ndarray,
        config: LearnedConfig,
    ) -> None:
        self.module = module
        self.forward = forward
        self.source = source
        self.sizes = sizes
        self.batches = EpochBatches(len(sizes), config.batch_size, config.seed)
        self.epochs = config.epochs

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch."""
        return self.batches.num_steps

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        """Return the loss of a step."""
        indices = self.batches.batch(epoch, step)
        indices = small_first(indices, self.sizes[indices])
        return {"total": self.forward(*self.source.step(indices, (epoch, step)))}

    def after_step(self) -> None:
        """Do what the network does after an optimiser step."""
        self.module.after_step()


@dataclass(frozen=True)
class FittedNetwork:
    """A trained network, the node features it knows, and the losses of its epochs."""

    network: LearnedNetwork
    features: FeatureMap
    history: list[dict[str, float]]


def fit_learned(
    graphs: GraphSet,
    config: LearnedConfig,
    method: LearnedMethod,
    *,
    name: str,
    checkpoint: str | os.PathLike[str] | None = None,
    log_dir: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> FittedNetwork:
    """Return a baseline trained on ``graphs``, whose classes and targets are never read.

    Raises ``DataError`` for a single graph. The caller's random state is untouched.
    """
    if len(graphs) < 2:
        raise DataError(
            f"{name} tells graphs apart, so it needs at least 2 to train on; {graphs.name!r} has 1."
        )
    parse_readout(config.readout)
    features = FeatureMap.fit(graphs, config.node_features, config.degree_cap)
    with seeded_fabric(config) as fabric:
        network = method.network(config, features.dim)
        if config.epochs == 0:
            return FittedNetwork(network.eval(), features, [])
        forward, optimizer = set_up(network, fabric, config)
        source = method.source(graphs, features, config, fabric.device)
        progress = run_training(
            LearnedTask(network, forward, source, graphs.node_counts(), config),
            optimizer,
            fabric,
            checkpoint=checkpoint,
            checkpoint_every=config.checkpoint_every,
            identity={"method": name, "data": graphs.without_labels().checksum} | config.learned(),
            on_epoch=epoch_logger(log_dir),
            verbose=verbose,
        )
    return FittedNetwork(network, features, progress.history)
