"""``FreeTargets``: what RDKit computes for the molecules of a corpus, as labels of a training."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.corpus import Corpus
from igsd.training.task import Labels

LARGEST = 6.0
"""Standardised descriptors are cut off here: some are 0 for nearly all molecules."""

_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class FreeTargets(Labels):
    """Descriptors and counts of fragments, standardised when a step asks for them.

    ``values`` [G, t]: the descriptors, mapped into memory, with their ``mean`` and ``scale`` [t].
    ``fragments`` [G, k] uint8. Their logarithms log(1 + count) are centred by column, with ``mean``
    as well, but have one common scale: a rare fragment counts less than a common one.
    """

    fragments: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    key: str

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> Self:
        """Return the targets of a corpus, with mean and scale over all its molecules."""
        first = _moments(corpus.descriptors, lambda rows: rows)
        second = _moments(corpus.fragments, np.log1p)
        common = np.full_like(second[1], np.sqrt(np.square(second[1]).mean()))
        mean, scale = np.concatenate([first[0], second[0]]), np.concatenate([first[1], common])
        return cls(
            values=corpus.descriptors,
            num_outputs=len(mean),
            fragments=corpus.fragments,
            mean=mean.astype(np.float32),
            scale=np.where(scale > 1e-6, scale, np.inf).astype(np.float32),
            key=corpus.checksum,
        )

    @cached_property
    def is_known(self) -> np.ndarray:
        """Whether a molecule has targets, [G] bool: all have."""
        return np.ones(len(self.values), bool)

    @cached_property
    def checksum(self) -> str:
        """The checksum of the corpus."""
        return self.key

    def of(self, indices: np.ndarray, device: torch.device) -> Tensor:
        """Return the targets of some molecules, [n, t + k]; NaN where unknown."""
        counts = np.log1p(self.fragments[indices], dtype=np.float32)
        rows = np.concatenate([self.values[indices], counts], axis=1)
        rows -= self.mean
        rows /= self.scale
        width = self.values.shape[1]
        np.clip(rows[:, :width], -LARGEST, LARGEST, out=rows[:, :width])
        return torch.from_numpy(rows).to(device)


def _moments(table: np.ndarray, change: object) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column, without unknown values, a few rows each.

    ``change``: applied to the rows first.
    """
    count = np.zeros(table.shape[1])
    total, squares = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for start in range(0, len(table), _ROWS):
        rows = np.asarray(change(np.asarray(table[start : start + _ROWS])), np.float64)  # type: ignore[operator]
        known = ~np.isnan(rows)
        rows = np.where(known, rows, 0.0)
        count += known.sum(axis=0)
        total += rows.sum(axis=0)
        squares += np.square(rows).sum(axis=0)
    mean = total / np.maximum(count, 1)
    return mean, np.sqrt(np.maximum(squares / np.maximum(count, 1) - np.square(mean), 0.0))
