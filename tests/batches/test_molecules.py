from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import (
    CategoryOperator,
    MoleculeBatch,
    MoleculeCollator,
    complete_blocks,
    pair_distances,
)
from igsd.graphs.adjacency import pointers
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.source import bond_type_view
from tests.small_graphs import HOST
from tests.small_molecules import make_molecules


def test_by_hand() -> None:
    blocks = complete_blocks(np.array([0, 2, 3]))
    assert blocks.row.tolist() == [0, 0, 1, 1, 2]
    assert blocks.col.tolist() == [0, 1, 0, 1, 2]
    assert blocks.row_ptr.tolist() == [0, 2, 4, 5]
    assert blocks.places(np.array([1, 2]), np.array([0, 0])).tolist() == [2, 4]
    places = np.array([[0, 0, 0], [3, 4, 0], [1, 1, 1]], np.float32)
    assert pair_distances(places, blocks.row, blocks.col).tolist() == [0, 5, 5, 0, 0]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_every_pair_of_a_graph_once(sizes: list[int]) -> None:
    ptr = pointers(np.array(sizes))
    blocks = complete_blocks(ptr)
    expected = [
        (i, j)
        for start, stop in itertools.pairwise(ptr)
        for i in range(start, stop)
        for j in range(start, stop)
    ]
    assert list(zip(blocks.row.tolist(), blocks.col.tolist(), strict=True)) == expected


def operator(links: list[tuple[int, int, int, float]], n: int) -> CategoryOperator:
    """Return the operator of links (receiver, sender, category, weight) among n nodes."""
    ordered = sorted(links)
    edge_index = torch.tensor([link[:2] for link in ordered], dtype=torch.int64).view(-1, 2).T
    category = torch.tensor([link[2] for link in ordered], dtype=torch.int64)
    weight = torch.tensor([link[3] for link in ordered], dtype=torch.float32)
    return CategoryOperator(edge_index, weight, category, n)


def test_by_hand_category_operator() -> None:
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


def collator(graphs: GraphSet) -> MoleculeCollator:
    return MoleculeCollator(graphs, FeatureMap.fit(graphs), LinkFeatures.fit(graphs), HOST)


def as_links(batch: MoleculeBatch) -> list[tuple[int, int, int]]:
    receiver, sender = batch.edge_index.tolist()
    return list(zip(receiver, sender, batch.category.tolist(), strict=True))


def expected_links(graphs: GraphSet, links: LinkFeatures) -> list[tuple[int, int, int]]:
    """Return (receiver, sender, category) of all pairs of atoms, by loops."""
    adjacency, rows = graphs.adjacency, []
    assert graphs.edge_labels is not None
    assert graphs.node_attributes is not None
    for start, stop in zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True):
        for i in range(start, stop):
            mine = slice(adjacency.row_ptr[i], adjacency.row_ptr[i + 1])
            bonds = dict(zip(adjacency.col[mine], graphs.edge_labels[mine], strict=True))
            for j in range(start, stop):
                if i != j:
                    gap = graphs.node_attributes[i] - graphs.node_attributes[j]
                    distance = np.sqrt((gap**2).sum())
                    bin = sum(distance >= boundary for boundary in links.boundaries or ())
                    bond = bonds.get(j - start, len(links.bond_names))
                    rows.append((int(i), int(j), int(bond * links.num_bins + bin)))
    return rows


def test_complete_graph_where_there_are_coordinates() -> None:
    graphs = make_molecules()
    chosen = np.array([4, 0, 2, 4])
    batch = collator(graphs).molecules(chosen)
    assert as_links(batch) == expected_links(graphs.take(chosen), LinkFeatures.fit(graphs))
    assert batch.edge_weight.tolist() == [1.0] * len(batch.category)
    plain = collator(graphs).batch(chosen, graphs.adjacency)
    assert torch.equal(batch.x, plain.x)
    assert torch.equal(batch.ptr, plain.ptr)


def test_bonds_where_there_are_none() -> None:
    graphs = make_molecules(coordinates=False)
    chosen = np.array([1, 3])
    batch = collator(graphs).molecules(chosen)
    part = graphs.take(chosen)
    assert part.edge_labels is not None
    assert batch.category.tolist() == part.edge_labels.tolist()
    plain = collator(graphs).batch(chosen, graphs.adjacency)
    assert torch.equal(batch.edge_index, plain.edge_index)


@pytest.mark.parametrize("coordinates", [True, False])
def test_view_takes_the_place_of_the_links(coordinates: bool) -> None:
    graphs = make_molecules(coordinates=coordinates)
    ours, chosen = collator(graphs), np.array([5, 1])
    view = bond_type_view(graphs, "double", View(), cache=False)
    batch = ours.molecules(chosen)
    taken = view.take(graphs.node_ptr, chosen)
    seen = ours.view(batch, chosen, taken, "double")
    assert taken.weight is not None
    np.testing.assert_array_equal(seen.edge_weight.numpy(), taken.weight)
    assert seen.x is batch.x
    bins = LinkFeatures.fit(graphs).num_bins
    assert set((seen.category // bins).tolist()) == {1}
    if coordinates:
        known = {(i, j): category % bins for i, j, category in as_links(batch)}
        for i, j, category in as_links(seen):
            assert category % bins == known.get((i, j), 0)


def test_joined() -> None:
    graphs = make_molecules()
    ours = collator(graphs)
    first, second = ours.molecules(np.array([1, 2])), ours.molecules(np.array([3]))
    together = ours.molecules(np.array([1, 2, 3]))
    joined = MoleculeBatch.joined([first, second])
    assert as_links(joined) == as_links(together)
    assert torch.equal(joined.x, together.x)
    assert torch.equal(joined.ptr, together.ptr)
    assert MoleculeBatch.joined([first]) is first
    with pytest.raises(TypeError, match="takes batches with categories"):
        MoleculeBatch.joined([first, Batch(first.x, first.ptr, first.adjacency)])
