"""The competitor's side of the training and embedding benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch_geometric.loader import DataLoader

from benchmarks.plain_data import plain_graphs, plain_views
from benchmarks.plain_pyg import PlainIGSD, pair_loader, train_epoch
from benchmarks.training import SETTINGS, batches_of, feature_map, initial_model, load


def epoch_side(data: str, steps: list[int] | None = None) -> Callable[[], list[float]]:
    """Return the work of one epoch, or of the chosen steps of it; its result: the step's losses."""
    graphs = load(data)
    features = feature_map(graphs)
    plain = plain_graphs(graphs, features)
    loader = pair_loader(plain, plain_views(plain), batches_of(graphs, steps))
    model = PlainIGSD(initial_model(features), features.dim)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=SETTINGS.learning_rate)
    return lambda: train_epoch(model, optimizer, loader)


def embed_side(data: str) -> Callable[[], Any]:
    """Return the work of embedding a set; its result: how many graphs and some rows."""
    graphs = load(data)
    features = feature_map(graphs)
    plain = plain_graphs(graphs, features)
    model = PlainIGSD(initial_model(features), features.dim).eval()

    def work() -> Callable[[], Any]:
        loader = DataLoader(plain, batch_size=SETTINGS.batch_size)
        rows = torch.cat([model.embed(batch) for batch in loader]).numpy()
        return lambda: {"graphs": len(rows), "rows": rows[:: len(rows) // 20].tolist()}

    return work
