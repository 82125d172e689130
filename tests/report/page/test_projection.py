from __future__ import annotations

import sys

import numpy as np
import pytest

from igsd.cli.report import MAPS
from igsd.errors import ConfigError
from igsd.report.page.projection import MAP_METHODS, project

VECTORS = np.random.default_rng(0).normal(size=(30, 5))


def test_the_command_line_offers_them_all() -> None:
    assert MAPS == MAP_METHODS


def test_pca_names_the_variance() -> None:
    made = project(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]))
    assert made.points.shape == (3, 2)
    assert made.x_title == "first main direction (100 % of the variance)"


@pytest.mark.parametrize(("method", "module"), [("umap", "umap"), ("tsne", "openTSNE")])
def test_packages_that_are_missing(
    method: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=r"igsd\[maps\]"):
        project(VECTORS, method)


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
