"""``LabelTask``: what every method that learns from few labels has in common, as a ``Task``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from igsd.config_semi import SemiConfig
from igsd.losses.supervised import supervised
from igsd.training.graph_source import GraphSource
from igsd.training.label_batches import LabelBatch, LabelBatches
from igsd.training.labels import Labels
from igsd.training.predict import predict_outputs
from igsd.training.self_training import PseudoLabelStore, class_quotas, round_starts


@dataclass(frozen=True, eq=False)
class LabelStep:
    """A step as a method sees it.

    ``graphs``: who takes part. ``targets``: labels of ``graphs.labelled``, [n] classes or [n, t]
    numbers. ``pseudo``: classes of ``graphs.pseudo``. ``pool_sizes``: how many graphs have a label
    and a pseudo-label. ``class_counts`` [2, C]: of each class among them ([2, 0] for numbers).
    """

    graphs: LabelBatch
    targets: Tensor
    pseudo: Tensor
    pool_sizes: tuple[int, int]
    class_counts: Tensor
    epoch: int
    step: int

    def supervised(self, outputs: Tensor, *, with_pseudo: bool) -> Tensor:
        """Return the supervised loss, with pseudo-labels over the enlarged set.

        ``outputs``: of the labelled graphs, then of those with a pseudo-label. Both means count
        by the size of their pool, so that the mean over batches is the mean over the set.
        """
        count = len(self.targets)
        loss = supervised(outputs[:count], self.targets)
        if not with_pseudo or not len(self.pseudo):
            return loss
        guessed = supervised(outputs[count : count + len(self.pseudo)], self.pseudo)
        labelled, pseudo = self.pool_sizes
        return (labelled * loss + pseudo * guessed) / (labelled + pseudo)


class Objective(Protocol):
    """What a method minimises in a step."""

    uses_unlabelled: bool

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return the parts of the loss by name; ``total`` is minimised."""

    def after_step(self) -> None:
        """Do what follows an optimiser step."""


class LabelModule(nn.Module):
    """All that is trained and saved: a method's network, and the pseudo-labels given so far."""

    def __init__(self, network: nn.Module, num_graphs: int) -> None:
        super().__init__()
        self.network = network
        self.pseudo = PseudoLabelStore(num_graphs)

    def forward(self, *inputs: Any) -> Any:
        """Return what the network returns."""
        return self.network(*inputs)


class LabelTask:
    """Batches with labelled graphs in them, a halving step size, and rounds of self-training."""

    def __init__(
        self,
        module: LabelModule,
        objective: Objective,
        labels: Labels,
        source: GraphSource,
        optimizer: Any,
        config: SemiConfig,
    ) -> None:
        self.module = module
        self.objective = objective
        self.labels = labels
        self.source = source
        self.optimizer = optimizer
        self.config = config
        self.epochs = config.epochs
        self.starts: list[int] = []
        if config.self_training:
            self.starts = round_starts(
                config.epochs, config.self_training_start, config.self_training_rounds
            )
        self._batches: LabelBatches | None = None

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch: one pass over the labelled graphs."""
        return self._round_batches(epoch).num_steps

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        """Return the losses of a step; the first step of a round gives new pseudo-labels first.

        A checkpoint is written after a step, so one at step 0 is from before the labelling, and
        any other holds its result: nothing else is needed to go on.
        """
        self._set_learning_rate(epoch)
        if step == 0 and epoch in self.starts:
            self._give_labels(epoch)
        batches = self._round_batches(epoch)
        return self.objective.losses(self._step(batches, epoch, step))

    def after_step(self) -> None:
        """Do what the method does after an optimiser step."""
        self.objective.after_step()

    def _step(self, batches: LabelBatches, epoch: int, step: int) -> LabelStep:
        graphs = batches.batch(epoch, step)
        device, store = self.source.device, self.module.pseudo
        codes = store.codes[torch.from_numpy(graphs.pseudo).to(store.codes.device)]
        return LabelStep(
            graphs=graphs,
            targets=self.labels.of(graphs.labelled, device),
            pseudo=codes.to(device),
            pool_sizes=(len(batches.labelled), len(batches.pseudo)),
            class_counts=self._class_counts(batches.pseudo).to(device),
            epoch=epoch,
            step=step,
        )

    def _class_counts(self, pseudo: np.ndarray) -> Tensor:
        if not self.labels.are_classes:
            return torch.zeros(2, 0)
        given = self.labels.values[self.labels.labelled]
        guessed = self.module.pseudo.codes.cpu().numpy()[pseudo]
        width = self.labels.num_outputs
        counts = [np.bincount(codes, minlength=width) for codes in (given, guessed)]
        return torch.from_numpy(np.stack(counts))

    def _round_batches(self, epoch: int) -> LabelBatches:
        """Return the batches of the round that an epoch belongs to, kept while it lasts."""
        number = sum(start <= epoch for start in self.starts)
        if self._batches is None or self._batches.round != number:
            pseudo = self.module.pseudo.graphs
            unlabelled = np.setdiff1d(self.labels.unlabelled, pseudo, assume_unique=True)
            self._batches = LabelBatches(
                labelled=self.labels.labelled,
                pseudo=pseudo,
                unlabelled=unlabelled if self.objective.uses_unlabelled else unlabelled[:0],
                label_batch_size=self.config.label_batch_size,
                batch_size=self.config.batch_size,
                seed=self.config.seed,
                round=number,
                first_epoch=self.starts[number - 1] if number else 0,
            )
        return self._batches

    def _give_labels(self, epoch: int) -> None:
        """Give pseudo-labels to the graphs that the network is sure of. Alg. self-training."""
        store = self.module.pseudo
        open_graphs = np.setdiff1d(self.labels.unlabelled, store.graphs, assume_unique=True)
        if len(open_graphs):
            network: Any = self.module.network
            logits = predict_outputs(network, self.source, open_graphs)
            given = np.bincount(self.labels.values[self.labels.labelled])
            quotas = class_quotas(
                given, len(self.labels.unlabelled), self.config.self_training_share
            )
            threshold, number = self.config.self_training_threshold, self.starts.index(epoch) + 1
            store.add(open_graphs, logits, threshold, number, quotas)

    def _set_learning_rate(self, epoch: int) -> None:
        rate, every = self.config.learning_rate, self.config.halve_every
        rate = rate * 0.5 ** (epoch // every) if every else rate
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["share"]
