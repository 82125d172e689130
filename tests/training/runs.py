"""Short training runs and what the tests do to them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from igsd.config import Config
from igsd.graphs.batch import Batch
from igsd.graphs.graphset import GraphSet
from igsd.training.fit import Fitted, fit_self_supervised
from igsd.training.self_supervised import SelfSupervisedTask
from tests.interrupted import after_task_steps
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
    return fit_self_supervised(graphs, tiny(**(changes or {})), **others)


def assert_same_run(a: Fitted, b: Fitted) -> None:
    """Check that two runs ended with the same bits."""
    assert a.history == b.history
    left, right = a.model.state_dict(), b.model.state_dict()
    assert left.keys() == right.keys()
    assert [name for name in left if not torch.equal(left[name], right[name])] == []


def after_steps(monkeypatch: pytest.MonkeyPatch, count: int, action: Any) -> None:
    """Do ``action`` once, after ``count`` optimiser steps; 1 is the first."""
    after_task_steps(monkeypatch, SelfSupervisedTask, count, action)


def losses_of(fitted: Fitted) -> list[float]:
    """Return the loss of each epoch; fails where one is not finite."""
    values = [entry["total"] for entry in fitted.history]
    assert all(math.isfinite(value) for value in values)
    return values
