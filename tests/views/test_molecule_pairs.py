from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from igsd.graphs.features import FeatureMap
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.molecule_batch import MoleculeBatch
from igsd.views.bond_types import bond_types, only_bonds
from igsd.views.molecule_pairs import MoleculePairSource, make_pairs
from igsd.views.pairs import PairSource
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view
from tests.small_graphs import HOST
from tests.small_molecules import make_molecules

GRAPHS = make_molecules(10)
LINKS = LinkFeatures.fit(GRAPHS)
FEATURES = FeatureMap.fit(GRAPHS)
CHOSEN = np.array([7, 1, 5])


def source(seed: int = 0, *, links: bool = True, **settings) -> MoleculePairSource | PairSource:
    features = replace(FEATURES, links=LINKS) if links else FEATURES
    return make_pairs(GRAPHS, features, ViewSpec(**settings), seed=seed, device=HOST, cache=False)


def categories(batch: MoleculeBatch) -> dict[tuple[int, ...], int]:
    places = [tuple(place) for place in batch.edge_index.T.tolist()]
    return dict(zip(places, batch.category.tolist(), strict=True))


@pytest.mark.parametrize("links", [True, False])
def test_one_view_for_each_kind_of_bond(links: bool) -> None:
    molecules, *views = source(links=links, kind="bond-types", num_views=3).pair(CHOSEN, (0, 0))
    assert molecules.num_graphs == 3
    assert len(views) == 3
    for bond, view in zip(bond_types(GRAPHS, 3), views, strict=True):
        expected = diffusion_view(only_bonds(GRAPHS.take(CHOSEN), bond), ViewSpec())
        np.testing.assert_array_equal(view.edge_weight.numpy(), expected.weight)
        assert view.x is molecules.x
        assert isinstance(view, MoleculeBatch) == links
        if isinstance(view, MoleculeBatch):
            assert set((view.category // LINKS.num_bins).tolist()) == {LINKS.bond_code(bond)}


def test_a_diffusion_of_all_bonds_keeps_their_kinds() -> None:
    molecules, view = source(kind="ppr").pair(CHOSEN, (0, 0))
    assert isinstance(molecules, MoleculeBatch)
    assert isinstance(view, MoleculeBatch)
    known = categories(molecules)
    for place, category in categories(view).items():
        if place[0] != place[1]:
            assert category == known[place]
        else:
            assert category // LINKS.num_bins == LINKS.no_bond


def test_links_go_at_random_and_the_same_again() -> None:
    def drawn(seed: int, draw: tuple[int, int]) -> MoleculeBatch:
        molecules, view = source(seed, kind="edge-drop", drop_rate=0.5).pair(CHOSEN, draw)
        assert isinstance(molecules, MoleculeBatch)
        assert isinstance(view, MoleculeBatch)
        pairs, kept = categories(molecules), categories(view)
        assert 0 < len(kept) < len(pairs)
        assert all(pairs[place] == category for place, category in kept.items())
        assert all(place[::-1] in kept for place in kept)
        return view

    first = drawn(0, (1, 2)).edge_index
    assert torch.equal(first, drawn(0, (1, 2)).edge_index)
    others = [drawn(*other).edge_index for other in ((0, (1, 3)), (1, (1, 2)))]
    assert not any(torch.equal(first, other) for other in others)


def test_other_graphs_have_the_plain_source() -> None:
    assert isinstance(source(links=False, kind="ppr"), PairSource)
    assert isinstance(source(links=False, kind="bond-types"), MoleculePairSource)
    made = source(kind="ppr")
    sizes = GRAPHS.node_counts()[made.by_size(CHOSEN)]
    assert sizes.tolist() == sorted(sizes.tolist())
