"""Short training runs and what the tests do to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel, SemiModel
from igsd.settings.igsd import Config, SemiConfig
from igsd.training.fit import Fitted, fit
from igsd.training.task import TrainingLabels
from tests.interrupted import after_steps as after_steps
from tests.small_graphs import TINY


class PowerCutError(RuntimeError):
    """Ends a run without giving it the chance to save."""


class DroppingEncoder(nn.Module):
    """A mean over nodes behind dropout: an encoder whose training needs random numbers."""

    def __init__(self, in_dim: int, out_dim: int = 6) -> None:
        super().__init__()
        self.out_dim = out_dim
        self.linear = nn.Linear(in_dim, out_dim)
        self.dropout = nn.Dropout(0.3)

    def forward(self, batch: Batch) -> Tensor:
        x = self.dropout(self.linear(batch.x + batch.adjacency.multiply(batch.x)))
        sums = torch.zeros(batch.num_graphs, self.out_dim).index_add(0, batch.batch, x)
        return sums / (batch.ptr[1:] - batch.ptr[:-1]).unsqueeze(1)


def tiny(**changes: Any) -> Config:
    """Return a configuration that trains at once."""
    return Config(**(TINY | changes))


def train(graphs: GraphSet, changes: dict[str, Any] | None = None, **others: Any) -> Fitted:
    """Return a short run, some settings changed."""
    return fit(graphs, tiny(**(changes or {})), IGSDModel, name="IGSD", **others)


LABELS_SETTINGS: dict[str, Any] = TINY | {
    "epochs": 4,
    "label_batch_size": 4,
    "head_dropout": 0.3,
    "halve_every": 2,
    "self_training_start": 1,
    "self_training_rounds": 2,
    "self_training_threshold": 0.5,
}


def few_labels(num_graphs: int = 16) -> TrainingLabels:
    """Return classes 0 and 1 in turn for every other graph."""
    codes = np.where(np.arange(num_graphs) % 2, -1, np.arange(num_graphs) // 2 % 2)
    return TrainingLabels(codes.astype(np.int64), 2)


def train_with_labels(
    graphs: GraphSet, changes: dict[str, Any] | None = None, **others: Any
) -> Fitted:
    """Return a short run on 16 graphs: eight with labels, in batches of four, two steps an epoch.

    Labels are given in front of the epochs 1 and 2.
    """
    settings = SemiConfig(**(LABELS_SETTINGS | (changes or {})))
    labels = others.pop("labels", few_labels())
    return fit(graphs, settings, SemiModel, name="igsd", labels=labels, **others)


def assert_same_run(a: Fitted, b: Fitted) -> None:
    """Check that two runs ended with the same bits."""
    assert (a.history, a.before) == (b.history, b.before)
    left, right = a.network.state_dict(), b.network.state_dict()
    assert left.keys() == right.keys()
    assert [name for name in left if not torch.equal(left[name], right[name])] == []
    assert (a.pseudo is None) == (b.pseudo is None)
    if a.pseudo is not None and b.pseudo is not None:
        for field in ("graphs", "codes", "confidence", "rounds"):
            np.testing.assert_array_equal(getattr(a.pseudo, field), getattr(b.pseudo, field))


def losses_of(fitted: Fitted) -> list[float]:
    """Return the loss of each epoch; fails where one is not finite."""
    values = [entry["total"] for entry in fitted.history]
    assert all(math.isfinite(value) for value in values)
    return values
