from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.training.task import (
    EpochBatches,
    LabelBatches,
    epoch_batches,
    num_batches,
    share_of_process,
)

SIZES = {"num_graphs": st.integers(2, 300), "batch_size": st.integers(2, 64)}


@given(**SIZES, seed=st.integers(0, 5), epoch=st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_every_graph_once_in_batches_of_like_size(
    num_graphs: int, batch_size: int, seed: int, epoch: int
) -> None:
    batches = epoch_batches(num_graphs, batch_size, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(num_graphs))
    sizes = [len(batch) for batch in batches]
    assert max(sizes) - min(sizes) <= 1
    assert len(batches) == num_batches(num_graphs, batch_size)


@given(**SIZES)
@settings(max_examples=50, deadline=None)
def test_no_graph_is_left_without_a_negative(num_graphs: int, batch_size: int) -> None:
    # Three graphs in batches of two once gave a batch of one: no negatives, and BatchNorm fails.
    sizes = [len(batch) for batch in epoch_batches(num_graphs, batch_size, 0, 0)]
    assert min(sizes) >= 2
    assert max(sizes) <= max(batch_size, 3)


def test_a_pure_function_of_seed_and_epoch() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        return np.concatenate(epoch_batches(40, 8, seed, epoch)).tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


@given(num_graphs=st.integers(1, 50), world_size=st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_processes_share_a_batch_in_order(num_graphs: int, world_size: int) -> None:
    indices = np.random.default_rng(0).permutation(num_graphs)
    parts = [share_of_process(indices, rank, world_size) for rank in range(world_size)]
    assert np.concatenate(parts).tolist() == indices.tolist()
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_batches_are_drawn_once_an_epoch_and_again_for_another() -> None:
    batches = EpochBatches(10, 4, seed=3)
    assert batches.num_steps == 3
    for epoch in (0, 0, 2, 1):
        for step, expected in enumerate(epoch_batches(10, 4, 3, epoch)):
            (found,) = batches.batch(epoch, step)
            assert np.array_equal(found, expected)
    assert batches.batch(1, 0)[0] is batches.batch(1, 0)[0]


def batches(labelled: int, pseudo: int = 0, unlabelled: int = 0, **others: Any) -> LabelBatches:
    """Return batches over graphs 0, 1, ..., first the labelled ones."""
    ends = np.cumsum([labelled, pseudo, unlabelled])
    pools = np.split(np.arange(ends[-1]), ends[:-1])
    options = {"label_batch_size": 4, "batch_size": 8, "seed": 0} | others
    return LabelBatches(*pools, **options)


def test_an_order_is_drawn_once_a_pass() -> None:
    """Each step drew the order of all labelled graphs again."""
    made = batches(30, 5, 40)
    for epoch in (0, 1, 0):
        for step in range(made.num_steps):
            for found, expected in zip(
                made.batch(epoch, step), batches(30, 5, 40).batch(epoch, step), strict=True
            ):
                np.testing.assert_array_equal(found, expected)
    first, again = (made._shuffled(made.labelled, 1, 0) for _ in range(2))
    assert first is again


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
        assert len(batch[0]) >= 2
        everyone = np.concatenate(batch)
        assert len(np.unique(everyone)) == len(everyone)
        assert (len(batch[1]) > 0) == (pseudo > 0)
        assert (len(batch[2]) > 0) == (unlabelled > 0)
    # An epoch is one pass over the labelled pool.
    passed = np.sort(np.concatenate([batch[0] for batch in steps]))
    np.testing.assert_array_equal(passed, made.labelled)


def test_the_other_pools_pass_by_without_loss() -> None:
    made = batches(8, 10, 21)  # two steps an epoch; 3 and 3 pieces a pass
    assert made.num_steps == 2
    steps = [made.batch(epoch, step) for epoch in range(9) for step in range(2)]
    for pool, passed in ((1, made.pseudo), (2, made.unlabelled)):
        for start in range(0, 18, 3):
            everyone = np.concatenate([batch[pool] for batch in steps[start : start + 3]])
            np.testing.assert_array_equal(np.sort(everyone), passed)


def test_passes_are_shuffled_anew() -> None:
    made = batches(8, 0, 16)
    first, second = (made.batch(epoch, 0) for epoch in (0, 1))
    assert list(first[0]) != list(second[0])
    assert list(first[2]) != list(second[2])


def test_the_same_place_has_the_same_graphs() -> None:
    for epoch, step in [(0, 1), (5, 0)]:
        a, b = batches(9, 5, 30).batch(epoch, step), batches(9, 5, 30).batch(epoch, step)
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("change", [{"seed": 1}, {"round": 2}])
def test_seed_and_round_change_the_order(change: dict[str, int]) -> None:
    a, b = batches(20, 0, 40).batch(3, 0), batches(20, 0, 40, **change).batch(3, 0)
    assert list(a[0]) != list(b[0])
    assert list(a[2]) != list(b[2])


def test_sizes_of_a_step() -> None:
    made = batches(9, 40, 100)
    batch = made.batch(0, 0)
    assert [len(part) for part in batch] == [3, 4, 8]
    assert [len(part) for part in batches(2, 1, 3).batch(0, 0)] == [2, 1, 3]


def test_a_round_begins_at_the_start_of_a_pass() -> None:
    made = batches(8, 0, 24, round=1, first_epoch=30)
    pieces = [made.batch(epoch, step)[2] for epoch in (30, 31) for step in (0, 1)]
    np.testing.assert_array_equal(np.sort(np.concatenate(pieces[:3])), made.unlabelled)
