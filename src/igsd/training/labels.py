"""``Labels``: what is known of the graphs of a training set, and of which graphs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of some graphs of a set.

    ``values``: [G] int64 class codes, -1 where unknown; or [G, t] float32 standardised targets, NaN
    where unknown. ``num_outputs``: the number of classes, or of targets.
    """

    values: np.ndarray
    num_outputs: int

    @property
    def are_classes(self) -> bool:
        """Whether the labels are classes and not numbers."""
        return self.values.ndim == 1

    @cached_property
    def is_known(self) -> np.ndarray:
        """Whether a graph has a label, of numbers at least one, [G] bool."""
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

    def of(self, indices: np.ndarray, device: torch.device) -> Tensor:
        """Return the labels of some graphs as a tensor."""
        return torch.from_numpy(self.values[indices]).to(device)
