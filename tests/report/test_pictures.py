from __future__ import annotations

import sys

import numpy as np
import pytest

import igsd
from igsd.errors import ConfigError, DataError
from igsd.report.projection import project
from tests.small_graphs import make_graphs

VECTORS = np.random.default_rng(0).normal(size=(12, 4))


def test_points_and_a_figure() -> None:
    made = igsd.map(VECTORS, classes=["a", "b"] * 6, title="twelve")
    assert np.array_equal(made.points, project(VECTORS).points)
    (axes,) = made.figure.axes
    assert axes.get_title() == "twelve"
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["class a (6)", "class b (6)"]
    with pytest.raises(DataError, match="Got 2 classes for 12 graphs"):
        igsd.map(VECTORS, classes=["a", "b"])


def test_graphs_by_a_model_are_coloured_by_their_classes() -> None:
    graphs = make_graphs(8, classes=True)
    made = igsd.map(graphs, model=igsd.make_method("histogram").fit(graphs))
    assert made.points.shape == (8, 2)
    assert made.figure.axes[0].get_legend() is not None


def test_tsne_needs_no_other_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    first, second, other = (
        igsd.map(VECTORS, "tsne", random_state=seed).points for seed in (0, 0, 1)
    )
    assert np.array_equal(first, second)
    assert first.shape == other.shape == (12, 2)
    assert np.isfinite(first).all()


def test_umap_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ConfigError, match=r"igsd\[maps\]"):
        igsd.map(VECTORS, "umap")
