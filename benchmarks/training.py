"""Our side of the training benchmarks: the package's own loop over one epoch or part of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from igsd.config import Config
from igsd.graphs.datasets import load_dataset
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel
from igsd.training.batches import EpochBatches, epoch_batches
from igsd.training.fit import view_spec
from igsd.training.loop import run_training
from igsd.training.self_supervised import SelfSupervisedTask
from igsd.training.start import make_fabric, set_up
from igsd.views.pairs import PairSource

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


def initial_model(in_dim: int) -> IGSDModel:
    """Return the model with the weights that both sides begin with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SETTINGS.seed)
        return build_model(SETTINGS, in_dim)


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

    def batch(self, epoch: int, step: int) -> np.ndarray:
        """Return the graphs of a step."""
        return self.chosen[step]


class RecordedTask(SelfSupervisedTask):
    """The package's own task, over chosen batches of its first epoch; it notes each loss."""

    def __init__(self, *arguments: Any, batches: list[np.ndarray], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.seen: list[Tensor] = []
        self.batches = ChosenBatches(batches)

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
    graphs = load(data, copies)
    task, optimizer, fabric = recorded_training(graphs, steps)

    def epoch() -> list[float]:
        task.seen.clear()
        run_training(task, optimizer, fabric)
        return [float(loss) for loss in task.seen]

    return epoch


def recorded_training(
    graphs: GraphSet, steps: Sequence[int] | None = None
) -> tuple[RecordedTask, Any, Any]:
    """Return (task, optimiser, fabric) ready for ``run_training``, as ``fit`` sets them up."""
    features = feature_map(graphs)
    fabric = make_fabric(SETTINGS)
    fabric.launch()
    model = initial_model(features.dim)
    forward, optimizer = set_up(model, fabric, SETTINGS)
    pairs = PairSource(
        graphs,
        features,
        view_spec(SETTINGS),
        seed=SETTINGS.seed,
        device=fabric.device,
        cache=SETTINGS.cache_views,
        merge=True,
    )
    task = RecordedTask(
        model,
        forward,
        pairs,
        fabric,
        epochs=1,
        batch_size=SETTINGS.batch_size,
        temperature=SETTINGS.temperature,
        ema_decay=SETTINGS.ema_decay,
        batches=batches_of(graphs, steps),
    )
    return task, optimizer, fabric
