from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from igsd.report.embedding_plot import (
    _numbers,
    main_directions,
    save_embedding_plot,
    save_number_plot,
)

RNG = np.random.default_rng(0)


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


@pytest.mark.parametrize("classes", [None, np.arange(30) % 3, np.arange(30) % 3 - 1])
def test_writes_a_picture_without_pyplot(tmp_path: Path, classes: np.ndarray | None) -> None:
    names = () if classes is None else ("a", "b", "c")
    save_embedding_plot(tmp_path / "p.png", RNG.normal(size=(30, 4)), classes, names, "title")
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert "matplotlib.pyplot" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


def test_numbers_have_a_scale_and_unknown_ones_none(tmp_path: Path) -> None:
    vectors = RNG.normal(size=(30, 4))
    values = np.where(np.arange(30) % 3, np.arange(30.0), np.nan)
    for name, numbers in (("some", values), ("none", np.full(30, np.nan)), ("one", np.ones(30))):
        save_number_plot(tmp_path / f"{name}.png", vectors, numbers, "logBB", "title")
        assert (tmp_path / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(("known", "num_axes"), [(20, 2), (0, 1)])
def test_an_outlier_does_not_rule_the_scale(known: int, num_axes: int) -> None:
    values = np.where(np.arange(30) < known, np.arange(30.0), np.nan)
    values[:known][:1] = 1e6
    figure = Figure()
    _numbers(figure.add_subplot(), RNG.normal(size=(30, 2)), values, "logBB")
    assert len(figure.axes) == num_axes  # the second one is the scale
    if known:
        high = figure.axes[0].collections[-1].get_clim()[1]
        assert high < 1e6
