"""Which graphs meet in a step, as a pure function of the seed and the epoch."""

from __future__ import annotations

import math

import numpy as np


def num_batches(num_graphs: int, batch_size: int) -> int:
    """Return the number of steps of an epoch, so few that each has two graphs to tell apart.

    An odd number of graphs in batches of 2 would leave one graph alone: no negatives, and
    BatchNorm cannot work. One batch has 3 then.
    """
    return max(1, min(math.ceil(num_graphs / batch_size), num_graphs // 2))


def epoch_batches(num_graphs: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the index arrays of one epoch: a shuffle cut into pieces of nearly equal size.

    Every graph stands in exactly one piece and no piece is much smaller than another, so there is
    never a left-over batch with too few negatives. No state is kept between epochs: an interrupted
    run finds its place again from (seed, epoch) alone.
    """
    order = np.random.default_rng([seed, epoch]).permutation(num_graphs)
    return np.array_split(order, num_batches(num_graphs, batch_size))


class EpochBatches:
    """The batches of all epochs; those of one epoch are drawn once and kept while it runs."""

    def __init__(self, num_graphs: int, batch_size: int, seed: int) -> None:
        self.num_graphs = num_graphs
        self.batch_size = batch_size
        self.seed = seed
        self._kept: tuple[int, list[np.ndarray]] | None = None

    @property
    def num_steps(self) -> int:
        """The number of batches of an epoch."""
        return num_batches(self.num_graphs, self.batch_size)

    def batch(self, epoch: int, step: int) -> np.ndarray:
        """Return the graphs of a step."""
        if self._kept is None or self._kept[0] != epoch:
            drawn = epoch_batches(self.num_graphs, self.batch_size, self.seed, epoch)
            self._kept = (epoch, drawn)
        return self._kept[1][step]


def share_of_process(indices: np.ndarray, rank: int, world_size: int) -> np.ndarray:
    """Return this process's part of a batch: consecutive, so that gathered parts are in order."""
    return np.array_split(indices, world_size)[rank]
