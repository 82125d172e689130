"""What graphs carry reaches the vectors, and what does not is said."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd import IGSD, make_method
from igsd.errors import ConfigError, DataError, IGSDWarning
from tests.small_graphs import TINY


def networks(seed: int = 0, *, directed: bool = False, count: int = 8) -> list[nx.Graph]:
    rng = np.random.default_rng(seed)
    graphs = []
    for n in range(6, 6 + count):
        graph = nx.gnp_random_graph(n, 0.4, seed=n, directed=directed)
        for _, _, data in graph.edges(data=True):
            data["weight"] = float(rng.integers(1, 5))
        graphs.append(graph)
    return graphs


def vectors(graphs: list[nx.Graph], **changes: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)
        return IGSD(**TINY | changes).fit_transform(graphs)


def relabelled(graph: nx.Graph, seed: int) -> nx.Graph:
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    result = type(graph)()
    result.add_nodes_from((order[v], dict(graph.nodes[v])) for v in np.argsort(order).tolist())
    result.add_edges_from((order[u], order[v], data) for u, v, data in graph.edges(data=True))
    return result


@settings(max_examples=3, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["gin", "gcn", "gine"]), st.sampled_from([0, 2000])
)
def test_weights_of_one_are_no_weights(seed: int, encoder: str, exact_limit: int) -> None:
    graphs = networks(seed)
    for graph in graphs:
        nx.set_edge_attributes(graph, 1.0, "weight")
    bare = [nx.create_empty_copy(graph) for graph in graphs]
    for graph, original in zip(bare, graphs, strict=True):
        graph.add_edges_from(original.edges)
    changes = {"encoder": encoder, "exact_limit": exact_limit}
    np.testing.assert_array_equal(vectors(graphs, **changes), vectors(bare, **changes))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["gin", "gcn", "gine"]), st.booleans())
def test_the_numbering_of_nodes_changes_nothing(seed: int, encoder: str, directed: bool) -> None:
    graphs = networks(seed, directed=directed)
    for graph in graphs:
        for v, data in graph.nodes(data=True):
            data |= {"age": float(v), "club": "xyz"[v % 3]}
    changes = {"encoder": encoder, "directed": "both" if encoder == "gine" else "ignore"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)
        model = IGSD(**TINY | changes).fit(graphs)
        one = model.transform(graphs)
        two = model.transform([relabelled(graph, seed) for graph in graphs])
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("encoder", ["gin", "gcn", "gine", "mpnn"])
def test_weights_change_vectors_and_can_be_left_out(encoder: str) -> None:
    graphs = networks()
    used = vectors(graphs, encoder=encoder)
    left_out = vectors(graphs, encoder=encoder, edge_weight=None)
    bare = [nx.create_empty_copy(graph) for graph in graphs]
    for graph, original in zip(bare, graphs, strict=True):
        graph.add_edges_from(original.edges)
    np.testing.assert_array_equal(left_out, vectors(bare, encoder=encoder))
    assert not np.allclose(used, left_out)


@pytest.mark.parametrize("view", ["ppr", "heat", "edge-drop", "node-drop", "subgraph"])
@pytest.mark.parametrize("encoder", ["gin", "gine"])
def test_weights_under_every_view(encoder: str, view: str) -> None:
    assert np.isfinite(vectors(networks(), encoder=encoder, view=view)).all()


def test_directions_are_two_kinds_of_edges() -> None:
    one_way = [nx.DiGraph([(i, i + 1) for i in range(n)]) for n in range(4, 10)]
    inwards = [nx.DiGraph([(i, n // 2) for i in range(n) if i != n // 2]) for n in range(4, 10)]
    outwards = [graph.reverse() for graph in inwards]
    graphs = one_way + inwards + outwards
    both = vectors(graphs, encoder="gine", directed="both")
    ignored = vectors(graphs, encoder="gine")
    assert not np.allclose(both[6:12], both[12:], atol=1e-4)
    np.testing.assert_allclose(ignored[6:12], ignored[12:], atol=1e-5)
    with pytest.raises(ConfigError, match=r"directed='both'.*encoder='gin' does not"):
        IGSD(**TINY, directed="both", encoder="gin").fit(graphs)


def test_edge_labels_and_attributes_reach_gine() -> None:
    graphs, others = networks(), networks()
    for place, graph in enumerate([*graphs, *others]):
        kind = "a" if place < len(graphs) else "b"
        nx.set_edge_attributes(graph, kind, "label")
        nx.set_edge_attributes(graph, 1.0 if kind == "a" else 7.0, "length")
    rows = vectors(graphs + others, encoder="gine")
    assert not np.allclose(rows[: len(graphs)], rows[len(graphs) :])


def test_what_is_not_seen_is_said() -> None:
    graphs = networks(directed=True)
    for graph in graphs:
        nx.set_edge_attributes(graph, "a", "label")
        nx.set_node_attributes(graph, "2020-01-01", "born")
    graphs[0].add_edge(0, 0)
    with pytest.warns(IGSDWarning) as caught:
        model = IGSD(**TINY, encoder="gin").fit(graphs)
    said = [str(warning.message).removeprefix("'graphs': ") for warning in caught]
    assert [text.split(":")[0] for text in said] == [
        "node attribute 'born' not used",
        "edge label not used",
        "edge direction not used",
        "1 self loop dropped.",
    ]
    assert model.features_.edge_weight == "weight"
    assert len(model.features_.unused) == 3
    with pytest.warns(IGSDWarning, match="not use the edge weights or edge directions"):
        assert make_method("wl").fit(graphs).notes_
    with pytest.warns(IGSDWarning, match="1 self loop dropped"):
        make_method("wl").fit(graphs)


def test_what_a_recipe_leaves_out_is_said() -> None:
    graphs = networks()
    for graph in graphs:
        nx.set_node_attributes(graph, {v: float(v) for v in graph}, "age")
    with pytest.warns(IGSDWarning, match="attribute 'age' left out by node_features='degree'"):
        IGSD(**TINY, recipe="social").fit(graphs)


def test_what_new_graphs_lack_or_have_besides_is_said() -> None:
    graphs, others = networks(), networks()
    for place, graph in enumerate((*graphs, *others)):
        club = {v: "xy"[v % 2] if place < len(graphs) else "z" for v in graph}
        nx.set_node_attributes(graph, club, "club")
        nx.set_edge_attributes(graph, {e: club[e[0]] for e in graph.edges}, "tie")
    for graph in others:
        for *_, data in graph.edges(data=True):
            data.pop("weight")
    model = IGSD(**TINY, encoder="gine").fit(graphs)
    with pytest.warns(IGSDWarning) as caught:
        model.transform(others)
    said = " ".join(str(warning.message) for warning in caught)
    assert "have no 'weight'" in said
    for kind in ("node attribute 'club'", "edge attribute 'tie'"):
        assert f"{kind} has values in 'graphs' that the model has not seen (z)" in said


def test_attributes_by_name_and_files(tmp_path: Any) -> None:
    graphs = networks()
    for graph in graphs:
        for v, data in graph.nodes(data=True):
            data |= {"age": float(v), "club": "xyz"[v % 3]}
    model = IGSD(**TINY, node_attributes=["club"]).fit(graphs)
    assert model.features_.categories == (("club", ("x", "y", "z")),)
    assert model.config_.node_attributes == "club"
    model.save(tmp_path / "model")
    loaded = IGSD.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(graphs), model.transform(graphs))
    assert str(loaded.features_) == str(model.features_)
    with pytest.raises(ConfigError, match="names without commas"):
        IGSD(**TINY, node_attributes=["a,b"]).fit(graphs)


class Narrow(torch.nn.Module):
    """An encoder for another number of node features, or of another width than it says."""

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.linear, self.out_dim = torch.nn.Linear(in_dim, 4), out_dim

    def forward(self, batch: Any) -> torch.Tensor:
        h = self.linear(batch.x)
        return torch.zeros(batch.num_graphs, 4).index_add(0, batch.batch, h)


def test_an_own_encoder_that_does_not_fit() -> None:
    graphs = networks()
    wide: Any = Narrow
    with pytest.raises(ConfigError, match=r"is a class. Call it.*encoder=Narrow\(...\)"):
        IGSD(**TINY, encoder=wide).fit(graphs)
    with pytest.raises(ConfigError, match=r"batch.x \[nodes, \d+\].*Narrow fails on them"):
        IGSD(**TINY, encoder=Narrow(3, 4)).fit(graphs)
    dim = IGSD(**TINY | {"epochs": 0}).fit(graphs).features_.dim
    with pytest.raises(ConfigError, match=r"one row of out_dim=5 numbers.*shape \[2, 4\]"):
        IGSD(**TINY, encoder=Narrow(dim, 5)).fit(graphs)
    assert IGSD(**TINY, encoder=Narrow(dim, 4)).fit_transform(graphs).shape == (8, 4)


def test_the_recipe_of_the_graphs_sees_their_edges() -> None:
    graphs = networks()
    assert IGSD(**TINY).fit(graphs).recipe_ == "social"
    for graph in graphs:
        nx.set_edge_attributes(graph, {e: "ab"[sum(e) % 2] for e in graph.edges}, "label")
    model = IGSD(**TINY).fit(graphs)
    assert (model.recipe_, model.config_.encoder) == ("networks", "gine")
    assert model.features_.unused == ()
    assert IGSD(**TINY, edge_weight=None).fit(graphs).features_.edge_weight == ""


def by_direction(swapped: bool) -> list[nx.Graph]:
    """Return networks whose edges go both ways, and differ in kind and length."""
    graphs, rng = [], np.random.default_rng(0)
    for n in range(6, 14):
        graph = nx.gnp_random_graph(n, 0.4, seed=n).to_directed()
        for u, v in list(graph.edges):
            if u < v:
                kinds, lengths = rng.choice(["a", "b", "c"], 2), rng.random(2)
                for place, (x, y) in enumerate(((u, v), (v, u))):
                    data = {"label": str(kinds[place]), "length": float(lengths[place])}
                    graph.edges[(y, x) if swapped else (x, y)].update(data)
        graphs.append(graph)
    return graphs


@pytest.mark.parametrize("encoder", ["gine", "mpnn"])
def test_kinds_by_direction_are_ignored_with_it(encoder: str) -> None:
    graphs, swapped = by_direction(False), by_direction(True)
    with pytest.warns(IGSDWarning, match="a pair of kinds is a kind, numbers are means"):
        model = IGSD(**TINY, encoder=encoder).fit(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)
        np.testing.assert_array_equal(model.transform(graphs), model.transform(swapped))
    both = IGSD(**TINY, encoder=encoder, directed="both").fit(graphs)
    assert not np.allclose(both.transform(graphs), both.transform(swapped))
    assert "edge direction" not in str(both.features_)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_numbers_that_are_not_used_may_be_anything(value: float) -> None:
    graphs = networks()
    for graph in graphs:
        nx.set_node_attributes(graph, {v: float(v) for v in graph}, "age")
        nx.set_node_attributes(graph, {v: float(v % 3) for v in graph}, "size")
    clean = IGSD(**TINY, node_attributes=["size"]).fit(graphs)
    graphs[2].nodes[4]["age"] = value
    said = r"node 4 of graph 2 of 'graphs' has age (nan|inf)\. .*node_attributes=\[...\], or None"
    with pytest.raises(DataError, match=said):
        IGSD(**TINY).fit(graphs)
    with pytest.raises(DataError, match=said):
        IGSD(**TINY, node_attributes=["age"]).fit(graphs)
    model = IGSD(**TINY, node_attributes=["size"]).fit(graphs)
    np.testing.assert_array_equal(model.transform(graphs), clean.transform(graphs))
    assert "node attribute 'age' left out by node_attributes" in str(model.features_)
    assert np.isfinite(IGSD(**TINY, node_attributes=None).fit_transform(graphs)).all()
    seen = IGSD(**TINY).fit(graphs[:2])
    with pytest.raises(DataError, match="node 4 of graph 0 of 'graphs' has age"):
        seen.transform(graphs[2:])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_numbers_of_edges_that_are_not_used_may_be_anything(value: float) -> None:
    graphs = networks()
    u, v = next(iter(graphs[2].edges))
    graphs[2].edges[u, v]["weight"] = value
    said = rf"nodes {u} and {v} of graph 2 of 'graphs' has weight (nan|inf).*--set edge_weight=none"
    with pytest.raises(DataError, match=said):
        IGSD(**TINY).fit(graphs)
    assert np.isfinite(vectors(graphs, edge_weight=None, encoder="gine")).all()
    for graph in graphs:
        for *_, data in graph.edges(data=True):
            data["length"] = data.pop("weight")
    assert np.isfinite(vectors(graphs, encoder="gin")).all()
    with pytest.raises(DataError, match=r"has length (nan|inf).*use encoder='gin'"):
        IGSD(**TINY, encoder="gine").fit(graphs)
