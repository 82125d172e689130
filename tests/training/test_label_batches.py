from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.training.label_batches import LabelBatches


def batches(labelled: int, pseudo: int = 0, unlabelled: int = 0, **others: Any) -> LabelBatches:
    """Return batches over graphs 0, 1, ..., first the labelled ones."""
    ends = np.cumsum([labelled, pseudo, unlabelled])
    pools = np.split(np.arange(ends[-1]), ends[:-1])
    options = {"label_batch_size": 4, "batch_size": 8, "seed": 0} | others
    return LabelBatches(*pools, **options)


@given(
    labelled=st.integers(2, 30),
    pseudo=st.integers(0, 30),
    unlabelled=st.integers(0, 60),
    size=st.integers(2, 12),
    epoch=st.integers(0, 50),
)
@settings(max_examples=60, deadline=None)
def test_every_step_has_labelled_graphs_and_no_graph_twice(
    labelled: int, pseudo: int, unlabelled: int, size: int, epoch: int
) -> None:
    made = batches(labelled, pseudo, unlabelled, label_batch_size=size)
    steps = [made.batch(epoch, step) for step in range(made.num_steps)]
    for batch in steps:
        assert len(batch.labelled) >= 2
        everyone = np.concatenate(batch)
        assert len(np.unique(everyone)) == len(everyone)
        assert (len(batch.pseudo) > 0) == (pseudo > 0)
        assert (len(batch.unlabelled) > 0) == (unlabelled > 0)
    # An epoch is one pass over the labelled pool.
    passed = np.sort(np.concatenate([batch.labelled for batch in steps]))
    np.testing.assert_array_equal(passed, made.labelled)


def test_the_other_pools_pass_by_without_loss() -> None:
    made = batches(8, 10, 21)  # two steps an epoch; 3 and 3 pieces a pass
    assert made.num_steps == 2
    steps = [made.batch(epoch, step) for epoch in range(9) for step in range(2)]
    for passed, count in (("pseudo", 3), ("unlabelled", 3)):
        for start in range(0, 18, count):
            pieces = [getattr(batch, passed) for batch in steps[start : start + count]]
            everyone = np.sort(np.concatenate(pieces))
            np.testing.assert_array_equal(everyone, getattr(made, passed))


def test_passes_are_shuffled_anew() -> None:
    made = batches(8, 0, 16)
    first, second = (made.batch(epoch, 0) for epoch in (0, 1))
    assert list(first.labelled) != list(second.labelled)
    assert list(first.unlabelled) != list(second.unlabelled)


def test_the_same_place_has_the_same_graphs() -> None:
    for epoch, step in [(0, 1), (5, 0)]:
        a, b = batches(9, 5, 30).batch(epoch, step), batches(9, 5, 30).batch(epoch, step)
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("change", [{"seed": 1}, {"round": 2}])
def test_seed_and_round_change_the_order(change: dict[str, int]) -> None:
    a, b = batches(20, 0, 40).batch(3, 0), batches(20, 0, 40, **change).batch(3, 0)
    assert list(a.labelled) != list(b.labelled)
    assert list(a.unlabelled) != list(b.unlabelled)


def test_sizes_of_a_step() -> None:
    made = batches(9, 40, 100)
    batch = made.batch(0, 0)
    assert [len(part) for part in batch] == [3, 4, 8]
    assert [len(part) for part in batches(2, 1, 3).batch(0, 0)] == [2, 1, 3]


def test_a_round_begins_at_the_start_of_a_pass() -> None:
    made = batches(8, 0, 24, round=1, first_epoch=30)
    pieces = [made.batch(epoch, step).unlabelled for epoch in (30, 31) for step in (0, 1)]
    np.testing.assert_array_equal(np.sort(np.concatenate(pieces[:3])), made.unlabelled)
