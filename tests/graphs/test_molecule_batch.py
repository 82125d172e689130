from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.molecule_batch import MoleculeBatch, MoleculeCollator
from igsd.views.bond_types import bond_type_view
from igsd.views.spec import ViewSpec
from tests.small_graphs import HOST
from tests.small_molecules import make_molecules


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
    view = bond_type_view(graphs, "double", ViewSpec(), cache=False)
    batch = ours.molecules(chosen)
    seen = ours.view(batch, chosen, view, "double")
    taken = view.take(graphs.node_ptr, chosen)
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
