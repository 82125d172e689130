"""``ProtocolResult``: accuracy and choices of every fold, with their summary."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ProtocolResult:
    """The score of one protocol with one seed.

    Every tuple has one entry for each outer fold. ``C`` and ``standardised`` are the choices used
    in the fold; ``inner`` is the validation accuracy they were chosen by (empty where there was
    none). ``optimistic`` marks a protocol whose choices have seen the test parts.
    """

    protocol: str
    seed: int
    accuracies: tuple[float, ...]
    C: tuple[float, ...] = ()
    standardised: tuple[bool, ...] = ()
    inner: tuple[float, ...] = ()
    train_sizes: tuple[int, ...] = ()
    test_sizes: tuple[int, ...] = ()
    optimistic: bool = False
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Mean accuracy over the folds."""
        return float(np.mean(self.accuracies))

    @property
    def std(self) -> float:
        """Standard deviation of the accuracy over the folds (population, ddof 0)."""
        return float(np.std(self.accuracies))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values for a JSON record, mean and std included."""
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {**values, "mean": self.mean, "std": self.std}
