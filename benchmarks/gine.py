"""An epoch of IGSD with the edge-aware encoder, against PyG's ``GINEConv`` and our plain GIN."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.context import Context
from benchmarks.epoch import TOLERANCE, loss_differences
from benchmarks.row import Row, Skipped
from benchmarks.side import Side
from benchmarks.timing import alternate
from benchmarks.training import (
    SETTINGS,
    batches_of,
    epoch_of,
    initial_network,
    recorded_training,
)
from igsd.graphs.chemistry import chemical
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.smiles import from_smiles
from igsd.graphs.readers.text_table import read_text_table
from igsd.model.igsd import IGSDModel
from igsd.training.fit import fit_features
from igsd.views.source import Source

DATA, NUM_MOLECULES, REPEATS = "ZINC, 4,000 molecules", 4000, 3
BAR, MOST = 3.0, 1.8
"""PyG must take ``BAR`` times our time at least, and ours ``MOST`` times that of GIN at most."""

GINE = SETTINGS.updated({"encoder": "gine", "node_features": "chemistry"})
GIN = SETTINGS.updated({"node_features": "chemistry"})


def rows(context: Context) -> list[Row]:
    """Return two rows, CPU seconds of an epoch on one thread."""
    with (
        Side("benchmarks.gine:epoch_side", encoder="gine") as ours,
        Side("benchmarks.gine:epoch_side", encoder="gin") as plain,
        Side("benchmarks.gine:gineconv_side") as theirs,
    ):
        sides = {"ours": ours, "plain": plain, "theirs": theirs}
        measured = alternate(sides, context.rounds(REPEATS))
    mine, plain_gin, other = (measured[side].cpu for side in ("ours", "plain", "theirs"))
    first, second = loss_differences(measured["ours"].first, measured["theirs"].first)
    note = f"losses of the first two steps within {first:.0e} and {second:.0e}"
    agrees = first <= TOLERANCE and second <= TOLERANCE
    name = "epoch, gine / GINEConv"
    return [
        Row(name, DATA, mine, other, other / mine, BAR, "s", note, agrees=agrees),
        Row(
            "epoch, gine / gin",
            DATA,
            mine,
            plain_gin,
            plain_gin / mine,
            1 / MOST,
            "s",
            f"gine sees bonds, gin does not; at most {MOST} times its time",
        ),
    ]


def load(num_molecules: int = NUM_MOLECULES) -> GraphSet:
    """Return molecules of ZINC250k, from the folder ``molecules`` in ``IGSD_DATA``."""
    path = Path(os.environ.get("IGSD_DATA", "."), "molecules", "zinc250k.csv.gz")
    if not path.exists():
        raise Skipped(f"no data: {path}")
    return chemical(from_smiles(read_text_table(path).column("smiles")[:num_molecules]))


def make_source(graphs: GraphSet, settings: Any) -> tuple[IGSDModel, Source]:
    """Return an untrained model and what feeds it, its views already computed."""
    features = fit_features(graphs, settings)
    model = initial_network(IGSDModel, settings, features)
    device = next(model.parameters()).device
    source = Source(graphs, features, device, view=settings, seed=settings.seed, cache=False)
    _ = source.fixed_views
    return model, source


def epoch_side(encoder: str) -> Callable[[], list[float]]:
    """Return the work of one epoch with our encoder; its result: the loss of every step."""
    graphs, settings = load(), GINE if encoder == "gine" else GIN
    features = fit_features(graphs, settings)
    return epoch_of(*recorded_training(graphs, settings=settings, features=features))


def gineconv_side() -> Callable[[], list[float]]:
    """Return the work of one epoch in plain PyG; its result: the loss of every step."""
    from benchmarks.plain_gine import PlainGINE
    from benchmarks.plain_pyg import pair_loader, train_epoch

    graphs = load()
    model, source = make_source(graphs, GINE)
    every = [source.by_size(indices) for indices in batches_of(graphs)]
    loader = pair_loader(*plain_pairs(source), every)
    plain = PlainGINE(model)
    parameters = [parameter for parameter in plain.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=SETTINGS.learning_rate)
    return lambda: train_epoch(plain, optimizer, loader)


def plain_pairs(source: Source) -> tuple[list[Any], list[Any]]:
    """Return every graph, and its view, as PyG has them."""
    graphs, views = [], []
    for index in range(len(source.graphs)):
        batch = source.batch(np.array([index]))
        (view,) = source.views(batch, np.array([index]), (0, 0))
        graphs.append(_as_data(batch, source))
        views.append(_as_data(view, source))
    return graphs, views


def _as_data(batch: Any, source: Source) -> Any:
    from torch_geometric.data import Data

    links = source.features.links
    table = torch.from_numpy(links.table()) if links is not None else torch.ones(1, 1)
    receiver, sender = batch.edge_index
    return Data(
        x=batch.x,
        edge_index=torch.stack([sender, receiver]),
        edge_attr=table[batch.category],
        edge_weight=batch.edge_weight.clone(),
    )
