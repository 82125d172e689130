from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import igsd.views.cache as view_cache
from igsd.errors import ConfigError, DataError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.views.bond_types import bond_type_view, bond_types, only_bonds
from igsd.views.spec import ViewSpec
from tests.small_molecules import make_molecules

SPEC = ViewSpec()


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
        ConfigError, match=r"num_views, .* from 1 to 2, .*\(single, double\). Got 3 instead"
    ):
        bond_types(chain(), 3)
    with pytest.raises(ConfigError, match="Got 0 instead"):
        bond_types(chain(), 0)
    with pytest.raises(DataError, match="need edge labels, but 'molecules' has none"):
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
    asked = ViewSpec(kind="bond-types", num_views=2)
    found = bond_type_view(graphs, "single", asked, cache=False)
    expected = bond_type_view(graphs, "single", SPEC, cache=False)
    np.testing.assert_array_equal(found.weight, expected.weight)  # type: ignore[arg-type]
    assert asked.relevant()["num_views"] == 2
    assert not asked.is_diffusion  # several matrices, so none for diffusion_view
