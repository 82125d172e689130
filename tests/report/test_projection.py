from __future__ import annotations

import sys

import numpy as np
import pytest

from igsd.errors import ConfigError
from igsd.report.projection import framed, main_directions, project

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(30, 5))


def test_pca_names_the_variance() -> None:
    made = project(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]))
    assert made.points.shape == (3, 2)
    assert made.x_title == "first principal component (100 % of the variance)"


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ConfigError, match=r"igsd\[maps\]"):
        project(VECTORS, "umap")


@pytest.mark.slow
@pytest.mark.parametrize(("method", "module"), [("umap", "umap"), ("tsne", "openTSNE")])
@pytest.mark.parametrize("count", [5, 30])
def test_other_maps_are_always_the_same(method: str, module: str, count: int) -> None:
    pytest.importorskip(module)
    first, second = (project(VECTORS[:count], method).points for _ in range(2))
    assert first.shape == (count, 2)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)


def test_too_few_graphs_or_no_such_map() -> None:
    with pytest.raises(ConfigError, match="at least 5 graphs"):
        project(VECTORS[:4], "umap")
    with pytest.raises(ConfigError, match="made by one of"):
        project(VECTORS, "art")


def test_main_directions_are_those_of_pca() -> None:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    vectors = RNG.normal(size=(50, 6)) @ RNG.normal(size=(6, 6))
    points, shares = main_directions(vectors)
    pca = PCA(2)
    expected = pca.fit_transform(StandardScaler().fit_transform(vectors))
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_, atol=1e-9)


@pytest.mark.parametrize("shape", [(1, 4), (5, 1), (3, 2)])
def test_small_and_constant_sets_have_directions(shape: tuple[int, int]) -> None:
    points, shares = main_directions(np.ones(shape))
    assert points.shape == (shape[0], 2)
    assert np.isfinite(points).all()
    assert np.isfinite(shares).all()


def test_a_few_far_points_are_drawn_at_the_edge() -> None:
    """Two of 500 graphs had squeezed all others into a line."""
    points = np.random.default_rng(0).normal(size=(200, 2))
    assert framed(points)[0] is points
    far = points.copy()
    far[:2, 0] = 300.0
    moved, note = framed(far)
    assert note == "2 graphs lie far outside and are drawn at the edge"
    assert 2 < moved[0, 0] == moved[1, 0] < 8
    np.testing.assert_array_equal(moved[2:], points[2:])
    np.testing.assert_array_equal(moved[:, 1], points[:, 1])
    few = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [500.0, 1.0]])
    assert framed(few)[0] is few, "one of four is not a few"
    assert framed(np.zeros((5, 2)))[1] == ""
