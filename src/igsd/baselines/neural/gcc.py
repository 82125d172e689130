"""``GCC`` (Qiu et al., 2020): contrasts random walks from one node with those from others."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from igsd.batches.batch import Batch, chunks
from igsd.batches.operator import AdjacencyOperator
from igsd.encoders.readout import readout
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import MLPHead, build_encoder, build_gnn, ema_update
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import EMA, Batches, Layers, Temperature, Training
from igsd.views.random import hashed_uniform, restart_walks, walked_subgraphs


class KeyQueue(nn.Module):
    """A ring of the last ``size`` keys (He et al., 2020), random directions at first."""

    keys: Tensor
    place: Tensor

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.register_buffer("keys", normalize(torch.randn(size, dim), dim=1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def push(self, keys: Tensor) -> None:
        """Replace the oldest keys by new ones [B, dim]."""
        keys = keys[-len(self.keys) :]
        places = (self.place + torch.arange(len(keys), device=keys.device)) % len(self.keys)
        self.keys[places] = keys.to(self.keys.dtype)
        self.place.add_(len(keys)).remainder_(len(self.keys))


def structural_vectors(adjacency: Adjacency, node_ptr: np.ndarray, dim: int) -> np.ndarray:
    """Return a vector for each node, [n, dim] float32.

    Its entries are those of the eigenvectors of D^-1/2 A D^-1/2 with the ``dim`` largest
    eigenvalues, without their arbitrary sign and without edge weights, scaled to length 1 and
    padded with zeros. Graphs of equal size are solved together, so a graph's vectors do not depend
    on the rest of the batch. The cost grows with the cube of a graph's size.
    """
    sizes = np.diff(node_ptr)
    vectors = np.zeros((int(node_ptr[-1]), dim), dtype=np.float32)
    for size in np.unique(sizes):
        graphs = np.flatnonzero(sizes == size)
        rows = ranges(node_ptr[graphs], node_ptr[graphs + 1])
        # D^-1/2 A D^-1/2 of each of them, [g, size, size].
        taken, shape = adjacency.take(node_ptr, graphs), (len(graphs), size, size)
        A = np.zeros((len(rows), size))
        A[taken.rows(), taken.col] = 1.0
        scale = 1.0 / np.sqrt(np.maximum(A.sum(axis=1), 1.0)).reshape(shape[:2])
        _, U = np.linalg.eigh(A.reshape(shape) * scale[:, :, None] * scale[:, None, :])
        largest = np.abs(U[:, :, ::-1][:, :, :dim]).reshape(len(rows), -1)
        lengths = np.linalg.norm(largest, axis=1, keepdims=True)
        vectors[rows, : largest.shape[1]] = largest / np.maximum(lengths, 1e-12)
    return vectors


Taken = tuple[Adjacency, np.ndarray]
"""Some graphs: their links, and where the nodes of each begin."""

_CHUNK_NODES = 2_000


class EgoSource:
    """Makes subgraphs by random walks with restart; a walk is a hash of seed, graph and node."""

    def __init__(self, graphs: GraphSet, config: "GCCConfig", device: torch.device) -> None:
        self.graphs, self.config, self.device = graphs, config, device

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> list[Batch]:
        """Return two subgraphs around a random node of each of the graphs ``indices``."""
        *seeds, start = np.random.default_rng([self.config.seed, *draw]).integers(2**62, size=3)
        taken, graph = self._taken(indices), np.arange(len(indices))
        local = (hashed_uniform(int(start), indices) * np.diff(taken[1])).astype(np.int64)
        return [self._subgraphs(taken, graph, local, indices, int(seed)) for seed in seeds]

    def pooled(self, egos: int) -> Iterator[tuple[Batch, Tensor]]:
        """Yield subgraphs around up to ``egos`` nodes of each graph, some graphs at a time.

        The second item [B + 1] says where the subgraphs of each graph begin. The nodes are spread
        evenly over the graph. A walk depends on the seed and on the node's index in its graph only.
        """
        for start, stop in chunks(self.graphs.node_ptr, _CHUNK_NODES):
            taken = self._taken(np.arange(start, stop))
            sizes = np.diff(taken[1])
            counts = np.minimum(sizes, egos)
            graph = np.repeat(np.arange(len(sizes)), counts)
            number = np.arange(len(graph)) - np.repeat(pointers(counts)[:-1], counts)
            local = number * sizes[graph] // counts[graph]
            batch = self._subgraphs(taken, graph, local, local, self.config.seed)
            yield batch, torch.from_numpy(pointers(counts)).to(self.device)

    def _taken(self, indices: np.ndarray) -> Taken:
        ptr = self.graphs.node_ptr
        return self.graphs.adjacency.take(ptr, indices), pointers(ptr[indices + 1] - ptr[indices])

    def _subgraphs(
        self, taken: Taken, graph: np.ndarray, local: np.ndarray, ids: np.ndarray, seed: int
    ) -> Batch:
        """Return the subgraphs of walks from node ``local`` [W] of graph ``graph`` [W]."""
        (adjacency, ptr), s = taken, self.config
        starts = ptr[graph] + local
        walks = restart_walks(
            adjacency, ptr, starts, ids, num_steps=s.walk_steps, restart=s.restart, seed=seed
        )
        seen = walked_subgraphs(adjacency, ptr, graph, walks)
        is_start = seen.nodes == np.repeat(starts, np.diff(seen.node_ptr))
        # The features of a node: eigenvectors, one-hot degree, and whether it is the start.
        cap, width = s.degree_cap, s.eigenvectors
        degrees = np.minimum(seen.adjacency.degrees(), cap)
        x = np.zeros((len(seen.nodes), width + cap + 2), dtype=np.float32)
        x[:, :width] = structural_vectors(seen.adjacency, seen.node_ptr, width)
        x[np.arange(len(x)), width + degrees] = 1.0
        x[:, -1] = is_start
        columns = seen.adjacency.global_columns(seen.node_ptr).astype(np.int32)
        arrays = (x, seen.node_ptr, seen.adjacency.row_ptr.astype(np.int32), columns)
        rows, begins, row_ptr, col = (torch.from_numpy(a).to(self.device) for a in arrays)
        ones = torch.ones(len(x), device=self.device)
        operator = AdjacencyOperator(row_ptr, col, None, ones, np.diff(seen.node_ptr))
        return Batch(rows, begins, operator)


class GCCConfig(Training, Batches, Layers, Temperature, EMA):
    """The settings of GCC. Node features describe the subgraph only, never node labels."""

    degree_cap: int = setting(
        16, "features", "larger degrees share one column", low=1, high=100_000
    )
    eigenvectors: int = setting(
        16, "features", "eigenvectors among the features of a node", low=1, high=1000
    )
    walk_steps: int = setting(48, "view", "steps of a random walk", low=1, high=10_000)
    restart: float = setting(0.5, "view", "chance to go back to the start", low=0, below=1)
    egos: int = setting(
        16, "embedding", "nodes of a graph whose walks are pooled", low=1, high=10_000
    )
    epochs: int = setting(40, "run", "passes over the graphs", low=0)
    head_hidden_dim: int = setting(
        256, "heads", "hidden width of the projector", low=1, high=65_536
    )
    head_dim: int = setting(64, "heads", "output width of the projector", low=1, high=65_536)
    temperature: float = setting(0.07, "loss", "temperature of InfoNCE", above=0)
    ema_decay: float = setting(0.99, "loss", "momentum of the encoder of keys", low=0, high=1)
    queue_size: int = setting(1024, "loss", "keys of past steps kept as negatives", low=1)


class GCCNetwork(Network):
    """An encoder for queries, its moving average for keys, and a queue of keys."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        # Subgraphs have features of their own.
        width = settings.eigenvectors + settings.degree_cap + 2
        named = dims.encoder is None
        self.encoder = build_gnn(settings, width) if named else build_encoder(settings, dims)
        self.out_dim = self.encoder.out_dim
        hidden, out = settings.head_hidden_dim, settings.head_dim
        self.head = MLPHead(self.out_dim, hidden, out, batch_norm=False)
        self.key_encoder = copy.deepcopy(self.encoder).requires_grad_(False)
        self.key_head = copy.deepcopy(self.head).requires_grad_(False)
        self.queue = KeyQueue(settings.queue_size, out)
        self._new_keys: Tensor | None = None

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return InfoNCE: each query against its own key, those of the batch and of the queue."""
        egos = EgoSource(step.source.graphs, self.settings, step.source.device)
        queries, keys = egos.step(step.indices, step.place)
        q = step.joint(normalize(self.head(self.encoder(queries)).float(), dim=1))
        with torch.no_grad():
            k = step.joint(normalize(self.key_head(self.key_encoder(keys)).float(), dim=1))
        scores = q @ torch.cat([k, self.queue.keys]).T / self.settings.temperature
        self._new_keys = k
        return {"total": cross_entropy(scores, torch.arange(len(q), device=q.device))}

    def after_step(self) -> None:
        """Update the encoder of keys, and queue the keys of this step."""
        ema_update(self.key_encoder, self.encoder, self.settings.ema_decay)
        ema_update(self.key_head, self.head, self.settings.ema_decay)
        if self._new_keys is not None:
            self.queue.push(self._new_keys)
            self._new_keys = None

    def embed(self, step: Step) -> Tensor:
        """Return the mean representation of the subgraphs of each graph, [B, out_dim]."""
        source = EgoSource(step.source.graphs, self.settings, step.source.device)
        egos = source.pooled(self.settings.egos)
        return torch.cat([readout(self.encoder(batch), ptr, ("mean",)) for batch, ptr in egos])


@settings_as_parameters(GCCConfig)
class GCC(NeuralEstimator):
    """Vectors of graphs by contrasting subgraphs, pre-trained on the given graphs.

    In each step, a random node of every graph is the start of two random walks with restart. The
    subgraphs that they visit are a positive pair; those of other graphs and a queue of earlier ones
    are negatives. Node features are eigenvectors, the degree, and a mark on the start. A graph's
    vector is the mean of the frozen encoder over subgraphs of up to ``egos`` of its nodes.
    """

    network_class = GCCNetwork
