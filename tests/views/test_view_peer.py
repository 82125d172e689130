from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view
from tests.reference.views import dense
from tests.views.strategies import graph_set


@pytest.mark.parametrize(
    ("spec", "diffusion"),
    [
        (ViewSpec(), {"method": "ppr", "alpha": 0.2}),
        (ViewSpec(kind="heat"), {"method": "heat", "t": 5.0}),
    ],
)
def test_view_equals_gdc_of_pytorch_geometric(spec: ViewSpec, diffusion: dict[str, object]) -> None:
    transforms = pytest.importorskip("torch_geometric.transforms")
    data = pytest.importorskip("torch_geometric.data")
    gdc = transforms.GDC(
        self_loop_weight=1,
        normalization_in="sym",
        normalization_out=None,
        diffusion_kwargs=diffusion,
        sparsification_kwargs={"method": "threshold", "eps": spec.threshold},
        exact=True,
    )
    graphs = graph_set([7, 20, 35], 0.12, seed=8)
    view = diffusion_view(graphs, spec)
    for g, n in enumerate(graphs.node_counts().tolist()):
        edge_index = torch.from_numpy(
            np.array(dense(graphs.adjacency, graphs.node_ptr, g).nonzero())
        )
        theirs = gdc(data.Data(edge_index=edge_index, num_nodes=n))
        S = np.zeros((n, n))
        S[theirs.edge_index[0], theirs.edge_index[1]] = theirs.edge_attr
        np.testing.assert_allclose(dense(view, graphs.node_ptr, g), S, atol=2e-6)
