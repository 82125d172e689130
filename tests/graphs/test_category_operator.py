from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.category_operator import CategoryOperator


def operator(links: list[tuple[int, int, int, float]], n: int) -> CategoryOperator:
    """Return the operator of links (receiver, sender, category, weight) among n nodes."""
    ordered = sorted(links)
    edge_index = torch.tensor([link[:2] for link in ordered], dtype=torch.int64).view(-1, 2).T
    category = torch.tensor([link[2] for link in ordered], dtype=torch.int64)
    weight = torch.tensor([link[3] for link in ordered], dtype=torch.float32)
    return CategoryOperator(edge_index, weight, category, n)


def test_by_hand() -> None:
    links = operator([(0, 1, 3, 1.0), (0, 2, 3, 2.0), (1, 0, 5, 1.0), (2, 0, 3, 0.5)], 3)
    assert links.used.tolist() == [3, 5]
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    double, swap = torch.eye(2) * 2, torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    out = links.messages(x, torch.stack([double, swap]))
    assert out.tolist() == [[4.0, 6.0], [0.0, 1.0], [1.0, 0.0]]
    assert links.row_sums.tolist() == [3.0, 1.0, 0.5]


def test_no_links_at_all() -> None:
    links = operator([], 2)
    x = torch.ones(2, 3, requires_grad=True)
    out = links.messages(x, torch.zeros(0, 3, 3))
    assert out.tolist() == [[0.0] * 3] * 2
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.abs().sum() == 0


node_links = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(0, 3), st.floats(0.25, 2, width=16)
    ),
    max_size=20,
    unique_by=lambda link: link[:2],
)


@given(node_links, st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_equals_the_plain_loop(rows: list[tuple[int, int, int, float]], seed: int) -> None:
    links = operator(rows, 5)
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(5, 3, generator=rng, dtype=torch.float64, requires_grad=True)
    theta = torch.randn(4, 3, 2, generator=rng, dtype=torch.float64, requires_grad=True)
    expected = torch.zeros(5, 2, dtype=torch.float64)
    for receiver, sender, category, weight in rows:
        expected = expected.index_add(
            0, torch.tensor([receiver]), (weight * x[sender] @ theta[category])[None]
        )
    out = links.messages(x, theta[links.used])
    torch.testing.assert_close(out, expected)
    if rows:
        upstream = torch.randn(5, 2, generator=rng, dtype=torch.float64)
        ours = torch.autograd.grad(out, (x, theta), upstream)
        theirs = torch.autograd.grad(expected, (x, theta), upstream)
        torch.testing.assert_close(ours, theirs)
