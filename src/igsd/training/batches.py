"""Which graphs meet in a step, as a pure function of (seed, round, epoch, step).

An interrupted run therefore finds its place again. With labels, three pools feed a step: labelled
graphs, those with a pseudo-label, and the others. An epoch is one pass over the labelled pool; the
other two contribute a batch to each step and continue in the next epoch where they stopped.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np


def num_batches(num_graphs: int, batch_size: int) -> int:
    """Return the number of steps of an epoch, such that every batch has at least two graphs.

    A graph alone has no negatives and no statistics for BatchNorm.
    """
    return max(1, min(math.ceil(num_graphs / batch_size), num_graphs // 2))


@lru_cache(maxsize=1)
def epoch_batches(num_graphs: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the batches of one epoch: all graphs shuffled and cut into parts of nearly equal size.

    The last epoch asked for is kept.
    """
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


class LabelBatch(NamedTuple):
    """The graphs of one step as indices into the training set, all of them different."""

    labelled: np.ndarray
    pseudo: np.ndarray
    unlabelled: np.ndarray


@dataclass(frozen=True, eq=False)
class LabelBatches:
    """The batches from one round of pseudo-labels to the next.

    The pools are disjoint. A step takes at most ``label_batch_size`` graphs of each of the first
    two and ``batch_size`` of the third. ``first_epoch``: where the round number ``round`` begins.
    """

    labelled: np.ndarray
    pseudo: np.ndarray
    unlabelled: np.ndarray
    label_batch_size: int
    batch_size: int
    seed: int
    round: int = 0
    first_epoch: int = 0

    @cached_property
    def num_steps(self) -> int:
        """The number of steps of an epoch: one pass over the labelled pool."""
        return num_batches(len(self.labelled), self.label_batch_size)

    def batch(self, epoch: int, step: int) -> LabelBatch:
        """Return the graphs of a step."""
        place = (epoch - self.first_epoch) * self.num_steps + step
        shuffled = self._shuffled(self.labelled, _LABELLED, epoch)
        return LabelBatch(
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
        return np.random.default_rng([self.seed, stream, self.round, number]).permutation(pool)
