"""Which graphs meet in a step when some have labels: every step has labelled graphs in it.

Three pools feed a step: the labelled graphs, those with a pseudo-label, and the others. An epoch is
one pass over the labelled pool; the other two pass by at their own pace, as many batches as the
labelled pool has, going on in the next epoch where they stopped. All of it is a pure function of
(seed, round, epoch, step), so an interrupted run finds its place again without any state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from igsd.training.batches import num_batches

# Streams of random numbers, so that no pool's order says anything about another's.
_LABELLED, _PSEUDO, _UNLABELLED = 1, 2, 3


class LabelBatch(NamedTuple):
    """The graphs of one step, as indices into the training set; no graph stands in it twice."""

    labelled: np.ndarray
    pseudo: np.ndarray
    unlabelled: np.ndarray


@dataclass(frozen=True, eq=False)
class LabelBatches:
    """The batches from one round of pseudo-labels to the next.

    ``labelled``, ``pseudo``, ``unlabelled``: the pools, none of them in two. ``label_batch_size``
    graphs of each of the first two and ``batch_size`` of the third make a step, fewer where a pool
    has fewer. ``first_epoch``: where this round of labels begins; ``round``: its number.
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
            self._piece(self.pseudo, self.label_batch_size, _PSEUDO, place),
            self._piece(self.unlabelled, self.batch_size, _UNLABELLED, place),
        )

    def _piece(self, pool: np.ndarray, size: int, stream: int, place: int) -> np.ndarray:
        """Return piece number ``place`` of endless passes over a pool, each shuffled anew.

        A pass is cut into pieces of nearly equal size, so every graph has its turn in every pass
        and none stands twice in a piece.
        """
        if not len(pool):
            return pool
        num_pieces = num_batches(len(pool), size)
        number, piece = divmod(place, num_pieces)
        return np.array_split(self._shuffled(pool, stream, number), num_pieces)[piece]

    def _shuffled(self, pool: np.ndarray, stream: int, number: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, stream, self.round, number])
        return rng.permutation(pool)
