from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import igsd.views.cache as view_cache
from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import MoleculeBatch
from igsd.encoders.encoder import GNNEncoder
from igsd.errors import ConfigError, DataError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel
from igsd.model.network import Dims
from igsd.settings.groups import RANDOM_VIEWS, View
from igsd.settings.igsd import Config
from igsd.views import source as source_module
from igsd.views.cache import diffusion_view
from igsd.views.source import (
    PassingSource,
    Place,
    Source,
    bond_type_view,
    bond_types,
    make_source,
    only_bonds,
)
from tests.reference.adjacency import dense
from tests.reference.views import dense as dense_view
from tests.small_graphs import HOST, TINY, make_graphs, odd_graphs
from tests.small_molecules import make_molecules

SPEC = View()


def chain() -> GraphSet:
    """Return C=C-C with a lone atom, and a molecule of one single bond."""
    return from_edges(
        [4, 2],
        np.array([0, 1, 4]),
        np.array([1, 2, 5]),
        edge_labels=np.array([0, 1, 1]),
        edge_label_names=("double", "single", "triple"),
    )


def test_commonest_kinds_first() -> None:
    assert bond_types(chain(), 2) == ("single", "double")
    assert bond_types(chain(), 1) == ("single",)
    with pytest.raises(
        ConfigError, match=r"num_views .* from 1 to 2, .*\(single, double\). Got 3 instead"
    ):
        bond_types(chain(), 3)
    with pytest.raises(ConfigError, match="Got 0 instead"):
        bond_types(chain(), 0)
    with pytest.raises(DataError, match="needs edge labels, but 'molecules' has none"):
        bond_types(make_molecules(labels=False), 1)


def test_other_kinds_are_left_out() -> None:
    graphs = chain()
    before = graphs.checksum
    single = only_bonds(graphs, "single")
    assert single.adjacency.row_ptr.tolist() == [0, 0, 1, 2, 2, 3, 4]
    assert single.adjacency.col.tolist() == [2, 1, 1, 0]
    assert single.edge_labels is not None
    assert single.edge_labels.tolist() == [1, 1, 1, 1]
    assert only_bonds(graphs, "triple").num_edges == 0
    assert only_bonds(graphs, "unheard of").num_edges == 0
    graphs = replace(graphs)
    assert graphs.checksum == before


def test_a_kind_in_one_direction_is_of_the_edge() -> None:
    graphs = chain()
    assert graphs.edge_labels is not None
    labels = graphs.edge_labels.copy()
    labels[np.flatnonzero(labels == 1)[0]] = 0
    single = only_bonds(replace(graphs, edge_labels=labels), "single")
    np.testing.assert_array_equal(single.adjacency.col, only_bonds(graphs, "single").adjacency.col)


def test_view_by_hand() -> None:
    view = bond_type_view(chain(), "single", replace(SPEC, threshold=0.0), cache=False)
    assert view.weight is not None
    # Two atoms with one bond: T is 1/2 everywhere, S = 0.2 (I - 0.8 T)^-1 = 0.2 I + 0.8 T.
    kept = view.weight > 0
    entries = zip(view.rows()[kept].tolist(), view.col[kept].tolist(), strict=True)
    pairs = [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (4, 0), (4, 1), (5, 0), (5, 1)]
    assert list(entries) == pairs
    weights = view.weight[view.weight > 0]
    np.testing.assert_allclose(weights, [1, 0.6, 0.4, 0.4, 0.6, 1, 0.6, 0.4, 0.4, 0.6], rtol=1e-6)


def test_union_of_kinds_is_the_graph() -> None:
    graphs = make_molecules(20)
    parts = [only_bonds(graphs, bond) for bond in graphs.edge_label_names]
    assert sum(part.num_edges for part in parts) == graphs.num_edges


def test_cached_by_the_bonds_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path))
    graphs = make_molecules(20)
    first = bond_type_view(graphs, "single", SPEC)
    other = bond_type_view(graphs, "double", SPEC)
    assert first.num_entries != other.num_entries
    assert len(list((tmp_path / "views").iterdir())) == 2
    monkeypatch.setattr(view_cache, "diffusion_view", lambda *_: pytest.fail("computed again"))
    again = bond_type_view(graphs, "single", SPEC)
    np.testing.assert_array_equal(again.weight, first.weight)  # type: ignore[arg-type]


def test_a_view_by_bond_types_is_a_ppr() -> None:
    graphs = make_molecules(10)
    asked = View(view="bond-types", num_views=2)
    found = bond_type_view(graphs, "single", asked, cache=False)
    expected = bond_type_view(graphs, "single", SPEC, cache=False)
    np.testing.assert_array_equal(found.weight, expected.weight)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Got 'bond-types'"):  # several matrices, not one
        diffusion_view(graphs, asked)


GRAPHS, MOLECULES = make_graphs(), make_molecules(10)
LINKS = LinkFeatures.fit(MOLECULES)
CHOSEN = np.array([7, 1, 5])
ALL = np.arange(10)


def source(view: str = "ppr", *, seed: int = 0, **settings: Any) -> Source:
    """Return a source of ten small graphs."""
    view_settings = View(view=view, **settings)
    features = FeatureMap.fit(GRAPHS)
    return Source(GRAPHS, features, HOST, view=view_settings, seed=seed, cache=False)


def molecule_source(view: str, *, seed: int = 0, links: bool = True, **settings: Any) -> Source:
    """Return a source of ten molecules, for an encoder that tells links apart or for another."""
    features = replace(FeatureMap.fit(MOLECULES), links=LINKS if links else None)
    view_settings = View(view=view, **settings)
    return Source(MOLECULES, features, HOST, view=view_settings, seed=seed, cache=False)


def with_views(
    source: Source, indices: np.ndarray = ALL, place: Place = (0, 0)
) -> tuple[Batch, list[Batch]]:
    """Return some graphs and their views."""
    batch = source.batch(indices)
    return batch, source.views(batch, indices, place)


def with_view(
    source: Source, indices: np.ndarray = ALL, place: Place = (0, 0)
) -> tuple[Batch, Batch]:
    """Return some graphs and their only view."""
    batch, (view,) = with_views(source, indices, place)
    return batch, view


class TestFixedViews:
    @pytest.mark.parametrize("kind", ["ppr", "heat"])
    def test_the_view_is_the_diffusion_of_the_same_graphs(self, kind: str) -> None:
        graphs, view = with_view(source(kind), CHOSEN)
        whole = diffusion_view(GRAPHS, View(view=kind))
        S = dense(view)
        for place, g in enumerate(CHOSEN):
            rows = slice(int(view.ptr[place]), int(view.ptr[place + 1]))
            np.testing.assert_array_equal(S[rows, rows], dense_view(whole, GRAPHS.node_ptr, g))
        assert not view.adjacency.missing_loops.any()
        assert graphs.adjacency.missing_loops.all()

    def test_computed_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = source()
        assert len(made.fixed_views) == 1
        monkeypatch.setattr("igsd.views.source.diffusion_view", lambda *_: pytest.fail("again"))
        with_view(made)

    def test_a_method_without_a_view(self) -> None:
        made = Source(GRAPHS, FeatureMap.fit(GRAPHS), HOST)
        assert with_views(made)[1] == made.fixed_views == []


@pytest.mark.parametrize("view", ["ppr", "heat", *RANDOM_VIEWS])
class TestEveryView:
    def test_graphs_stay_as_they_are(self, view: str) -> None:
        made = source(view, drop_rate=0.5)
        before = dense(made.batch(ALL)), made.batch(ALL).x
        graphs, _ = with_view(made)
        np.testing.assert_array_equal(dense(graphs), before[0])
        assert torch.equal(graphs.x, before[1])

    def test_odd_graphs(self, view: str) -> None:
        odd = odd_graphs()
        made = Source(odd, FeatureMap.fit(odd), HOST, view=View(view=view), cache=False)
        graphs, found = with_view(made, np.arange(4))
        assert found.num_graphs == 4
        assert np.isfinite(dense(found)).all()
        assert (found.ptr.diff() > 0).all()  # no graph is left without a node
        Batch.joined([graphs, found])


@pytest.mark.parametrize("view", RANDOM_VIEWS)
class TestRandomViews:
    def test_a_function_of_seed_and_place(self, view: str) -> None:
        def drawn(seed: int, place: Place) -> tuple[list[float], list[float]]:
            found = with_view(source(view, seed=seed, drop_rate=0.5), place=place)[1]
            return found.x.flatten().tolist(), dense(found).flatten().tolist()

        first = drawn(0, (1, 2))
        assert first == drawn(0, (1, 2))
        assert first not in [drawn(0, (1, 3)), drawn(0, (2, 2)), drawn(1, (1, 2))]

    def test_rate_zero_changes_nothing(self, view: str) -> None:
        graphs, found = with_view(source(view, drop_rate=0.0))
        np.testing.assert_array_equal(dense(found), dense(graphs))
        assert torch.equal(found.x, graphs.x)
        assert torch.equal(found.adjacency.missing_loops, graphs.adjacency.missing_loops)

    def test_the_edges_are_symmetric_and_changed_as_named(self, view: str) -> None:
        graphs, found = with_view(source(view, drop_rate=0.5))
        A, changed = dense(graphs), dense(found)
        np.testing.assert_array_equal(changed, changed.T)
        fewer_nodes = view in ("node-drop", "subgraph")
        assert (len(changed) < len(A)) == fewer_nodes
        assert len(found.x) == len(changed)
        if view == "attribute-mask":
            np.testing.assert_array_equal(changed, A)
            hidden = (found.x == 0).all(dim=1)
            assert 0 < hidden.sum() < len(hidden)
            assert torch.equal(found.x[~hidden], graphs.x[~hidden])
        elif fewer_nodes:
            assert set(map(tuple, found.x.tolist())) <= set(map(tuple, graphs.x.tolist()))
        else:
            assert torch.equal(found.x, graphs.x)
            assert (changed != A).any()
            assert (changed <= A).all() == (view == "edge-drop")

    def test_alike_nodes_stay_apart(self, view: str) -> None:
        graphs = from_edges([12], *np.triu_indices(12, 1))
        settings = View(view=view)
        made = Source(graphs, FeatureMap.fit(graphs), HOST, view=settings, cache=False, merge=True)
        assert made.batch(np.array([0])).counts is None


class TestTwoViews:
    """What GraphCL contrasts."""

    def test_two_kinds_for_each_graph(self) -> None:
        made = Source(GRAPHS, FeatureMap.fit(GRAPHS), HOST)
        kinds = ("node-drop", "attribute-mask")
        first, second = made.two_views(ALL, (0, 0), kinds, 0.5)
        sizes = GRAPHS.node_counts()
        for one, other in ((first, second), (second, first)):
            smaller = one.ptr.diff().numpy() < sizes
            assert smaller.any()
            # A graph that has lost nodes on one side has only hidden features on the other.
            assert (other.ptr.diff().numpy()[smaller] == sizes[smaller]).all()

    def test_the_same_place_gives_the_same_views(self) -> None:
        made = Source(GRAPHS, FeatureMap.fit(GRAPHS), HOST)

        def drawn(place: Place) -> list[list[float]]:
            views = made.two_views(ALL, place, ("edge-perturb", "subgraph"), 0.5)
            return [dense(view).flatten().tolist() for view in views]

        assert drawn((1, 2)) == drawn((1, 2)) != drawn((1, 3))

    @pytest.mark.parametrize("kind", ["ppr", "heat"])
    def test_a_diffusion_alone_is_compared_with_the_graph(self, kind: str) -> None:
        made = source(kind)
        graphs, expected = with_view(made)
        first, second = made.two_views(ALL, (0, 0), (kind,), 0.5)
        np.testing.assert_array_equal(dense(first), dense(graphs))
        np.testing.assert_array_equal(dense(second), dense(expected))
        assert first.adjacency.missing_loops.all()
        assert not second.adjacency.missing_loops.any()
        assert torch.equal(first.x, second.x)

    def test_a_diffusion_beside_a_random_view(self) -> None:
        made = source()
        graphs, diffused = with_view(made)
        A, S = dense(graphs), dense(diffused)
        views = made.two_views(ALL, (0, 0), ("ppr", "node-drop"), 0.5)
        sides = []
        for view in views:
            changed, node = dense(view), 0
            is_diffused = []
            for g, size in enumerate(GRAPHS.node_counts()):
                start, stop = int(view.ptr[g]), int(view.ptr[g + 1])
                block, whole = changed[start:stop, start:stop], slice(node, node + size)
                loops = view.adjacency.missing_loops[start:stop]
                is_diffused.append(not loops.any())
                if is_diffused[-1]:
                    np.testing.assert_array_equal(block, S[whole, whole])
                else:
                    assert loops.all()
                    assert len(block) <= size
                    assert block.sum() <= A[whole, whole].sum()
                node += size
            sides.append(is_diffused)
        # Each graph has the diffusion on exactly one side.
        assert [one != other for one, other in zip(*sides, strict=True)] == [True] * len(GRAPHS)
        assert any(sides[0])
        assert any(sides[1])


class TestAlikeNodes:
    def test_one_row_for_all_gives_the_same_model(self) -> None:
        """Losses, gradients and running statistics of a step are those of all nodes."""
        cliques = [(u, v) for u in range(4) for v in range(u)] + [(0, 4), (0, 5), (4, 5)]
        edges = np.concatenate([np.array(cliques) + 6 * g for g in range(4)])
        edges = np.concatenate([edges, [(1, 4), (7, 10)]])
        graphs = from_edges([6] * 4 + [3], *edges.T)
        features = FeatureMap.fit(graphs)
        found = {}
        for merge in (False, True):
            made = Source(graphs, features, HOST, view=SPEC, cache=False, merge=merge)
            torch.manual_seed(0)
            model = IGSDModel(Config(**TINY), Dims(features))
            batch, view = with_view(made, np.arange(5))
            (out,) = model.compare(batch, [view])
            (out.p.square().sum() + out.p_view.sin().sum()).backward()
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            found[merge] = [*out, *gradients, *model.buffers()]
            assert (batch.counts is not None) == merge
        for ours, plain in zip(found[True], found[False], strict=True):
            torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("view", [None, SPEC])
    def test_a_clique_is_one_row(self, view: View | None) -> None:
        graphs = from_edges([12], *np.triu_indices(12, 1))
        features, only = FeatureMap.fit(graphs), np.array([0])
        encoder = GNNEncoder("gin", features.dim, 4, 2).eval()
        whole, merged = (
            with_views(Source(graphs, features, HOST, view=view, cache=False, merge=merge), only)
            for merge in (False, True)
        )
        pairs = list(zip((whole[0], *whole[1]), (merged[0], *merged[1]), strict=True))
        assert len(pairs) == (1 if view is None else 2)
        for plain, one_row in pairs:
            assert len(one_row.x) == 1 < len(plain.x)
            torch.testing.assert_close(encoder(plain), encoder(one_row), rtol=1e-4, atol=1e-5)

    def test_rows_with_a_fixed_number_of_entries_are_never_merged(self) -> None:
        graphs = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
        features = FeatureMap.fit(graphs)
        made = Source(graphs, features, HOST, view=View(top_k=2), cache=False, merge=True)
        assert made.batch(np.array([0])).counts is None


def categories(batch: Batch) -> dict[tuple[int, ...], int]:
    assert isinstance(batch, MoleculeBatch)
    places = [tuple(place) for place in batch.edge_index.T.tolist()]
    return dict(zip(places, batch.category.tolist(), strict=True))


class TestMolecules:
    @pytest.mark.parametrize("links", [True, False])
    def test_one_view_for_each_kind_of_bond(self, links: bool) -> None:
        made = molecule_source("bond-types", links=links, num_views=3)
        molecules, views = with_views(made, CHOSEN)
        assert molecules.num_graphs == len(views) == 3
        for bond, view in zip(bond_types(MOLECULES, 3), views, strict=True):
            expected = diffusion_view(only_bonds(MOLECULES.take(CHOSEN), bond), SPEC)
            np.testing.assert_array_equal(view.edge_weight.numpy(), expected.weight)
            assert view.x is molecules.x
            assert isinstance(view, MoleculeBatch) == links
            if isinstance(view, MoleculeBatch):
                assert set((view.category // LINKS.num_bins).tolist()) == {LINKS.bond_code(bond)}

    def test_a_diffusion_of_all_bonds_keeps_their_kinds(self) -> None:
        molecules, view = with_view(molecule_source("ppr"), CHOSEN)
        known = categories(molecules)
        for place, category in categories(view).items():
            if place[0] != place[1]:
                assert category == known[place]
            else:
                assert category // LINKS.num_bins == LINKS.no_bond

    def test_links_go_at_random_and_the_same_again(self) -> None:
        def drawn(seed: int, place: Place) -> torch.Tensor:
            made = molecule_source("edge-drop", seed=seed, drop_rate=0.5)
            molecules, view = with_view(made, CHOSEN, place)
            pairs, kept = categories(molecules), categories(view)
            assert 0 < len(kept) < len(pairs)
            assert all(pairs[place] == category for place, category in kept.items())
            assert all(place[::-1] in kept for place in kept)
            return view.edge_index

        first = drawn(0, (1, 2))
        assert torch.equal(first, drawn(0, (1, 2)))
        others = [drawn(*other) for other in ((0, (1, 3)), (1, (1, 2)))]
        assert not any(torch.equal(first, other) for other in others)

    @pytest.mark.parametrize("view", ["node-drop", "subgraph"])
    def test_atoms_go_with_their_links(self, view: str) -> None:
        made = molecule_source(view, drop_rate=0.5)
        molecules, found = with_view(made)
        assert (found.ptr.diff() > 0).all()
        assert len(found.x) < len(molecules.x)
        assert len(found.edge_index.T) < len(molecules.edge_index.T)
        # All that is left of a molecule is linked as it was: kinds and distances of its pairs.
        for g in range(len(MOLECULES)):
            whole, part = (_links_of(batch, g) for batch in (molecules, found))
            assert all(part.count(kind) <= whole.count(kind) for kind in part)
        for place, category in categories(found).items():
            assert categories(found)[place[::-1]] == category

    def test_each_molecule_changes_by_its_own_kind(self) -> None:
        made = molecule_source("edge-drop")
        molecules = made.batch(ALL)
        views = made.two_views(ALL, (0, 0), ("attribute-mask", "edge-drop"), 0.5)
        for g in range(len(MOLECULES)):
            # One view of each molecule is masked and keeps its links.
            assert _links_of(molecules, g) in [_links_of(view, g) for view in views]
        assert all(len(view.category) < len(molecules.category) for view in views)
        assert all((view.x == 0).all(dim=1).any() for view in views)

    def test_hidden_atoms_keep_their_links(self) -> None:
        molecules, found = with_view(molecule_source("attribute-mask", drop_rate=0.5))
        assert categories(found) == categories(molecules)
        hidden = (found.x == 0).all(dim=1)
        assert 0 < hidden.sum() < len(hidden)
        assert torch.equal(found.x[~hidden], molecules.x[~hidden])

    @pytest.mark.parametrize("view", ["node-drop", "attribute-mask", "subgraph"])
    def test_rate_zero_changes_nothing(self, view: str) -> None:
        molecules, found = with_view(molecule_source(view, drop_rate=0.0))
        assert categories(found) == categories(molecules)
        assert torch.equal(found.x, molecules.x)
        joined = Batch.joined([molecules, found])
        assert isinstance(joined, MoleculeBatch)
        assert joined.num_graphs == 2 * len(MOLECULES)


def _links_of(batch: Batch, graph: int) -> list[int]:
    """Return the categories of the links of one molecule."""
    assert isinstance(batch, MoleculeBatch)
    return batch.category[batch.batch[batch.edge_index[0]] == graph].tolist()


def test_by_size() -> None:
    made = molecule_source("ppr")
    sizes = MOLECULES.node_counts()[made.by_size(CHOSEN)]
    assert sizes.tolist() == sorted(sizes.tolist())


@pytest.mark.parametrize("changes", [{}, {"view": "edge-drop"}, {"view": "bond-types"}])
def test_batches_prepared_on_the_way_are_the_same(changes: dict[str, Any]) -> None:
    graphs, view = make_molecules(), View(**changes)
    features, indices = FeatureMap.fit(graphs), np.array([4, 1, 3])
    options: dict[str, Any] = {"view": view, "seed": 7}
    whole = Source(graphs, features, HOST, cache=False, **options)
    passing = PassingSource(graphs, features, HOST, **options)
    assert np.array_equal(passing.by_size(indices), whole.by_size(indices))
    first, second = whole.batch(indices), passing.batch(indices)
    pairs = [(first, second)]
    place = (2, 5)
    views = whole.views(first, indices, place), passing.views(second, indices, place)
    pairs += zip(*views, strict=True)
    kinds = ("edge-drop", "node-drop")
    pairs += zip(*(s.two_views(indices, place, kinds, 0.4) for s in (whole, passing)), strict=True)
    for one, two in pairs:
        assert torch.equal(one.x, two.x)
        assert torch.equal(one.edge_index, two.edge_index)
        assert torch.equal(one.edge_weight, two.edge_weight)


def test_only_large_sets_are_prepared_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs(4)
    assert type(make_source(graphs, FeatureMap.fit(graphs), HOST)) is Source
    monkeypatch.setattr(source_module, "MOST_NODES", 3)
    assert type(make_source(graphs, FeatureMap.fit(graphs), HOST)) is PassingSource
