"""A set of graphs as PyG users have it: a list of ``Data``, and GDC for the views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import GDC

from benchmarks.training import SETTINGS, feature_map, load
from igsd.batches.features import FeatureMap
from igsd.graphs.graphset import GraphSet


def plain_graphs(graphs: GraphSet, features: FeatureMap) -> list[Data]:
    """Return the graphs with dense node features ``x`` and weights of 1."""
    x = dense_features(graphs, features)
    node_ptr, entry_ptr = graphs.node_ptr, graphs.adjacency.row_ptr[graphs.node_ptr]
    ends = np.stack([graphs.adjacency.rows(), graphs.adjacency.col])
    result = []
    for g in range(len(graphs)):
        edges = ends[:, entry_ptr[g] : entry_ptr[g + 1]] - np.array([[node_ptr[g]], [0]])
        result.append(
            Data(
                x=x[node_ptr[g] : node_ptr[g + 1]].clone(),
                edge_index=torch.from_numpy(edges),
                edge_weight=torch.ones(edges.shape[1]),
            )
        )
    return result


def dense_features(graphs: GraphSet, features: FeatureMap) -> torch.Tensor:
    """Return the one-hot features of every node, [n, d]; attributes are not used here."""
    codes = features.transform(graphs).codes
    x = torch.zeros(graphs.num_nodes, features.dim)
    rows, parts = np.nonzero(codes >= 0)
    x[torch.from_numpy(rows), torch.from_numpy(codes[rows, parts])] = 1.0
    return x


def make_gdc() -> GDC:
    """Return PyG's graph diffusion with the same PPR and the same threshold as ours."""
    return GDC(
        self_loop_weight=1,
        normalization_in="sym",
        normalization_out=None,
        diffusion_kwargs={"method": "ppr", "alpha": SETTINGS.teleport},
        sparsification_kwargs={"method": "threshold", "eps": SETTINGS.threshold},
        exact=True,
    )


def plain_views(graphs: list[Data]) -> list[Data]:
    """Return the PPR view of every graph, by PyG's own transform."""
    gdc, views = make_gdc(), []
    for graph in graphs:
        view = gdc(Data(x=graph.x, edge_index=graph.edge_index))
        views.append(Data(x=view.x, edge_index=view.edge_index, edge_weight=view.edge_attr))
    return views


def views_side(data: str) -> Callable[[], Any]:
    """Return the work of computing the views of a whole set; its result: entries and their sum."""
    graphs = load(data)
    plain = plain_graphs(graphs, feature_map(graphs))

    def work() -> Callable[[], dict[str, float]]:
        views = plain_views(plain)
        return lambda: {
            "entries": sum(view.num_edges for view in views),
            "sum": float(sum(view.edge_weight.double().sum() for view in views)),
        }

    return work
