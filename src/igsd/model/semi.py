"""Semi-supervised IGSD: student and teacher with an output layer, trained by Eq. semi."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from igsd.batches.batch import Batch
from igsd.encoders.encoder import takes_counts
from igsd.encoders.norm import Norm
from igsd.losses.contrastive import consistency, infonce
from igsd.losses.labels import pair_weights, supcon
from igsd.model.igsd import IGSDModel, Outputs, consistencies, mix, paired
from igsd.model.network import Dims, Network, Step
from igsd.settings.groups import FewLabels


class ColumnNorm(Norm):
    """BatchNorm for few labels: a training may have few steps, and a step few rows.

    The running statistics are the mean over the first ten batches and a moving average from then
    on, so that a short training is not dominated by their initial values. A single row has no
    statistics of its own and is normalised by the running ones.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows [B, d] normalised."""
        if self.training and len(x) <= 1 and not self.is_joint:
            return functional.batch_norm(x, self.running_mean, self.running_var, eps=self.eps)
        if self.training and self.num_batches_tracked is not None:
            self.momentum = max(0.1, 1.0 / (int(self.num_batches_tracked) + 1))
        return super().forward(x)


class OutputHead(nn.Sequential):
    """Dropout and a linear layer on the representations: logits of classes, or numbers.

    On the concatenated readouts of all layers this is GIN's own output layer. ``head_norm`` first
    standardises each column, because sums over nodes differ in scale between layers.
    """

    def __init__(self, in_dim: int, num_outputs: int, settings: FewLabels) -> None:
        first = [ColumnNorm(in_dim, affine=False)] if settings.head_norm else []
        dropout = nn.Dropout(settings.head_dropout)
        super().__init__(*first, dropout, nn.Linear(in_dim, num_outputs))


class SemiModel(Network):
    """IGSD with an output layer on its representations.

    The layer is trained on the student's and predicts from those of Eq. mix: the teacher averages
    over many steps, so the last step matters less. Without views the teacher sees no graphs and its
    BatchNorm has no statistics; then the student alone predicts.
    """

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.igsd = IGSDModel(settings, dims)
        self.head = OutputHead(self.igsd.out_dim, dims.num_outputs, settings)
        self.takes_counts = takes_counts(self.igsd)
        self.self_weight = settings.self_weight
        self.supcon_weight = getattr(settings, "supcon_weight", 0.0)
        self.uses_unlabelled = self.self_weight > 0
        self.needs_views = self.self_weight > 0 or self.supcon_weight > 0
        self.output_weight = settings.mix_weight if self.needs_views else 1.0

    @property
    def out_dim(self) -> int:  # type: ignore[override]
        """Width of an embedding."""
        return self.igsd.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the parts of L = L_supervised + w L_selfsup + w' L_supcon. Implements Eq. semi.

        L_selfsup (Eq. InfoNCE) runs over all graphs of the step, labelled or not; L_supcon (Eq.
        supcon) over those with a label. A part with weight 0 is not computed; if both weights are
        0, there are no views at all.
        """
        feeds: frozenset[str] = getattr(self.settings, "pseudo_labels_feed", frozenset())
        outputs, per_view = self._compare(step)
        parts = {"supervised": step.supervised(outputs, with_pseudo="cross-entropy" in feeds)}
        total = parts["supervised"]
        if self.self_weight > 0:
            losses = [infonce(T, self.settings.temperature) for T in consistencies(step, per_view)]
            parts["selfsup"] = torch.stack(losses).mean()
            total = total + self.self_weight * parts["selfsup"]
        if self.supcon_weight > 0:
            parts["supcon"] = self._supcon(step, per_view, with_pseudo="supcon" in feeds)
            total = total + self.supcon_weight * parts["supcon"]
        return parts | {"total": total}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.igsd.after_step()

    def embed(self, step: Step) -> Tensor:
        """Return the embedding [B, d] of a batch. Implements Eq. mix."""
        student, teacher = self.igsd.student.encoder, self.igsd.teacher.encoder
        return mix(student(step.batch), teacher(step.batch), self.settings.mix_weight)

    def outputs(self, step: Step) -> Tensor:
        """Return the logits [B, C], or the standardised numbers [B, t], of graphs."""
        student = self.igsd.student.encoder(step.batch)
        if self.output_weight == 1:
            return self.head(student)
        teacher = self.igsd.teacher.encoder(step.batch)
        return self.head(mix(student, teacher, self.output_weight))

    def _compare(self, step: Step) -> tuple[Tensor, list[Outputs]]:
        """Return (outputs of the graphs with a label, what Eq. con needs for each view).

        As in ``IGSDModel``, graphs and views pass through each network as one batch. Without views
        there is nothing to compare, and the teacher is not used.
        """
        views = step.views if self.needs_views else []
        joined, student = Batch.joined([step.batch, *views]), self.igsd.student
        h = student.encoder(joined)
        outputs = self.head(h[: len(step.pools[0]) + len(step.pools[1])])
        if not views:
            return outputs, []
        p, z = student.predictor(student.projector(h)), self.igsd.teacher(joined)
        return outputs, paired(p, z, [batch.num_graphs for batch in (step.batch, *views)])

    def _supcon(self, step: Step, per_view: list[Outputs], *, with_pseudo: bool) -> Tensor:
        """Return Eq. supcon over the step's labelled graphs, an estimate of that over the set."""
        known, labels = step.labels, step.labels.targets
        pools = [len(known.targets)]
        if with_pseudo:
            labels = torch.cat([labels, known.pseudo])
            pools.append(len(known.pseudo))
        columns = zip(*per_view, strict=True)
        # The first rows of p, p', z, z' over all views, the first view first.
        stacked = (
            torch.cat([step.joint(rows)[: len(labels)] for rows in column]).float()
            for column in columns
        )
        table, taken = consistency(*stacked), torch.tensor(pools)
        weights = pair_weights(
            torch.arange(len(pools)).repeat_interleave(taken),
            taken,
            torch.tensor(known.pool_sizes[: len(pools)]),
        )
        return supcon(
            table,
            labels,
            known.class_counts[: len(pools)].sum(dim=0),
            num_views=len(per_view),
            weights=weights.to(table),
            reduction=self.settings.supcon_reduction,
        )
