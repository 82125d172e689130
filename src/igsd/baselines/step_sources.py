"""What training steps of baselines are made of: graphs, their views, or their augmentations."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from igsd.baselines.learned_config import LearnedConfig
from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.batch import Batch, Collator
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.training.fit import view_spec
from igsd.views.augment import Augmented, augment, draw_two
from igsd.views.pairs import PairSource


class PlainSource:
    """Steps that need the graphs alone."""

    def __init__(self, graphs: GraphSet, features: FeatureMap, device: torch.device) -> None:
        self.graphs = graphs
        self.collator = Collator(graphs.node_ptr, features.transform(graphs), device)

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch]:
        """Return the graphs ``indices``."""
        return (self.collator.batch(indices, self.graphs.adjacency),)


class ViewSource:
    """Steps that need graphs and their views, as IGSD makes them."""

    def __init__(
        self, graphs: GraphSet, features: FeatureMap, config: LearnedConfig, device: torch.device
    ) -> None:
        self.pairs = PairSource(
            graphs,
            features,
            view_spec(config),
            seed=config.seed,
            device=device,
            cache=config.cache_views,
        )

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, ...]:
        """Return the graphs ``indices`` and their views."""
        return self.pairs.pair(indices, draw)


class AugmentedSource:
    """Steps that need two augmentations of each graph, drawn anew for every ``draw``."""

    def __init__(
        self,
        graphs: GraphSet,
        features: FeatureMap,
        kinds: tuple[str, ...],
        *,
        rate: float,
        seed: int,
        device: torch.device,
    ) -> None:
        self.graphs = graphs
        self.collator = Collator(graphs.node_ptr, features.transform(graphs), device)
        self.kinds = np.array(kinds)
        self.rate = rate
        self.seed = seed

    def step(self, indices: np.ndarray, draw: tuple[int, int]) -> tuple[Batch, Batch]:
        """Return two augmented batches of the graphs ``indices``."""
        node_ptr = self.graphs.node_ptr
        starts, stops = node_ptr[indices], node_ptr[indices + 1]
        taken, ptr = self.graphs.adjacency.take(node_ptr, indices), pointers(stops - starts)
        x = self.collator.node_features(ranges(starts, stops))
        seeds = np.random.default_rng([self.seed, *draw]).integers(2**62, size=3).tolist()
        kinds = draw_two(indices, len(self.kinds), seeds[2])
        first, second = (
            augment(taken, ptr, indices, self.kinds[kind], self.rate, seed)
            for kind, seed in zip(kinds, seeds[:2], strict=True)
        )
        return self._batch(x, first), self._batch(x, second)

    def _batch(self, x: Tensor, view: Augmented) -> Batch:
        """Return an augmentation as a batch; ``x`` [n, d] are the features before it."""
        nodes = torch.from_numpy(view.graphs.nodes).to(x.device)
        masked = torch.from_numpy(view.masked).to(x.device)
        ptr = view.graphs.node_ptr
        return Batch(
            x=x[nodes].masked_fill(masked.unsqueeze(1), 0.0),
            ptr=torch.from_numpy(ptr).to(x.device),
            adjacency=self.collator.operator(view.graphs.adjacency, ptr, diagonal=False),
        )
