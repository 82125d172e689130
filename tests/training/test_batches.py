from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.training.batches import EpochBatches, epoch_batches, num_batches, share_of_process

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
            assert np.array_equal(batches.batch(epoch, step), expected)
    assert batches.batch(1, 0) is batches.batch(1, 0)
