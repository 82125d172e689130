"""PyGCL's GraphCL, InfoGraph and MVGRL, put together as its examples do.

The parts that are PyGCL's own (augmentations, samplers, losses) are called; the networks around
them are as its examples have them, but for our number of layers and width. Sets come in
batches of 128 from a ``DataLoader``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, GINConv, global_add_pool

from benchmarks.plain_data import plain_graphs
from benchmarks.training import SETTINGS, batches_of, feature_map, load

LEARNING_RATE = 0.01


class PyGCLEncoder(nn.Module):
    """GIN or GCN layers; returns the nodes' vectors and the graphs', every layer side by side."""

    def __init__(self, kind: str, in_dim: int, hidden_dim: int, num_layers: int) -> None:
        super().__init__()
        dims = [in_dim] + [hidden_dim] * num_layers
        self.convs = nn.ModuleList(_conv(kind, a, b) for a, b in pairwise(dims))
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden_dim) if kind == "gin" else nn.Identity() for _ in self.convs
        )

    def forward(self, x: Tensor, edge_index: Tensor, weight: Any, batch: Tensor) -> Any:
        """Return (nodes [n, layers * hidden], graphs [B, layers * hidden])."""
        layers = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            weighted = (weight,) if isinstance(conv, GCNConv) else ()
            x = norm(conv(x, edge_index, *weighted).relu())
            layers.append(x)
        graphs = [global_add_pool(layer, batch) for layer in layers]
        return torch.cat(layers, dim=1), torch.cat(graphs, dim=1)


class Residual(nn.Module):
    """Three linear layers with a linear shortcut, the head of InfoGraph and MVGRL there."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        parts = [part for _ in range(3) for part in (nn.Linear(dim, dim), nn.ReLU())]
        self.deep, self.shortcut = nn.Sequential(*parts), nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both ways."""
        return self.deep(x) + self.shortcut(x)


class GraphCL(nn.Module):
    """A graph and its random augmentation, contrasted graph with graph."""

    def __init__(self, gcl: Any, in_dim: int) -> None:
        super().__init__()
        self.encoder, dim = _encoder("gin", in_dim)
        self.project = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.augment = gcl.augmentors.RandomChoice(
            [
                gcl.augmentors.RWSampling(num_seeds=1000, walk_length=10),
                gcl.augmentors.NodeDropping(pn=0.1),
                gcl.augmentors.FeatureMasking(pf=0.1),
                gcl.augmentors.EdgeRemoving(pe=0.1),
            ],
            1,
        )
        loss = gcl.losses.InfoNCE(tau=SETTINGS.temperature)
        self.contrast = gcl.models.DualBranchContrast(loss=loss, mode="G2G")

    def forward(self, data: Any) -> Tensor:
        """Return the loss of a batch; the encoder also passes the plain graphs, as there."""
        x, edge_index, weight = self.augment(data.x, data.edge_index, None)
        self.encoder(data.x, data.edge_index, None, data.batch)
        g1 = self.encoder(data.x, data.edge_index, None, data.batch)[1]
        g2 = self.encoder(x, edge_index, weight, data.batch)[1]
        return self.contrast(g1=self.project(g1), g2=self.project(g2), batch=data.batch)


class InfoGraph(nn.Module):
    """Graphs contrasted with their own nodes and all others."""

    def __init__(self, gcl: Any, in_dim: int) -> None:
        super().__init__()
        self.encoder, dim = _encoder("gin", in_dim)
        self.local, self.whole = Residual(dim), Residual(dim)
        self.contrast = gcl.models.SingleBranchContrast(loss=gcl.losses.JSD(), mode="G2L")

    def forward(self, data: Any) -> Tensor:
        """Return the loss of a batch."""
        z, g = self.encoder(data.x, data.edge_index, None, data.batch)
        return self.contrast(h=self.local(z), g=self.whole(g), batch=data.batch)


class MVGRL(nn.Module):
    """Graphs contrasted with the nodes of their diffusion, and the other way round."""

    def __init__(self, gcl: Any, in_dim: int) -> None:
        super().__init__()
        self.first, dim = _encoder("gcn", in_dim)
        self.second, _ = _encoder("gcn", in_dim)
        self.local, self.whole = Residual(dim), Residual(dim)
        self.augment = gcl.augmentors.PPRDiffusion(alpha=SETTINGS.teleport, use_cache=False)
        self.contrast = gcl.models.DualBranchContrast(loss=gcl.losses.JSD(), mode="G2L")

    def forward(self, data: Any) -> Tensor:
        """Return the loss of a batch, its diffusion computed anew as there."""
        x, edge_index, weight = self.augment(data.x, data.edge_index, None)
        z1, g1 = self.first(data.x, data.edge_index, None, data.batch)
        z2, g2 = self.second(x, edge_index, weight, data.batch)
        return self.contrast(
            h1=self.local(z1),
            h2=self.local(z2),
            g1=self.whole(g1),
            g2=self.whole(g2),
            batch=data.batch,
        )


METHODS: dict[str, Any] = {"GraphCL": GraphCL, "InfoGraph": InfoGraph, "MVGRL": MVGRL}


def epoch_side(
    folder: str, method: str, data: str, steps: list[int] | None = None
) -> Callable[[], list[float]]:
    """Return the work of one epoch, or of the chosen steps of it; its result: the losses."""
    gcl = import_pygcl(folder)
    graphs = load(data)
    features = feature_map(graphs)
    plain = plain_graphs(graphs, features)
    for graph in plain:
        del graph.edge_weight
    sampler = [batch.tolist() for batch in batches_of(graphs, steps)]
    loader = DataLoader(plain, batch_sampler=sampler)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SETTINGS.seed)
        model = METHODS[method](gcl, features.dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    def epoch() -> list[float]:
        losses = []
        for batch in loader:
            optimizer.zero_grad()
            loss = model(batch)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return epoch


def import_pygcl(folder: str) -> Any:
    """Return the package GCL, whose modules find the stand-ins.

    PyTorch Geometric is imported by now: had it seen the stand-ins, it would take them for real.
    """
    sys.path += [folder, str(Path(__file__).parent / "stand_ins")]
    import GCL
    import GCL.augmentors
    import GCL.losses
    import GCL.models

    return GCL


def _encoder(kind: str, in_dim: int) -> tuple[PyGCLEncoder, int]:
    """Return an encoder with our number of layers and width, and the width of its result."""
    layers, hidden = SETTINGS.num_layers, SETTINGS.hidden_dim
    return PyGCLEncoder(kind, in_dim, hidden, layers), layers * hidden


def _conv(kind: str, in_dim: int, out_dim: int) -> nn.Module:
    if kind == "gcn":
        return GCNConv(in_dim, out_dim)
    return GINConv(
        nn.Sequential(nn.Linear(in_dim, out_dim), nn.ReLU(), nn.Linear(out_dim, out_dim))
    )
