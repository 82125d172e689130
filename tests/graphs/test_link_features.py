from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.graphs.link_features import LinkFeatures, coordinates
from tests.small_molecules import BONDS, make_molecules

SMALL = LinkFeatures(("double", "single"), (1.5, 3.0))


def test_table_and_categories_by_hand() -> None:
    assert SMALL.num_bins == 3
    assert SMALL.num_categories == 9
    expected = [[*bond, *bin] for bond in ([1, 0], [0, 1], [0, 0]) for bin in np.eye(3).tolist()]
    assert SMALL.table().tolist() == expected
    bonds, distances = np.array([0, 1, 2, 1]), np.array([1.2, 1.5, 7.0, 2.9], np.float32)
    assert SMALL.categories(bonds, distances).tolist() == [0, 4, 8, 4]


def test_without_distances_and_without_anything() -> None:
    plain = LinkFeatures(("double", "single"))
    assert plain.table().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert plain.categories(np.array([1, 2]), None).tolist() == [1, 2]
    assert LinkFeatures().table().tolist() == [[1]]
    bare = make_molecules(coordinates=False, labels=False)
    assert LinkFeatures.fit(bare) == LinkFeatures()
    assert LinkFeatures().bond_codes(bare).tolist() == [0] * bare.adjacency.num_entries


def test_fit() -> None:
    graphs = make_molecules()
    fitted = LinkFeatures.fit(graphs, 6)
    assert fitted.bond_names == BONDS
    assert fitted.boundaries == (1.0, 2.25, 3.5, 4.75, 6.0)
    assert LinkFeatures.fit(graphs, 0).boundaries is None
    assert LinkFeatures.fit(make_molecules(coordinates=False)).boundaries is None
    with pytest.raises(ConfigError, match=r"0 \(no distances\) or at least 2. Got 1 instead"):
        LinkFeatures.fit(graphs, 1)


def test_labels_of_other_graphs() -> None:
    graphs = make_molecules()
    other = replace(graphs, edge_label_names=("dative", "single", "double", "ionic"))
    assert graphs.edge_labels is not None
    expected = np.array([2, 1, 0, 2])[graphs.edge_labels]
    assert SMALL.bond_codes(other).tolist() == expected.tolist()
    assert [SMALL.bond_code(name) for name in ("single", "ionic")] == [1, 2]
    with pytest.raises(DataError, match="trained on graphs with edge labels, but 'molecules'"):
        SMALL.bond_codes(make_molecules(labels=False))


def test_coordinates() -> None:
    graphs = make_molecules()
    assert graphs.node_attributes is not None
    np.testing.assert_array_equal(SMALL.positions(graphs), graphs.node_attributes)
    mixed = replace(
        graphs,
        node_attributes=np.concatenate(
            [graphs.node_attributes[:, :1] * 0, graphs.node_attributes], 1
        ),
        node_attribute_names=("charge", "x", "y", "z"),
    )
    np.testing.assert_array_equal(coordinates(mixed), graphs.node_attributes)
    assert coordinates(make_molecules(coordinates=False)) is None
    assert LinkFeatures(BONDS).positions(graphs) is None
    with pytest.raises(DataError, match="trained on molecules with coordinates"):
        SMALL.positions(make_molecules(coordinates=False))


@pytest.mark.parametrize("links", [SMALL, LinkFeatures(), LinkFeatures(("a", 1))])
def test_through_json(links: LinkFeatures) -> None:
    assert LinkFeatures.from_json(json.loads(json.dumps(links.to_json()))) == links
