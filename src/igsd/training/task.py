"""``Task``: what one step of training does, with labels or without, for every neural method.

Which graphs meet in a step is a pure function of (seed, round, epoch, step), so an interrupted run
finds its place again.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

from igsd.batches.batch import chunks
from igsd.graphs.adjacency import pointers
from igsd.model.network import Network, Step, StepLabels
from igsd.training.self_training import PseudoLabelStore, class_quotas, round_starts
from igsd.views.source import Source

if TYPE_CHECKING:
    from lightning_fabric import Fabric  # which imports much of torch that only training needs


@dataclass(frozen=True, eq=False)
class TrainingLabels:
    """Labels of some graphs of a set.

    ``values``: [G] int64 class codes, -1 if unknown; or [G, t] float32 standardised targets, NaN if
    unknown. ``num_outputs``: the number of classes, or of targets.
    """

    values: np.ndarray
    num_outputs: int

    @property
    def are_classes(self) -> bool:
        """Whether the labels are classes and not numbers."""
        return self.values.ndim == 1

    @cached_property
    def is_known(self) -> np.ndarray:
        """Whether a graph has a label (at least one of several targets), [G] bool."""
        return self.values >= 0 if self.are_classes else ~np.isnan(self.values).all(axis=1)

    @cached_property
    def labelled(self) -> np.ndarray:
        """The graphs with a label, ascending, [l] int64."""
        return np.flatnonzero(self.is_known)

    @cached_property
    def unlabelled(self) -> np.ndarray:
        """The graphs without one, ascending, [u] int64."""
        return np.flatnonzero(~self.is_known)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of all labels, as hexadecimal digits."""
        return hashlib.sha256(np.ascontiguousarray(self.values).tobytes()).hexdigest()

    def of(self, indices: np.ndarray, device: torch.device) -> torch.Tensor:
        """Return the labels of some graphs."""
        return torch.from_numpy(self.values[indices]).to(device)


def num_batches(num_graphs: int, batch_size: int) -> int:
    """Return the number of steps of an epoch, such that every batch has at least two graphs."""
    return max(1, min(math.ceil(num_graphs / batch_size), num_graphs // 2))


def shortened(settings: Any, labels: TrainingLabels | None) -> Any:
    """Return settings whose epochs take no more than ``most_steps`` steps, if they have that limit.

    Everything that is counted in epochs shrinks alike: the step size and the rounds of
    self-training then have the same schedule over the steps, whatever the number of labels.
    """
    most = getattr(settings, "most_steps", 0)
    if labels is None or not most:
        return settings
    steps = num_batches(len(labels.labelled), settings.label_batch_size)
    if steps * settings.epochs <= most:
        return settings
    epochs = math.ceil(most / steps)
    share, changes = epochs / settings.epochs, {"epochs": epochs}
    if settings.halve_every:
        changes["halve_every"] = max(1, round(share * settings.halve_every))
    if hasattr(settings, "self_training_start"):
        changes["self_training_start"] = round(share * settings.self_training_start)
    return settings.updated(changes)


@lru_cache(maxsize=1)
def epoch_batches(num_graphs: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the batches of one epoch: all graphs shuffled and cut into nearly equal parts."""
    order = np.random.default_rng([seed, epoch]).permutation(num_graphs)
    return np.array_split(order, num_batches(num_graphs, batch_size))


@dataclass
class EpochBatches:
    """The batches of all epochs of a training without labels."""

    num_graphs: int
    batch_size: int
    seed: int

    @property
    def num_steps(self) -> int:
        """The number of batches of an epoch."""
        return num_batches(self.num_graphs, self.batch_size)

    def batch(self, epoch: int, step: int) -> tuple[np.ndarray]:
        """Return the graphs of a step, its only pool."""
        return (epoch_batches(self.num_graphs, self.batch_size, self.seed, epoch)[step],)


def share_of_process(indices: np.ndarray, rank: int, world_size: int) -> np.ndarray:
    """Return this process's part of a batch: consecutive, so that gathered parts are in order."""
    return np.array_split(indices, world_size)[rank]


# Independent streams of random numbers, one for each pool.
_LABELLED, _PSEUDO, _UNLABELLED = 1, 2, 3


@dataclass(frozen=True, eq=False)
class LabelBatches:
    """The batches from one round of pseudo-labels to the next, out of three disjoint pools.

    An epoch is one pass over the labelled graphs; the other pools contribute a batch to each step
    and continue in the next epoch where they stopped. A step takes at most ``label_batch_size``
    graphs of the first two and ``batch_size`` of the third. The round begins at ``first_epoch``.
    """

    labelled: np.ndarray
    pseudo: np.ndarray
    unlabelled: np.ndarray
    label_batch_size: int
    batch_size: int
    seed: int
    round: int = 0
    first_epoch: int = 0
    _orders: dict[int, tuple[int, np.ndarray]] = field(default_factory=dict, repr=False)

    @cached_property
    def num_steps(self) -> int:
        """The number of steps of an epoch: one pass over the labelled pool."""
        return num_batches(len(self.labelled), self.label_batch_size)

    def batch(self, epoch: int, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the labelled, pseudo-labelled and unlabelled graphs of a step."""
        place = (epoch - self.first_epoch) * self.num_steps + step
        shuffled = self._shuffled(self.labelled, _LABELLED, epoch)
        return (
            np.array_split(shuffled, self.num_steps)[step],
            self._part(self.pseudo, self.label_batch_size, _PSEUDO, place),
            self._part(self.unlabelled, self.batch_size, _UNLABELLED, place),
        )

    def _part(self, pool: np.ndarray, size: int, stream: int, place: int) -> np.ndarray:
        """Return batch number ``place`` of endless passes over a pool, each shuffled again."""
        if not len(pool):
            return pool
        num_parts = num_batches(len(pool), size)
        number, part = divmod(place, num_parts)
        return np.array_split(self._shuffled(pool, stream, number), num_parts)[part]

    def _shuffled(self, pool: np.ndarray, stream: int, number: int) -> np.ndarray:
        """Return the pool in the order of one pass, which is kept until the next one."""
        kept, order = self._orders.get(stream, (None, pool))
        if kept != number:
            order = np.random.default_rng([self.seed, stream, self.round, number]).permutation(pool)
            self._orders[stream] = number, order
        return order


class LabelModule(torch.nn.Module):
    """What is trained and saved with labels: the network and the pseudo-labels so far."""

    def __init__(self, network: Network, num_graphs: int) -> None:
        super().__init__()
        self.network = network
        self.pseudo = PseudoLabelStore(num_graphs)

    def forward(self, step: Step) -> dict[str, torch.Tensor]:
        """Return the losses of the network."""
        return self.network(step)


class Task:
    """Batches in order, a learning rate for each, and with labels the rounds of self-training."""

    def __init__(
        self,
        module: torch.nn.Module,
        forward: torch.nn.Module,
        optimizer: Any,
        source: Source,
        settings: Any,
        fabric: Fabric,
        labels: TrainingLabels | None = None,
    ) -> None:
        self.module, self.forward, self.optimizer = module, forward, optimizer
        self.source, self.settings, self.fabric, self.labels = source, settings, fabric, labels
        self.network = cast(Network, module if labels is None else module.network)
        self.epochs = settings.epochs
        self.starts: list[int] = []
        if labels is not None and getattr(settings, "self_training", False):
            first, rounds = settings.self_training_start, settings.self_training_rounds
            self.starts = round_starts(settings.epochs, first, rounds)
        self._batches: EpochBatches | LabelBatches | None = None
        self._class_counts = torch.zeros(2, 0)

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch."""
        return self._epoch_batches(epoch).num_steps

    def losses(self, epoch: int, step: int) -> dict[str, torch.Tensor]:
        """Return the losses of a step; the first of a round assigns new pseudo-labels before."""
        if step == 0 and epoch in self.starts:
            self._assign_labels(epoch)
        progress = epoch + (step + 0.5) / self.num_steps(epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate_at(self.settings, epoch, progress) * group["share"]
        return self.forward(self._step(epoch, step))

    def after_step(self) -> None:
        """Do what the method does after an optimiser step."""
        self.network.after_step()

    def _step(self, epoch: int, step: int) -> Step:
        batches, fabric = self._epoch_batches(epoch), self.fabric
        pools: tuple[np.ndarray, ...] = batches.batch(epoch, step)
        mine = [share_of_process(pool, fabric.global_rank, fabric.world_size) for pool in pools]
        if not isinstance(batches, LabelBatches) or self.labels is None:
            mine = [self.source.by_size(indices) for indices in mine]
            return Step(self.source, mine, (epoch, step))
        device, store = self.source.device, self._store
        codes = store.codes[torch.from_numpy(pools[1]).to(store.codes.device)]
        labels = StepLabels(
            targets=self.labels.of(pools[0], device),
            pseudo=codes.to(device),
            pool_sizes=(len(batches.labelled), len(batches.pseudo)),
            class_counts=self._class_counts.to(device),
        )
        return Step(self.source, mine, (epoch, step), labels)

    @property
    def _store(self) -> PseudoLabelStore:
        return cast(LabelModule, self.module).pseudo

    def _count_classes(self, pseudo: np.ndarray) -> torch.Tensor:
        """Return how many graphs have each label and each pseudo-label, [2, classes]."""
        if self.labels is None or not self.labels.are_classes:
            return torch.zeros(2, 0)
        known = self.labels.values[self.labels.labelled]
        guessed = self._store.codes.cpu().numpy()[pseudo]
        width = self.labels.num_outputs
        counts = [np.bincount(codes, minlength=width) for codes in (known, guessed)]
        return torch.from_numpy(np.stack(counts))

    def _epoch_batches(self, epoch: int) -> EpochBatches | LabelBatches:
        """Return the batches of an epoch; with labels those of its round, kept while it lasts."""
        settings, labels = self.settings, self.labels
        if labels is None:
            if self._batches is None:
                count = len(self.source.graphs)
                self._batches = EpochBatches(count, settings.batch_size, settings.seed)
            return self._batches
        number = sum(start <= epoch for start in self.starts)
        if not isinstance(self._batches, LabelBatches) or self._batches.round != number:
            pseudo = self._store.graphs
            unlabelled = np.setdiff1d(labels.unlabelled, pseudo, assume_unique=True)
            self._batches = LabelBatches(
                labelled=labels.labelled,
                pseudo=pseudo,
                unlabelled=unlabelled if self.network.uses_unlabelled else unlabelled[:0],
                label_batch_size=settings.label_batch_size,
                batch_size=getattr(settings, "batch_size", 1),  # GIN sees no unlabelled graph
                seed=settings.seed,
                round=number,
                first_epoch=self.starts[number - 1] if number else 0,
            )
            self._class_counts = self._count_classes(pseudo)
        return self._batches

    def _assign_labels(self, epoch: int) -> None:
        """Assign pseudo-labels to the graphs of which the network is sure. Alg. self-training."""
        store, labels = self._store, self.labels
        if labels is None:
            return
        open_graphs = np.setdiff1d(labels.unlabelled, store.graphs, assume_unique=True)
        if not len(open_graphs):
            return
        logits = predict_outputs(self.network, self.source, open_graphs)
        counts = np.bincount(labels.values[labels.labelled])
        share, threshold = self.settings.self_training_share, self.settings.self_training_threshold
        quotas = class_quotas(counts, len(labels.unlabelled), share)
        store.add(open_graphs, logits, threshold, self.starts.index(epoch) + 1, quotas)
        if self.fabric.world_size > 1:  # running statistics, and so predictions, differ by process
            for buffer in store.buffers():
                buffer.copy_(self.fabric.broadcast(buffer))


def learning_rate_at(settings: Any, epoch: int, progress: float) -> float:
    """Return the learning rate of a step; ``progress``: epochs finished by the middle of it."""
    rate = settings.learning_rate
    rate = rate * 0.5 ** (epoch // settings.halve_every) if settings.halve_every else rate
    if progress < settings.warmup_epochs:
        return rate * progress / settings.warmup_epochs
    if settings.schedule == "cosine":
        length = max(settings.epochs - settings.warmup_epochs, 1)
        rate = rate * 0.5 * (1.0 + math.cos(math.pi * (progress - settings.warmup_epochs) / length))
    return rate


@torch.no_grad()
def predict_outputs(network: Network, source: Source, indices: np.ndarray) -> torch.Tensor:
    """Return the outputs [m, C] float32 of the graphs ``indices``; the network's mode is kept."""
    node_ptr, was_training = source.node_ptr, network.training
    ptr = pointers(node_ptr[indices + 1] - node_ptr[indices])
    network.train(False)
    try:
        parts = [indices[start:stop] for start, stop in chunks(ptr)]
        return torch.cat([network.outputs(Step(source, (part,))).float() for part in parts])
    finally:
        network.train(was_training)
