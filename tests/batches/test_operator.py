from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.batches import operator as operator_module
from igsd.batches.batch import Batch, Collator
from igsd.batches.features import FeatureMap
from igsd.batches.operator import (
    AdjacencyOperator,
    DenseBlocks,
    Runs,
    column_parts,
    runs_of_equal_size,
    worth_dense_blocks,
)
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.build import from_edges
from tests.reference.adjacency import dense
from tests.small_graphs import (
    HOST,
    from_matrix,
    make_batch,
    make_graphs,
    odd_graphs,
    weighted_matrix,
)


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
    for is_dense in (True, False):
        monkeypatch.setattr(operator_module, "worth_dense_blocks", lambda *_, worth=is_dense: worth)
        y = x.clone().requires_grad_()
        product = make_batch(graphs).adjacency.multiply(y, own)
        product.square().sum().backward()
        results.append((product.detach(), y.grad))
    torch.testing.assert_close(results[0], results[1])


def one_graph(adjacency: Adjacency) -> Batch:
    """Return a batch of one graph with these edges."""
    n = len(adjacency.row_ptr) - 1
    nodes = from_edges([n], np.zeros(0, int), np.zeros(0, int))
    features = FeatureMap.fit(nodes, "constant").transform(nodes)
    return Collator(nodes.node_ptr, features, HOST).batch(np.array([0]), adjacency)


def vectors(n: int, dim: int = 3) -> torch.Tensor:
    return torch.randn(n, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@given(n=st.integers(1, 12), seed=st.integers(0, 1000), weighted=st.booleans())
@settings(max_examples=30, deadline=None)
def test_equals_the_dense_product(n: int, seed: int, weighted: bool) -> None:
    matrix = weighted_matrix(n, seed)
    A = torch.from_numpy(matrix if weighted else (matrix != 0).astype(float))
    operator = one_graph(from_matrix(matrix, weighted=weighted)).adjacency
    x = vectors(n)
    assert operator.missing_loops.tolist() == [1.0] * n
    torch.testing.assert_close(operator.multiply(x), A @ x, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(operator.multiply(x.float()), (A @ x).float(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(operator.row_sums().double(), A.sum(1))


@pytest.mark.parametrize("graphs", [make_graphs(), odd_graphs()], ids=["random", "odd"])
def test_batches_of_graphs(graphs) -> None:
    batch = make_batch(graphs)
    x = vectors(graphs.num_nodes)
    A = torch.from_numpy(dense(batch))
    torch.testing.assert_close(batch.adjacency.multiply(x), A @ x, rtol=1e-12, atol=1e-12)


def test_isolated_nodes_receive_nothing() -> None:
    batch = make_batch(odd_graphs(), [0, 1])
    assert not batch.adjacency.multiply(vectors(4)).any()
    assert batch.adjacency.row_sums().tolist() == [0.0] * 4


def test_one_node_with_a_weighted_loop() -> None:
    operator = one_graph(from_matrix(np.array([[0.5]]), weighted=True)).adjacency
    assert operator.multiply(torch.tensor([[2.0, 4.0]])).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("weighted", [True, False])
def test_gradient_equals_finite_differences(weighted: bool) -> None:
    operator = one_graph(from_matrix(weighted_matrix(5), weighted=weighted)).adjacency
    assert torch.autograd.gradcheck(operator.multiply, (vectors(5).requires_grad_(),))


def test_gradient_equals_that_of_the_dense_product() -> None:
    matrix = weighted_matrix(7, seed=1)
    operator = one_graph(from_matrix(matrix, weighted=True)).adjacency
    x, y = vectors(7).requires_grad_(), vectors(7).requires_grad_()
    operator.multiply(x).square().sum().backward()
    (torch.from_numpy(matrix) @ y).square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_columns_that_are_not_contiguous() -> None:
    operator = one_graph(from_matrix(weighted_matrix(5), weighted=True)).adjacency
    x = vectors(5, 4)
    torch.testing.assert_close(operator.multiply(x.T.contiguous().T), operator.multiply(x))
    torch.testing.assert_close(operator.multiply(x[:, ::2]), operator.multiply(x)[:, ::2])


def test_product_stays_in_float32_under_autocast() -> None:
    operator = one_graph(from_matrix(weighted_matrix(5), weighted=True)).adjacency
    with torch.autocast("cpu", torch.bfloat16):
        assert operator.multiply(vectors(5).bfloat16()).dtype == torch.float32
        # bfloat16 has no sparse product: a GCN under autocast ended in NotImplementedError.
        assert operator.row_sums().dtype == torch.float32


def test_own_adds_the_node_itself() -> None:
    operator = one_graph(from_matrix(weighted_matrix(5), weighted=True)).adjacency
    x = vectors(5)
    torch.testing.assert_close(operator.multiply(x, own=1.0), operator.multiply(x) + x)
    assert torch.autograd.gradcheck(lambda v: operator.multiply(v, 1.0), (x.requires_grad_(),))


def test_joined_operators_equal_one_batch() -> None:
    graphs = make_graphs()
    parts = [make_batch(graphs, [0, 1]).adjacency, make_batch(graphs, [2, 0]).adjacency]
    joined, whole = AdjacencyOperator.joined(parts), make_batch(graphs, [0, 1, 2, 0]).adjacency
    x = vectors(len(whole.missing_loops))
    for own in (0.0, 1.0):
        torch.testing.assert_close(joined.multiply(x, own), whole.multiply(x, own))
    assert torch.equal(joined.edge_index(), whole.edge_index())
    assert torch.equal(joined.edge_weight(), whole.edge_weight())
    assert torch.equal(joined.row_sums(), whole.row_sums())
    assert torch.equal(joined.missing_loops, whole.missing_loops)


def test_columns_of_large_batches_are_multiplied_in_parts(monkeypatch) -> None:
    n, rng = 60, np.random.default_rng(0)
    matrix = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1).astype(np.float32)
    sparse = torch.from_numpy(matrix + matrix.T).to_sparse_csr()
    parts = (sparse.crow_indices().int(), sparse.col_indices().int(), sparse.values())
    operator = AdjacencyOperator(*parts, torch.ones(n), np.array([n]))
    operator._runs = None  # a sparse product
    x = torch.randn(n, 40, generator=torch.Generator().manual_seed(0))
    whole = operator.multiply(x, own=1.0)
    assert len(column_parts(x, len(operator.col))) == 1
    monkeypatch.setattr(operator_module, "_CACHED_ENTRIES", 100)
    assert len(column_parts(x, len(operator.col))) == 3
    assert len(column_parts(x, 3 * n)) == 1, "too few entries to be worth the copies"
    x.requires_grad_()
    split = operator.multiply(x, own=1.0)
    torch.testing.assert_close(split, whole)
    (gradient,) = torch.autograd.grad(split.square().sum(), x)
    torch.testing.assert_close(gradient, operator.multiply(2 * whole, own=1.0))
