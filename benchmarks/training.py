"""Our side of the training benchmarks: the package's own loop over one epoch or part of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from igsd.batches.features import FeatureMap
from igsd.estimators import IGSD
from igsd.graphs.datasets import load_dataset
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel
from igsd.model.network import Dims, Network
from igsd.settings.igsd import Config
from igsd.training.fit import view_of
from igsd.training.loop import RandomStream, run_training, set_up, trainable
from igsd.training.ranks import make_fabric
from igsd.training.task import EpochBatches, Task, epoch_batches
from igsd.views.source import Source

SETTINGS = Config(cache_views=False)
"""GIN 4 x 64, heads 256-1024-256, batches of 128, PPR 0.2 cut at 1e-3: the defaults."""


def load(data: str, copies: int = 1) -> GraphSet:
    """Return a data set that is on this machine, repeated so many times."""
    graphs = load_dataset(data, allow_download=False)
    if copies == 1:
        return graphs
    return graphs.take(np.tile(np.arange(len(graphs)), copies))


def feature_map(graphs: GraphSet) -> FeatureMap:
    """Return the node features that both sides use."""
    return FeatureMap.fit(graphs, SETTINGS.node_features, SETTINGS.degree_cap)


def initial_model(features: FeatureMap) -> IGSDModel:
    """Return the model with the weights that both sides begin with."""
    return initial_network(IGSDModel, SETTINGS, features)


def initial_network(network_class: type[Network], settings: Any, features: FeatureMap) -> Any:
    """Return an untrained network of a method, as ``fit`` begins with it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return network_class(settings, Dims(features))


def untrained(graphs: GraphSet) -> IGSD:
    """Return an estimator with the weights that both sides begin with, ready to embed."""
    return IGSD.from_config(SETTINGS.updated({"epochs": 0})).fit(graphs)


def batches_of(graphs: GraphSet, steps: Sequence[int] | None = None) -> list[np.ndarray]:
    """Return the batches of the first epoch, all of them or those of some steps."""
    drawn = epoch_batches(len(graphs), SETTINGS.batch_size, SETTINGS.seed, 0)
    return drawn if steps is None else [drawn[step] for step in steps]


class ChosenBatches(EpochBatches):
    """The same batches in every epoch."""

    def __init__(self, chosen: list[np.ndarray]) -> None:
        super().__init__(sum(map(len, chosen)), SETTINGS.batch_size, SETTINGS.seed)
        self.chosen = chosen

    @property
    def num_steps(self) -> int:
        """The number of chosen batches."""
        return len(self.chosen)

    def batch(self, epoch: int, step: int) -> tuple[np.ndarray]:
        """Return the graphs of a step."""
        return (self.chosen[step],)


class RecordedTask(Task):
    """The package's own task, over chosen batches of its first epoch; it notes each loss."""

    seen: list[Tensor]

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        """Return the losses of a step."""
        parts = super().losses(epoch, step)
        self.seen.append(parts["total"].detach())
        return parts


def epoch_side(
    data: str, steps: list[int] | None = None, copies: int = 1
) -> Callable[[], list[float]]:
    """Return the work of one epoch, or of the chosen steps of it; its result: the step's losses.

    Each call goes on with the weights that the one before has left.
    """
    return epoch_of(*recorded_training(load(data, copies), steps))


def epoch_of(task: RecordedTask, optimizer: Any, fabric: Any) -> Callable[[], list[float]]:
    """Return the work of one epoch of a training that is set up; its result: the step's losses."""

    def epoch() -> list[float]:
        task.seen.clear()
        run_training(task, optimizer, fabric, RandomStream(0))
        return [float(loss) for loss in task.seen]

    return epoch


def recorded_training(
    graphs: GraphSet,
    steps: Sequence[int] | None = None,
    network_class: type[Network] = IGSDModel,
    settings: Any = SETTINGS,
    features: FeatureMap | None = None,
) -> tuple[RecordedTask, Any, Any]:
    """Return (task, optimiser, fabric) ready for ``run_training``, as ``fit`` sets them up.

    A diffusion is computed here, once.
    """
    features = feature_map(graphs) if features is None else features
    fabric = make_fabric(settings)
    fabric.launch()
    network = initial_network(network_class, settings, features)
    groups = [{"params": trainable(network), "share": 1.0}]
    forward, optimizer = set_up(network, fabric, settings, groups)
    source = Source(
        graphs,
        features,
        fabric.device,
        view=view_of(settings),
        seed=settings.seed,
        cache=False,
        merge=network.takes_counts,
    )
    if source.view is not None and source.view.is_fixed_view:
        _ = source.fixed_views  # computed when first asked for: before the clock starts
    one_epoch = settings.updated({"epochs": 1})
    task = RecordedTask(network, forward, optimizer, source, one_epoch, fabric)
    task.seen, task._batches = [], ChosenBatches(batches_of(graphs, steps))
    return task, optimizer, fabric
