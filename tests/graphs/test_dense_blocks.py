from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs import operator as operator_module
from igsd.graphs.dense_blocks import (
    DenseBlocks,
    Runs,
    runs_of_equal_size,
    worth_dense_blocks,
)
from tests.small_graphs import make_batch, make_graphs, odd_graphs


def test_runs() -> None:
    runs = runs_of_equal_size(np.array([2, 2, 3, 2]))
    assert runs.counts.tolist() == [2, 1, 1]
    assert runs.sizes.tolist() == [2, 3, 2]
    assert runs.num_entries == 4 + 4 + 9 + 4


def test_few_large_full_graphs_are_worth_it_and_molecules_are_not() -> None:
    social = Runs(np.array([4, 4]), np.array([100, 200]))
    assert worth_dense_blocks(social, social.num_entries // 2)
    molecules = Runs(np.ones(30, int), np.arange(10, 40))
    assert not worth_dense_blocks(molecules, molecules.num_entries // 2)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    seed=st.integers(0, 100),
    own=st.sampled_from([0.0, 1.0]),
)
@settings(max_examples=40, deadline=None)
def test_equals_the_sparse_product(sizes: list[int], seed: int, own: float) -> None:
    draw = np.random.default_rng(seed)
    blocks = [draw.random((n, n)) * (draw.random((n, n)) < 0.5) for n in sizes]
    matrix = torch.block_diag(*[torch.from_numpy(block + block.T) for block in blocks])
    x = torch.from_numpy(draw.standard_normal((len(matrix), 3)))
    runs = runs_of_equal_size(np.array(sizes))
    found = torch.empty_like(x)
    DenseBlocks(matrix.to_sparse_csr(), runs, own).multiply(x, found)
    torch.testing.assert_close(found, matrix @ x + own * x)


@pytest.mark.parametrize("graphs", [make_graphs(), odd_graphs()], ids=["random", "odd"])
@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_operator_gives_the_same_either_way(graphs, own, monkeypatch) -> None:
    x = torch.randn(graphs.num_nodes, 4, generator=torch.Generator().manual_seed(0))
    results = []
    for dense in (True, False):
        monkeypatch.setattr(operator_module, "worth_dense_blocks", lambda *_, dense=dense: dense)
        y = x.clone().requires_grad_()
        product = make_batch(graphs).adjacency.multiply(y, own)
        product.square().sum().backward()
        results.append((product.detach(), y.grad))
    torch.testing.assert_close(results[0], results[1])
