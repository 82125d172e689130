"""IGSD with ``GINEConv``, as one would write it with PyTorch Geometric."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing, global_add_pool

from benchmarks.plain_pyg import PlainIGSD
from igsd.model.igsd import IGSDModel


class WeightedGINEConv(MessagePassing):
    """PyG's ``GINEConv`` with edge weights, which it does not take and a diffusion needs."""

    def __init__(self, mlp: nn.Module, lin: nn.Module) -> None:
        super().__init__(aggr="add")
        self.mlp, self.lin = mlp, lin

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, edge_weight: Tensor
    ) -> Tensor:
        """Return mlp(x + sum of weighted messages)."""
        sums = self.propagate(edge_index, x=x, edge_attr=edge_attr, edge_weight=edge_weight)
        return self.mlp(sums + x)

    def message(self, x_j: Tensor, edge_attr: Tensor, edge_weight: Tensor) -> Tensor:
        """Return what the neighbour at the other end of each edge sends."""
        return edge_weight.view(-1, 1) * (x_j + self.lin(edge_attr)).relu()


class PlainEncoder(nn.Module):
    """The layers of one of our encoders, with copies of its weights."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.lifts, self.convs = nn.ModuleList(), nn.ModuleList()
        for layer in copy.deepcopy(encoder.layers):
            mlp = nn.Sequential(layer.first, nn.ReLU(), layer.second, layer.norm, nn.ReLU())
            self.lifts.append(layer.lift)
            self.convs.append(WeightedGINEConv(mlp, layer.edge))

    def forward(self, data: Any) -> Tensor:
        """Return the graphs' vectors [B, layers * hidden]."""
        x, pooled = data.x, []
        for lift, conv in zip(self.lifts, self.convs, strict=True):
            x = conv(lift(x), data.edge_index, data.edge_attr, data.edge_weight)
            pooled.append(global_add_pool(x, data.batch))
        return torch.cat(pooled, dim=1)


class PlainGINE(PlainIGSD):
    """Student and teacher, begun with the weights of one of our models."""

    def __init__(self, model: IGSDModel) -> None:
        nn.Module.__init__(self)
        self.encoder = PlainEncoder(model.student.encoder)
        self.projector = copy.deepcopy(model.student.projector)
        self.predictor = copy.deepcopy(model.student.predictor)
        self.teacher = copy.deepcopy(nn.Sequential(self.encoder, self.projector))
        self.teacher.requires_grad_(False)
