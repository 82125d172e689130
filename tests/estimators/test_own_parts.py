"""Views, losses and encoders of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone

from igsd import IGSD, IGSDClassifier
from igsd.baselines.neural.two_views import BYOL, BarlowTwins
from igsd.batches.molecules import MoleculeBatch
from igsd.errors import ConfigError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from igsd.losses.contrastive import consistency, infonce
from igsd.training.fit import fit_features
from igsd.views.random import viewed
from igsd.views.source import Source
from tests.own_parts import Write, write_module
from tests.small_graphs import HOST, TINY, make_graphs

__all__ = ["write_module"]


@pytest.fixture
def graphs() -> GraphSet:
    return make_graphs(classes=True)


def squared(A: Any, seed: int) -> Any:
    return A @ A


def thinned(A: Any, seed: int) -> Any:
    kept = sparse.triu(A) * (np.random.default_rng(seed).random(A.shape) < 0.7)
    return sparse.csr_array(kept + kept.T)


def same(p: Any, p_view: Any, z: Any, z_view: Any) -> Any:
    return infonce(consistency(p, p_view, z, z_view), 0.2)


def pulled(p: Any, p_view: Any, z: Any, z_view: Any) -> Any:
    return (p - z_view).square().mean() + (p_view - z).square().mean()


@pytest.mark.parametrize("method", [IGSD, BarlowTwins, BYOL])
@pytest.mark.parametrize("view", [squared, thinned])
def test_a_view(method: Any, graphs: GraphSet, view: Any) -> None:
    model = method(**TINY, view=view)
    vectors = model.fit_transform(graphs)
    assert np.isfinite(vectors).all()
    assert model.config_.view == f"{__name__}:{view.__name__}"
    np.testing.assert_array_equal(clone(model).fit_transform(graphs), vectors)
    assert not np.array_equal(method(**TINY).fit_transform(graphs), vectors)


def test_a_view_gets_each_graph_and_its_seed(graphs: GraphSet) -> None:
    seen: list[tuple[int, int]] = []

    def note(A: Any, seed: int) -> Any:
        seen.append((A.shape[0], seed))
        A.data[:] = 7.0  # its own copy
        return A

    ids = np.arange(len(graphs))
    before = graphs.adjacency.col.copy()
    S = viewed(note, graphs.adjacency, graphs.node_ptr, ids, 3)
    assert [n for n, _ in seen] == graphs.node_counts().tolist()
    assert len({seed for _, seed in seen}) == len(graphs)
    assert all(0 <= seed < 2**32 for _, seed in seen)
    np.testing.assert_array_equal(S.col, before)
    assert set(S.weight.tolist()) == {7.0}
    first = seen.copy()
    seen.clear()
    viewed(note, graphs.adjacency, graphs.node_ptr, ids, 3)
    assert seen == first
    seen.clear()
    viewed(note, graphs.adjacency, graphs.node_ptr, ids, 4)
    assert seen != first


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda A, seed: A[:1], "shape .* for a graph of"),
        (lambda A, seed: sparse.triu(A), "not symmetric"),
        (lambda A, seed: -A, "negative"),
        (lambda A, seed: A * np.nan, "not finite"),
        (lambda A, seed: None, "NoneType"),
    ],
    ids=["shape", "asymmetric", "negative", "nan", "none"],
)
def test_what_is_not_a_view(graphs: GraphSet, view: Any, message: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"'view' parameter of IGSD.*lambda_ returned.*{message}"
    ):
        IGSD(**TINY, view=view).fit(graphs)


def broken(*args: Any) -> Any:
    raise KeyError("age")


def test_a_view_that_raises_is_named(graphs: GraphSet) -> None:
    said = r"'view' parameter of IGSD must be .*:broken raised KeyError: 'age' \(test_own"
    with pytest.raises(ConfigError, match=said) as caught:
        IGSD(**TINY, view=broken).fit(graphs)
    assert isinstance(caught.value.__cause__.__cause__ or caught.value.__cause__, KeyError)  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match=r"lambda_ raised TypeError: .*positional argument"):
        IGSD(**TINY, view=lambda A: A).fit(graphs)
    with pytest.raises(ConfigError, match=r"'view' parameter of BYOL must"):
        BYOL(**TINY, view=broken).fit(graphs)


def test_the_line_of_the_user_is_named(graphs: GraphSet) -> None:
    def solve(A: Any, seed: int) -> Any:
        return np.linalg.inv(np.zeros((2, 2)))

    with pytest.raises(ConfigError, match=r"LinAlgError: Singular.* \(test_own_parts.py, line"):
        IGSD(**TINY, view=solve).fit(graphs)


def test_the_traceback_is_printed_on_request(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for value, shown in (("0", False), ("1", True)):
        monkeypatch.setenv("IGSD_TRACEBACK", value)
        with pytest.raises(ConfigError):
            IGSD(**TINY, view=broken).fit(graphs)
        assert ("Traceback (most recent call last)" in capsys.readouterr().err) is shown


def test_a_loss(graphs: GraphSet) -> None:
    plain = IGSD(**TINY, temperature=0.2).fit(graphs)
    model = IGSD(**TINY, temperature=0.2, loss=same).fit(graphs)
    np.testing.assert_array_equal(model.transform(graphs), plain.transform(graphs))
    other = IGSD(**TINY, loss=pulled).fit(graphs)
    assert not np.array_equal(other.transform(graphs), plain.transform(graphs))


def test_a_loss_with_labels(graphs: GraphSet) -> None:
    y = [c if i % 3 else None for i, c in enumerate(graphs.classes)]  # type: ignore[arg-type]
    chosen = {"epochs": 1, "self_weight": 1.0, "self_training": False}
    model = IGSDClassifier(**chosen, loss=pulled, view=squared)
    assert model.fit(graphs, y).predict(graphs).shape == (len(graphs),)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda p, q, z, w: 1.0, "returned float"),
        (lambda p, q, z, w: p, "returned shape"),
        (lambda p, q, z, w: z.mean(), "returned one without a gradient"),
        (lambda p, q, z, w: p.mean() * float("nan"), "returned nan"),
        (lambda p, q: p.mean(), "lambda_ raised TypeError"),
        (broken, ":broken raised KeyError: 'age'"),
        (torch.nn.Bilinear(2, 2, 1), "has weights of its own"),
    ],
    ids=["float", "rows", "gradient", "nan", "arguments", "raises", "weights"],
)
def test_what_is_not_a_loss(graphs: GraphSet, loss: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=rf"'loss' parameter of IGSD.*{message}"):
        IGSD(**TINY, loss=loss).fit(graphs)


class Sums(torch.nn.Module):
    """Adds up node features; misbehaves as it is told, from a number of graphs on."""

    out_dim = 3

    def __init__(self, in_dim: int, fault: str = "", least: int = 0) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(in_dim, 3)
        self.fault, self.least = fault, least

    def forward(self, batch: Any) -> Any:
        h = batch.x.new_zeros(batch.num_graphs, 3).index_add(0, batch.batch, self.linear(batch.x))
        if batch.num_graphs < self.least:
            return h
        if self.fault == "raise":
            raise KeyError("age")
        faults = {"nan": h * float("nan"), "rows": h[:1], "list": [h], "double": h.double()}
        return faults.get(self.fault, h)


@pytest.mark.parametrize("least", [0, 4], ids=["at once", "in training"])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raise", "raised KeyError: 'age' .*test_own_parts.py, line"),
        ("nan", "returned NaN or infinity"),
        ("rows", "returned (the )?shape"),
        ("list", "returned an object of type list"),
        ("double", "returned torch.float64 from node features of torch.float32"),
    ],
)
def test_what_is_not_an_encoder(graphs: GraphSet, fault: str, message: str, least: int) -> None:
    chosen = TINY | {"node_features": "degree"}
    width = IGSD(**chosen).fit(graphs).features_.dim
    with pytest.raises(ConfigError, match=rf"'encoder' parameter of IGSD must.*Sums {message}"):
        IGSD(**chosen | {"encoder": Sums(width, fault, least)}).fit(graphs)
    model = IGSD(**chosen | {"encoder": Sums(width)}).fit(graphs)
    model.network_.student.encoder.fault = fault
    with pytest.raises(ConfigError, match=rf"Sums {message}"):
        model.transform(graphs)


def test_a_lazy_encoder(graphs: GraphSet) -> None:
    encoder = Sums(1)
    encoder.linear = torch.nn.LazyLinear(3)
    with pytest.raises(ConfigError, match=r"must know the width of its layers.*Sums has lazy ones"):
        IGSD(**TINY | {"encoder": encoder}).fit(graphs)


def test_what_is_not_saved_is_said(graphs: GraphSet, tmp_path: Path) -> None:
    model = IGSD(**TINY, view=squared, loss=pulled).fit(graphs)
    with pytest.warns(IGSDWarning, match=r"not the view .*squared, the loss .*load\(path, view="):
        model.save(tmp_path / "m")
    loaded = IGSD.load(tmp_path / "m", view=squared, loss=pulled)
    np.testing.assert_array_equal(loaded.transform(graphs), model.transform(graphs))
    np.testing.assert_array_equal(loaded.fit_transform(graphs), model.transform(graphs))
    bare = IGSD.load(tmp_path / "m")  # enough for vectors
    np.testing.assert_array_equal(bare.transform(graphs), model.transform(graphs))
    with pytest.raises(ConfigError, match=r"view '.*squared' is your own.*load\(path, view="):
        bare.fit(graphs)
    with pytest.raises(TypeError, match="unexpected argument 'vieww'"):
        IGSD.load(tmp_path / "m", vieww=squared)


def test_names_that_packages_offer(write_module: Write, graphs: GraphSet, tmp_path: Path) -> None:
    text = """
import torch

def view(A, seed):
    return A @ A

def loss(p, p_view, z, z_view):
    return (p - z_view).square().mean()

class Sums(torch.nn.Module):
    out_dim = 3

    def __init__(self, in_dim):
        super().__init__()
        self.linear = torch.nn.Linear(in_dim, 3)

    def forward(self, batch):
        h = self.linear(batch.adjacency.multiply(batch.x, 1.0)).relu()
        return torch.zeros(batch.num_graphs, 3).index_add(0, batch.batch, h)
"""
    names = {"views": "twice = parts:view", "losses": "pull = parts:loss"}
    write_module("parts", text, names | {"encoders": "sums = parts:Sums"})
    model = IGSD(**TINY | {"encoder": "sums"}, view="twice", loss="pull").fit(graphs)
    vectors = model.transform(graphs)
    assert vectors.shape == (len(graphs), 3)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(IGSD.load(tmp_path / "m").transform(graphs), vectors)
    with pytest.raises(ConfigError, match=r"'view' parameter of IGSD must be one of .*'twice'"):
        IGSD(view="twicee").fit(graphs)


def test_a_place_in_the_settings_is_not_imported(write_module: Write, graphs: GraphSet) -> None:
    path = write_module("trap", "open('sprung', 'w').close()\n")
    for name in ("view", "loss", "encoder"):
        with pytest.raises(ConfigError, match="only its name is known here"):
            IGSD(**TINY | {name: "trap:x"}).fit(graphs)
    assert not (path.parent / "sprung").exists()


def linked_graphs(graphs: GraphSet) -> GraphSet:
    """Return graphs whose edges have the kinds a and b."""
    kinds = np.tile(np.arange(graphs.num_edges, dtype=np.int32) % 2, 2)  # one way, then the other
    return make_graphs(classes=True, edge_labels=kinds, edge_label_names=("a", "b"))


def emptied(A: Any, seed: int) -> Any:
    return 0 * A


@pytest.mark.parametrize("view", [squared, thinned, emptied])
@pytest.mark.parametrize("encoder", ["gine", "mpnn"])
def test_a_view_and_the_kinds_of_edges(graphs: GraphSet, encoder: str, view: Any) -> None:
    linked = linked_graphs(graphs)
    model = IGSD(**TINY, encoder=encoder, view=view)
    vectors = model.fit_transform(linked)
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(clone(model).fit_transform(linked), vectors)


def test_the_recipe_of_the_graphs_takes_a_view(graphs: GraphSet) -> None:
    model = IGSD(**TINY, view=thinned).fit(linked_graphs(graphs))
    assert (model.recipe_, model.config_.encoder) == ("networks", "gine")


def test_kept_edges_have_their_kind_and_added_ones_none(graphs: GraphSet) -> None:
    linked = linked_graphs(graphs)
    features = fit_features(linked, IGSD(encoder="gine")._config_of_fit())
    assert features.links is not None
    source = Source(linked, features, HOST, own_view=lambda A, seed: A + A @ A)
    every = np.arange(len(linked))
    batch = source.batch(every)
    (seen,) = source.views(batch, every, (0, 0))
    assert isinstance(batch, MoleculeBatch)
    assert isinstance(seen, MoleculeBatch)
    kinds = dict(zip(zip(*batch.edge_index.tolist(), strict=True), batch.category, strict=True))
    added = 0
    links = zip(zip(*seen.edge_index.tolist(), strict=True), seen.category, strict=True)
    for ends, category in links:
        added += ends not in kinds
        assert category == kinds.get(ends, features.links.no_bond)
    assert added > 0
