"""IGSD as one would write it with PyTorch Geometric: the competitor of the training benchmarks.

The same network, loss, optimiser and moving average as ours, from the usual parts: ``DataLoader``,
``MessagePassing``, ``global_add_pool``. Graphs and their views pass the networks as one batch, as
ours do.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MessagePassing, global_add_pool

from benchmarks.training import SETTINGS
from igsd.model.igsd import IGSDModel


class WeightedGINConv(MessagePassing):
    """PyG's ``GINConv`` with edge weights, which it does not take and a diffusion needs."""

    def __init__(self, mlp: nn.Module) -> None:
        super().__init__(aggr="add")
        self.mlp = mlp

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """Return mlp(x + sum of weighted neighbours)."""
        return self.mlp(x + self.propagate(edge_index, x=x, edge_weight=edge_weight))

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:
        """Return what the neighbour at the other end of each edge sends."""
        return edge_weight.view(-1, 1) * x_j


class PlainEncoder(nn.Module):
    """GIN layers, with the sums over the nodes of every layer side by side."""

    def __init__(self, in_dim: int, hidden_dim: int, num_layers: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList()
        for layer in range(num_layers):
            mlp = nn.Sequential(
                nn.Linear(hidden_dim if layer else in_dim, hidden_dim),
                nn.ReLU(),
                nn.Linear(hidden_dim, hidden_dim, bias=False),
                nn.BatchNorm1d(hidden_dim),
                nn.ReLU(),
            )
            self.convs.append(WeightedGINConv(mlp))

    def forward(self, data: Any) -> Tensor:
        """Return the graphs' vectors [B, layers * hidden]."""
        x, pooled = data.x, []
        for conv in self.convs:
            x = conv(x, data.edge_index, data.edge_weight)
            pooled.append(global_add_pool(x, data.batch))
        return torch.cat(pooled, dim=1)


def plain_head(in_dim: int, hidden_dim: int, out_dim: int) -> nn.Sequential:
    """Return a projector or predictor."""
    return nn.Sequential(
        nn.Linear(in_dim, hidden_dim, bias=False),
        nn.BatchNorm1d(hidden_dim),
        nn.ReLU(),
        nn.Linear(hidden_dim, out_dim),
    )


class PlainIGSD(nn.Module):
    """Student and teacher, begun with the weights of one of our models."""

    def __init__(self, model: IGSDModel, in_dim: int) -> None:
        super().__init__()
        s = SETTINGS
        width = s.hidden_dim * s.num_layers
        self.encoder = PlainEncoder(in_dim, s.hidden_dim, s.num_layers)
        self.projector = plain_head(width, s.head_hidden_dim, s.head_dim)
        self.predictor = plain_head(s.head_dim, s.head_hidden_dim, s.head_dim)
        copy_weights(model.student.encoder, self.encoder)
        copy_weights(model.student.projector, self.projector)
        copy_weights(model.student.predictor, self.predictor)
        self.teacher = copy.deepcopy(nn.Sequential(self.encoder, self.projector))
        self.teacher.requires_grad_(False)

    def loss(self, data: Any) -> Tensor:
        """Return the loss of a batch that holds B graphs and then their B views."""
        p, p_view = self.predictor(self.projector(self.encoder(data))).chunk(2)
        with torch.no_grad():
            z, z_view = self.teacher(data).chunk(2)
        p, p_view = functional.normalize(p), functional.normalize(p_view)
        z, z_view = functional.normalize(z), functional.normalize(z_view)
        distances = (2 - 2 * p @ z_view.t()) + (2 - 2 * p_view @ z.t())
        target = torch.arange(len(p))
        return functional.cross_entropy(-distances / SETTINGS.temperature, target)

    @torch.no_grad()
    def update_teacher(self) -> None:
        """Move the teacher towards the student."""
        student = nn.Sequential(self.encoder, self.projector)
        decay = SETTINGS.ema_decay
        for target, source in zip(self.teacher.parameters(), student.parameters(), strict=True):
            target.mul_(decay).add_(source, alpha=1 - decay)

    @torch.no_grad()
    def embed(self, data: Any) -> Tensor:
        """Return the embedding of a batch: the mean of student and teacher."""
        return 0.5 * self.encoder(data) + 0.5 * self.teacher[0](data)


@torch.no_grad()
def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy parameters in their order; raises ValueError where the shapes are not the same."""
    pairs = zip(source.parameters(), target.parameters(), strict=True)
    for number, (theirs, own) in enumerate(pairs):
        if theirs.shape != own.shape:
            raise ValueError(f"Parameter {number} is {theirs.shape} there and {own.shape} here.")
        own.copy_(theirs)


def pair_loader(graphs: list[Data], views: list[Data], batches: Sequence[np.ndarray]) -> DataLoader:
    """Return a loader of the given batches, each the graphs and then their views."""
    sampler = [np.concatenate([b, b + len(graphs)]).tolist() for b in batches]
    return DataLoader(graphs + views, batch_sampler=sampler)


def train_epoch(model: PlainIGSD, optimizer: Any, loader: DataLoader) -> list[float]:
    """Train for one pass over the loader and return the loss of every step."""
    model.train()
    losses = []
    for data in loader:
        optimizer.zero_grad()
        loss = model.loss(data)
        loss.backward()
        optimizer.step()
        model.update_teacher()
        losses.append(loss.item())
    return losses
