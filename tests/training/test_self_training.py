from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import IGSDWarning
from igsd.training.self_training import (
    PseudoLabelStore,
    class_quotas,
    round_starts,
    warn_if_never,
)


@pytest.mark.parametrize(
    ("epochs", "start", "rounds", "expected"),
    [
        (300, 30, 3, [30, 120, 210]),
        (35, 30, 2, [30, 32]),
        (33, 30, 20, [30, 31, 32]),
        (30, 30, 20, []),
        (10, 30, 20, []),
        (4, 0, 1, [0]),
    ],
)
def test_rounds(epochs: int, start: int, rounds: int, expected: list[int]) -> None:
    assert round_starts(epochs, start, rounds) == expected


@pytest.mark.parametrize(("epochs", "start"), [(30, 30), (5, 30)])
def test_a_start_after_the_last_epoch_is_told(epochs: int, start: int) -> None:
    words = f"self_training_start={start}, .* epochs={epochs}.*below {epochs}"
    with pytest.warns(IGSDWarning, match=words):
        warn_if_never(epochs, start)


@pytest.mark.parametrize(("epochs", "start"), [(31, 30), (0, 30)])
def test_a_start_in_time_is_not(epochs: int, start: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_never(epochs, start)


@given(st.integers(1, 400), st.integers(0, 60), st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_every_round_is_followed_by_an_epoch(epochs: int, start: int, rounds: int) -> None:
    starts = round_starts(epochs, start, rounds)
    assert len(set(starts)) == len(starts) == min(rounds, max(0, epochs - start))
    assert starts == sorted(starts)
    assert all(start <= epoch < epochs for epoch in starts)


def logits(*probabilities: float) -> torch.Tensor:
    """Return logits of two classes with these probabilities of the second."""
    p = torch.tensor(probabilities)
    return torch.stack([torch.log(1 - p), torch.log(p)], dim=1)


def test_labels_accumulate_and_are_not_revised() -> None:
    store = PseudoLabelStore(6)
    assert store.add(np.array([1, 3, 5]), logits(0.95, 0.5, 0.04), 0.9, number=1) == 2
    assert store.codes.tolist() == [-1, 1, -1, -1, -1, 0]
    # Graph 1 would now get another class, but keeps its own.
    assert store.add(np.array([1, 3]), logits(0.01, 0.99), 0.9, number=2) == 1
    found = store.collected()
    assert found.graphs.tolist() == [1, 3, 5]
    assert found.codes.tolist() == [1, 1, 0]
    assert found.rounds.tolist() == [1, 2, 1]
    assert found.confidence.tolist() == pytest.approx([0.95, 0.99, 0.96])
    assert len(found) == 3


def test_a_confidence_at_the_threshold_passes() -> None:
    store = PseudoLabelStore(1)
    assert store.add(np.array([0]), torch.zeros(1, 2), 0.5, number=1) == 1


def test_no_graphs() -> None:
    assert PseudoLabelStore(2).add(np.zeros(0, np.int64), torch.zeros(0, 2), 0.5, 1) == 0


def test_it_comes_back_with_the_weights() -> None:
    store, other = PseudoLabelStore(3), PseudoLabelStore(3)
    store.add(np.array([0, 2]), logits(0.95, 0.6), 0.9, number=4)
    other.load_state_dict(store.state_dict())
    assert other.collected().rounds.tolist() == [4]
    assert other.highest.item() == store.highest.item() == pytest.approx(0.95)


def test_a_warning_says_the_highest_confidence() -> None:
    store = PseudoLabelStore(3)
    store.add(np.array([0, 2]), logits(0.3, 0.8), 0.9, number=1)
    store.add(np.array([0, 2]), logits(0.4, 0.6), 0.9, number=2)
    with pytest.warns(IGSDWarning, match=r"highest confidence seen was 0\.800.*=0\.9"):
        store.warn_if_none(0.9)


def test_a_round_may_be_bound_to_the_surest_of_each_class() -> None:
    store = PseudoLabelStore(6)
    logits = torch.tensor([[3.0, 0], [5, 0], [4, 0], [0, 2], [0, 6], [0.1, 0]])
    quotas = class_quotas(np.array([3, 1]), 6, 0.4)
    assert quotas is not None
    assert quotas.tolist() == [2, 1]
    assert store.add(np.arange(6), logits, 0.8, 1, quotas) == 3
    assert store.codes.tolist() == [-1, 0, 0, -1, 1, -1]
    # The next round goes on with the others.
    assert store.add(np.array([0, 3, 5]), logits[[0, 3, 5]], 0.8, 2, quotas) == 2
    assert store.codes.tolist() == [0, 0, 0, 1, 1, -1]
    assert class_quotas(np.array([3, 1]), 6, 1.0) is None
