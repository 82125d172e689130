"""``SemiModel``: student, teacher and an output layer that says a class or a number."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from igsd.encoders.encoder import takes_counts
from igsd.graphs.batch import Batch
from igsd.model.igsd import IGSDModel, Outputs, mix


class ColumnNorm(nn.BatchNorm1d):
    """BatchNorm for few labels, where a training may have few steps and a step few rows.

    Its statistics are the mean over the first ten batches and a moving average from then on, so
    that a short training leaves the data's and not the start's. A single row has no statistics of
    its own and is normalised by those so far.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows [B, d] normalised."""
        if self.training and len(x) == 1:
            return functional.batch_norm(x, self.running_mean, self.running_var, eps=self.eps)
        if self.training and self.num_batches_tracked is not None:
            self.momentum = max(0.1, 1.0 / (int(self.num_batches_tracked) + 1))
        return super().forward(x)


class OutputHead(nn.Sequential):
    """Dropout and a linear layer on the representations: logits of classes, or numbers.

    On the concatenated readouts of all layers this is GIN's own output layer. ``norm`` brings each
    column to mean 0 and variance 1 first: sums over nodes differ in scale from layer to layer.
    """

    def __init__(
        self, in_dim: int, num_outputs: int, *, dropout: float = 0.0, norm: bool = False
    ) -> None:
        first = [ColumnNorm(in_dim, affine=False)] if norm else []
        super().__init__(*first, nn.Dropout(dropout), nn.Linear(in_dim, num_outputs))


class SemiModel(nn.Module):
    """IGSD with an output layer on its representations.

    The layer learns on the student's; it predicts from those of Eq. mix, as users get them, with
    ``mix_weight`` as lambda: the teacher is an average over many steps, so the last one counts for
    less. Without views the teacher sees no graphs and its BatchNorm knows nothing: then 1.
    """

    def __init__(self, igsd: IGSDModel, head: nn.Module, mix_weight: float = 1.0) -> None:
        super().__init__()
        self.igsd = igsd
        self.head = head
        self.mix_weight = mix_weight
        self.takes_counts = takes_counts(igsd.student.encoder)

    def forward(
        self, graphs: Batch, views: list[Batch], num_labelled: int
    ) -> tuple[Tensor, list[Outputs]]:
        """Return (outputs of the first ``num_labelled`` graphs, what Eq. con needs of each view).

        As in ``IGSDModel`` graphs and views pass each network as one batch. Without views there is
        nothing to compare, and the teacher is not asked.
        """
        joint = Batch.joined([graphs, *views])
        student = self.igsd.student
        h = student.encoder(joint)
        outputs = self.head(h[:num_labelled])
        if not views:
            return outputs, []
        sizes = [batch.num_graphs for batch in (graphs, *views)]
        p, *p_views = student.predictor(student.projector(h)).split(sizes)
        z, *z_views = self.igsd.teacher(joint).split(sizes)
        pairs = zip(p_views, z_views, strict=True)
        return outputs, [Outputs(p, p_view, z, z_view) for p_view, z_view in pairs]

    def outputs(self, batch: Batch) -> Tensor:
        """Return the logits [B, C], or the standardised numbers [B, t], of graphs."""
        student = self.igsd.student.encoder(batch)
        if self.mix_weight == 1:
            return self.head(student)
        return self.head(mix(student, self.igsd.teacher.encoder(batch), self.mix_weight))

    @torch.no_grad()
    def embed(self, batch: Batch, weight: float) -> Tensor:
        """Return the embedding [B, d] of a batch. Implements Eq. mix."""
        return self.igsd.embed(batch, weight)

    @property
    def out_dim(self) -> int:
        """Width of an embedding."""
        width: int = self.igsd.student.encoder.out_dim  # type: ignore[assignment]
        return width
