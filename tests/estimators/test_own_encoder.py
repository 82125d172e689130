"""IGSD around an encoder of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor, nn

from igsd import IGSD
from igsd.errors import ConfigError
from igsd.graphs.batch import Batch
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY


class MeanEncoder(nn.Module):
    """An encoder of one's own: a linear map of the mean over nodes and neighbours."""

    def __init__(self, in_dim: int, out_dim: int = 5) -> None:
        super().__init__()
        self.out_dim = out_dim
        self.linear = nn.Linear(in_dim, out_dim)

    def forward(self, batch: Batch) -> Tensor:
        x = batch.x + batch.adjacency.multiply(batch.x)
        sums = x.new_zeros(batch.num_graphs, x.shape[1]).index_add(0, batch.batch, x)
        return self.linear(sums / (batch.ptr[1:] - batch.ptr[:-1]).unsqueeze(1))


def width_of(graphs: GraphSet) -> int:
    """Return the width of the node features that IGSD chooses."""
    return IGSD(**(TINY | {"epochs": 0})).fit(graphs).features_.dim


@pytest.fixture
def encoder(graphs: GraphSet) -> MeanEncoder:
    return MeanEncoder(width_of(graphs))


def test_fit_transform_save_load(graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path) -> None:
    before = encoder.linear.weight.clone()
    model = IGSD(**TINY, encoder=encoder)
    vectors = model.fit_transform(graphs)
    assert vectors.shape == (len(graphs), 5)
    assert torch.equal(encoder.linear.weight, before)  # a copy was trained
    model.save(tmp_path / "m")
    loaded = IGSD.load(tmp_path / "m", encoder=MeanEncoder(width_of(graphs)))
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)


def test_load_asks_for_it_by_name(graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path) -> None:
    IGSD(**TINY, encoder=encoder).fit(graphs).save(tmp_path / "m")
    with pytest.raises(ConfigError, match=r"MeanEncoder.*encoder="):
        IGSD.load(tmp_path / "m")


def test_the_wrong_one_is_refused(graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path) -> None:
    IGSD(**TINY, encoder=encoder).fit(graphs).save(tmp_path / "own")
    IGSD(**TINY).fit(graphs).save(tmp_path / "gin")
    other = MeanEncoder(width_of(graphs), out_dim=7)
    for path in (tmp_path / "own", tmp_path / "gin"):
        with pytest.raises(ConfigError, match="do not fit the given MeanEncoder"):
            IGSD.load(path, encoder=other)


def test_clone_and_pipeline(graphs: GraphSet, encoder: MeanEncoder) -> None:
    model = clone(IGSD(**TINY, encoder=encoder))
    np.testing.assert_array_equal(
        model.fit_transform(graphs), IGSD(**TINY, encoder=encoder).fit_transform(graphs)
    )


def test_width_must_be_said(graphs: GraphSet) -> None:
    with pytest.raises(ConfigError, match="out_dim"):
        IGSD(**TINY, encoder=nn.Linear(2, 2)).fit(graphs)


def test_a_module_of_pytorch_geometric(graphs: GraphSet, tmp_path: Path) -> None:
    geometric = pytest.importorskip("torch_geometric.nn", reason="needs igsd[pyg]")

    class Convolution(nn.Module):
        out_dim = 6

        def __init__(self, in_dim: int) -> None:
            super().__init__()
            self.layer = geometric.GraphConv(in_dim, 6)

        def forward(self, batch: Batch) -> Tensor:
            h = self.layer(batch.x, batch.edge_index, batch.edge_weight).relu()
            return geometric.global_mean_pool(h, batch.batch, batch.num_graphs)

    model = IGSD(**TINY, encoder=Convolution(width_of(graphs)))
    vectors = model.fit_transform(graphs)
    assert vectors.shape == (10, 6)
    model.save(tmp_path / "m")
    loaded = IGSD.load(tmp_path / "m", encoder=Convolution(width_of(graphs)))
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)
