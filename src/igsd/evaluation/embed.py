"""Embeddings of many graphs with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from igsd.encoders.encoder import GNNEncoder
from igsd.graphs.batch import Batch
from igsd.graphs.distinct_batch import DistinctBatch, distinct_batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.unseen_labels import warn_of_unseen_labels
from igsd.model.igsd import IGSDModel
from igsd.training.graph_source import GraphSource
from igsd.training.memory import kept_memory
from igsd.views.spec import ViewSpec

# Few enough for the processor's cache; and where equal neighbourhoods are computed once, many, so
# that there are many equal ones.
CHUNK_NODES = 8_000
DISTINCT_CHUNK_NODES = 250_000


def chunks(node_ptr: np.ndarray, max_nodes: int = CHUNK_NODES) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive graphs with at most ``max_nodes`` nodes, or one graph."""
    start, num_graphs = 0, len(node_ptr) - 1
    while start < num_graphs:
        stop = int(np.searchsorted(node_ptr, node_ptr[start] + max_nodes, side="right")) - 1
        stop = min(max(stop, start + 1), num_graphs)
        yield start, stop
        start = stop


def embed_chunks(
    model: IGSDModel,
    features: FeatureMap,
    graphs: GraphSet,
    *,
    mix_weight: float,
    view: ViewSpec | None,
    device: torch.device,
) -> Iterator[np.ndarray]:
    """Yield the embeddings of consecutive graphs, [chunk, d] float32 each.

    With ``view`` the embedding of each graph's view stands beside that of the graph. Warns of node
    labels that were not seen in training.
    """
    warn_of_unseen_labels(features, graphs)
    model.eval()
    depth = distinct_depth(model, features)
    max_nodes = DISTINCT_CHUNK_NODES if depth and view is None else CHUNK_NODES
    with kept_memory():
        for start, stop in chunks(graphs.node_ptr, max_nodes):
            part = graphs.take(np.arange(start, stop))
            source = GraphSource(part, features, device, view=view, cache=False)
            everyone = np.arange(len(part))
            seen: Batch | DistinctBatch
            views: list[Batch] = []
            if view is not None:
                seen, views = source.with_views(everyone, (0, 0))
            elif not depth:
                seen = source.batch(everyone)
            if depth:
                seen = distinct_batch(source.collator, part.adjacency, depth)
            rows = torch.cat([model.embed(each, mix_weight) for each in (seen, *views)], dim=1)
            yield rows.float().cpu().numpy()


def distinct_depth(model: IGSDModel, features: FeatureMap) -> int:
    """Return the number of layers if equal neighbourhoods can be computed once, else 0.

    They can where layers and readouts are plain sums and what nodes show is one-hot.
    """
    encoder = model.student.encoder
    discrete = "attributes" not in features.parts
    if discrete and isinstance(encoder, GNNEncoder) and encoder.takes_distinct:
        return len(encoder.layers)
    return 0
