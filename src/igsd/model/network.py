"""``Network``: what a neural method trains; ``Step``: the graphs it is fed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor, cat, device, nn, random

from igsd.batches.batch import Batch
from igsd.batches.distinct import DistinctBatch, distinct_batch
from igsd.batches.features import FeatureMap
from igsd.batches.joint import gathered, lengths, num_processes
from igsd.encoders.encoder import distinct_depth
from igsd.limits import reserve
from igsd.losses.labels import supervised
from igsd.views.source import Place, Source


@dataclass(frozen=True, eq=False)
class StepLabels:
    """The labels of a joint batch, the same in all processes.

    ``targets``: labels of the labelled graphs, [n] classes or [n, t] numbers. ``pseudo`` [m]:
    classes of the graphs with a pseudo-label. ``pool_sizes``: how many training graphs have a label
    and how many a pseudo-label. ``class_counts`` [2, C]: the same by class ([2, 0] for numbers).
    """

    targets: Tensor
    pseudo: Tensor
    pool_sizes: tuple[int, int]
    class_counts: Tensor


class Step:
    """The graphs that a network is fed: those of a training step, or some to embed.

    ``pools``: indices of this process's graphs by pool; one pool, or with labels three: labelled,
    pseudo-labelled and unlabelled graphs. ``place``: epoch and step, which seed random views.
    """

    def __init__(
        self,
        source: Source,
        pools: Sequence[np.ndarray],
        place: Place = (0, 0),
        labels: StepLabels | None = None,
    ) -> None:
        self.source, self.pools, self.place, self._labels = source, pools, place, labels
        self._counts: list[int] | None = None  # graphs of each process, once they are exchanged

    @cached_property
    def indices(self) -> np.ndarray:
        """The graphs of all pools."""
        return np.concatenate(self.pools)

    @cached_property
    def batch(self) -> Batch:
        """The graphs as they are."""
        return self.source.batch(self.indices)

    @cached_property
    def views(self) -> list[Batch]:
        """The K views of the graphs."""
        return self.source.views(self.batch, self.indices, self.place)

    @property
    def labels(self) -> StepLabels:
        """The labels of the joint batch; only in training with labels."""
        if self._labels is None:
            raise TypeError("This step has no labels: its network is trained without them.")
        return self._labels

    @property
    def subtrees(self) -> Tensor:
        """The weights of the subtrees of the graphs, [B, width]; only if they are targets."""
        if self.source.subtrees is None:
            raise TypeError("This step has no subtrees: its network does not predict them.")
        return self.source.subtrees.rows(self.indices, self.source.device)

    def seen_by(self, encoder: nn.Module) -> Batch | DistinctBatch:
        """Return all graphs of the source, equal neighbourhoods only once if the encoder can."""
        depth = distinct_depth(encoder, self.source.features)
        if not depth:
            return self.batch
        return distinct_batch(self.source.collator, self.source.edges, depth)

    def joint(self, rows: Tensor) -> Tensor:
        """Return the rows of all processes in the order of the joint batch, with gradient."""
        if num_processes() == 1:
            return rows
        if len(self.pools) == 1:
            self._counts = self._counts or lengths(rows)
            return gathered(rows, self._counts)[0]
        sizes, left = [], len(rows)
        for pool in self.pools:
            sizes.append(min(len(pool), left))
            left -= sizes[-1]
        return cat([gathered(part)[0] for part in rows.split(sizes)])

    def joint_side_by_side(self, *columns: Tensor) -> tuple[Tensor, ...]:
        """Return ``joint`` of several tensors of equally many rows [B, d], by one exchange."""
        if num_processes() == 1:
            return columns
        joined = self.joint(cat([column.float() for column in columns], dim=1))
        return joined.split([column.shape[1] for column in columns], dim=1)

    def supervised(self, outputs: Tensor, *, with_pseudo: bool = False) -> Tensor:
        """Return the supervised loss over the labels and, if asked for, the pseudo-labels.

        ``outputs``: of the labelled graphs, then of those with a pseudo-label. Both means are
        weighted by the size of their pool, so that the mean over batches is the mean over the set.
        """
        labels, outputs = self.labels, self.joint(outputs).float()
        count = len(labels.targets)
        loss = supervised(outputs[:count], labels.targets)
        if not with_pseudo or not len(labels.pseudo):
            return loss
        guessed = supervised(outputs[count : count + len(labels.pseudo)], labels.pseudo)
        labelled, pseudo = labels.pool_sizes
        return (labelled * loss + pseudo * guessed) / (labelled + pseudo)


@dataclass(frozen=True)
class Dims:
    """What a network is built from, besides its settings; ``num_outputs`` is 0 without labels.

    ``encoder``: the user's own, or a function of the width of node features that makes it.
    ``loss``: the user's own. ``num_subtrees``: how many subtrees are targets, 0 if none are.
    """

    features: FeatureMap
    num_outputs: int = 0
    encoder: Any = None
    loss: Any = None
    num_subtrees: int = 0


class Network(nn.Module):
    """What a method trains and saves: with its settings, the whole method.

    ``out_dim`` is the width of a vector.
    """

    takes_counts: bool = False
    """Whether a row of its training batches may represent several alike nodes."""
    uses_unlabelled: bool = True
    """Whether graphs without a label take part in its steps."""
    needs_views: bool = True
    """Whether its losses use views, if its settings have any."""

    settings: Any
    out_dim: int

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, step: Step) -> dict[str, Tensor]:
        """Return the losses of a step: the call that several processes synchronise on."""
        return self.losses(step)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the parts of the loss by name; ``total`` is minimised."""
        raise NotImplementedError

    def after_step(self) -> None:
        """Do what the method does after an optimiser step."""

    def finish(self) -> None:
        """Drop what only training needs."""

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether ``embed`` computes equal neighbourhoods only once."""
        return False

    def embed(self, step: Step) -> Tensor:
        """Return the vectors [B, out_dim] of the graphs of a step, all graphs of its source."""
        encoder: Any = self.encoder
        return encoder(step.batch)

    def outputs(self, step: Step) -> Tensor:
        """Return the logits [B, C], or the standardised numbers [B, t], of the graphs of a step."""
        raise NotImplementedError


_SIZES = ("hidden_dim", "num_layers", "edge_hidden_dim", "head_hidden_dim", "head_dim")
_COPIES = 4  # weights, their gradient, and two moments of Adam


def build_network(network_class: type[Network], settings: Any, dims: Dims) -> Any:
    """Return a network, untrained; raises ``MemoryLimitError`` if its weights would not fit.

    They are counted on a network without memory; the user's own encoder has its memory already.
    """
    if dims.encoder is None:
        with random.fork_rng(devices=[]), device("meta"):
            size = sum(weights.numel() for weights in network_class(settings, dims).parameters())
        values = {name: getattr(settings, name) for name in _SIZES if hasattr(settings, name)}
        named = ", ".join(f"{name}={value}" for name, value in values.items())
        copies = _COPIES if settings.epochs else 1
        way_out = f"Use smaller values than {named}."
        reserve(4.0 * copies * size, f"a network of {size:,} weights", way_out)
    return network_class(settings, dims)
