"""IGSD: student and teacher wired together, without labels and with few of them."""

import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.encoders.encoder import GNNEncoder, distinct_depth, takes_counts
from igsd.encoders.mpnn import MPNN
from igsd.encoders.norm import Norm
from igsd.errors import ParameterError
from igsd.losses.contrastive import consistency, infonce
from igsd.losses.labels import pair_weights, shares_entropy, supcon
from igsd.model.network import Dims, Network, Step
from igsd.settings import own
from igsd.settings.groups import ENCODERS, Encoder, FewLabels, Projector


def build_encoder(settings: Encoder, dims: Dims) -> Any:
    """Return the configured encoder, untrained, or a copy of the user's own.

    The user's own must have an integer attribute ``out_dim``, the width of its result; raises
    ``ParameterError`` without one.
    """
    given, features = dims.encoder, dims.features
    if given is not None:
        # A package offers a function of the width of node features.
        if not isinstance(given, nn.Module):
            with own.called("encoder", given, ENCODER_RULE):
                given = given(features.dim)
        if not isinstance(given, nn.Module):
            text = f"{ENCODER_RULE}. Got an object of type {type(given).__name__} instead."
            raise ParameterError("encoder", "IGSD", text)
        width = getattr(given, "out_dim", None)
        if not isinstance(width, int) or width < 1:
            raise ParameterError(
                "encoder",
                "IGSD",
                f"must be {', '.join(map(repr, ENCODERS))} or an nn.Module with an integer "
                f"attribute 'out_dim', the width of its result. Got out_dim={width!r} instead.",
            )
        if any(nn.parameter.is_lazy(weights) for weights in given.parameters()):
            raise ParameterError(
                "encoder",
                "IGSD",
                f"must know the width of its layers. {own.place_of(given)} has lazy ones: give "
                f"them a width (the node features have {features.dim} columns).",
            )
        encoder = copy.deepcopy(given)
        encoder.register_forward_hook(checked_rows)
        return encoder
    if settings.encoder == "mpnn" and features.links is not None:
        return MPNN(
            features.dim,
            features.links,
            hidden_dim=settings.hidden_dim,
            num_steps=settings.num_layers,
            edge_hidden_dim=settings.edge_hidden_dim,
            set2set_steps=settings.set2set_steps,
        )
    return build_gnn(settings, features.dim, features.links)


ENCODER_RULE = (
    "must be an nn.Module that takes a Batch and returns one row of out_dim finite numbers for "
    "each graph"
)


def checked_rows(encoder: Any, batches: tuple[Batch], rows: Any) -> None:
    """Raise ``ParameterError`` unless the user's own encoder returned what its rule says."""
    shape, got = (batches[0].num_graphs, encoder.out_dim), ""
    if not isinstance(rows, Tensor):
        got = f"an object of type {type(rows).__name__}"
    elif tuple(rows.shape) != shape:
        got = f"shape {tuple(rows.shape)} instead of {shape}"
    elif rows.dtype == torch.float64 != batches[0].x.dtype or not rows.is_floating_point():
        got = f"{rows.dtype} from node features of {batches[0].x.dtype}"
    elif not rows.isfinite().all():
        got = "NaN or infinity; try a smaller learning_rate if it began with finite numbers"
    if got:
        text = f"{ENCODER_RULE}. {own.place_of(encoder)} returned {got}."
        raise ParameterError("encoder", "IGSD", text)


def build_gnn(settings: Encoder, in_dim: int, links: LinkFeatures | None = None) -> GNNEncoder:
    """Return the configured layers and readout, for node features of width ``in_dim``."""
    return GNNEncoder(
        settings.encoder,
        in_dim,
        settings.hidden_dim,
        settings.num_layers,
        batch_norm=settings.encoder_batch_norm,
        readout=settings.readout,
        concat_layers=settings.concat_layers,
        links=links,
    )


class MLPHead(nn.Sequential):
    """W2 relu(W1 x): the paper's projector g and predictor h.

    Departs from the paper, which has no BatchNorm before the ReLU (``batch_norm``) and no biases.
    """

    def __init__(self, in_dim: int, hidden_dim: int, out_dim: int, *, batch_norm: bool) -> None:
        # BatchNorm would cancel a bias.
        first = nn.Linear(in_dim, hidden_dim, bias=not batch_norm)
        norm = Norm(hidden_dim) if batch_norm else nn.Identity()
        super().__init__(first, norm, nn.ReLU(inplace=True), nn.Linear(hidden_dim, out_dim))
        self.out_dim = out_dim


def build_head(settings: Projector, in_dim: int, out_dim: int | None = None) -> MLPHead:
    """Return a projector or predictor for vectors of width ``in_dim``, untrained."""
    width = settings.head_dim if out_dim is None else out_dim
    return MLPHead(in_dim, settings.head_hidden_dim, width, batch_norm=settings.head_batch_norm)


class Student(nn.Module):
    """The student: h = encoder(G), z = projector(h), p = predictor(z); in the paper f, g, h."""

    def __init__(self, encoder: nn.Module, projector: nn.Module, predictor: nn.Module) -> None:
        super().__init__()
        self.encoder, self.projector, self.predictor = encoder, projector, predictor

    def forward(self, batch: Batch) -> Tensor:
        """Return the predictions p [B, d] for a batch of graphs."""
        return self.predictor(self.projector(self.encoder(batch)))


@torch.no_grad()
def ema_update(teacher: nn.Module, student: nn.Module, decay: float) -> None:
    """Move the teacher's parameters towards the student's. Implements Eq. EMA.

    teacher <- decay * teacher + (1 - decay) * student, for every parameter. Buffers are left alone:
    the teacher's BatchNorm statistics come from its own forward passes.
    """
    targets, sources = tuple(teacher.parameters()), tuple(student.parameters())
    if targets:  # a projector that is switched off has none
        torch._foreach_lerp_(targets, sources, 1.0 - decay)


class Teacher(nn.Module):
    """The teacher network: h = f'(G), z = g'(h), without predictor and without gradient."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.encoder = copy.deepcopy(student.encoder)
        self.projector = copy.deepcopy(student.projector)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, batch: Batch) -> Tensor:
        """Return the projections z [B, d] for a batch of graphs, without gradient."""
        return self.projector(self.encoder(batch))

    def update(self, student: Student, decay: float) -> None:
        """Move one step towards the student. Implements Eq. EMA."""
        ema_update(self.encoder, student.encoder, decay)
        ema_update(self.projector, student.projector, decay)


class Outputs(NamedTuple):
    """What one view contributes to Eq. con: student predictions and teacher projections, [B, d]."""

    p: Tensor
    p_view: Tensor
    z: Tensor
    z_view: Tensor


def mix(student: Tensor, teacher: Tensor, weight: float) -> Tensor:
    """Return h~ = lambda h + (1 - lambda) h', [B, d]. Implements Eq. mix; lambda is ``weight``."""
    return weight * student + (1.0 - weight) * teacher


def paired(p: Tensor, z: Tensor, sizes: list[int]) -> list[Outputs]:
    """Return the outputs for each view from rows of the graphs followed by those of each view."""
    p, *p_views = p.split(sizes)
    z, *z_views = z.split(sizes)
    return [Outputs(p, p_view, z, z_view) for p_view, z_view in zip(p_views, z_views, strict=True)]


def consistencies(step: Step, per_view: list[Outputs]) -> list[Tensor]:
    """Return Eq. con for all pairs of the joint batch, a table [B, B] for each view."""
    return [consistency(*(x.float() for x in step.joint_side_by_side(*view))) for view in per_view]


def own_loss(function: Any, step: Step, view: Outputs) -> Tensor:
    """Return the user's own loss of the joint batch; raises ``ConfigError`` unless it is a number.

    ``function`` takes p, p_view, z, z_view [B, d]: what the student predicts for graphs and views,
    and what the teacher projects them to.
    """
    with own.called("loss", function, _LOSS_RULE):
        value = function(*(step.joint(rows).float() for rows in view))
    if not isinstance(value, Tensor) or value.ndim or not value.requires_grad:
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        got = "one without a gradient" if got == "shape ()" else got
    elif not value.isfinite():
        got = f"{value.item()}; try a smaller learning_rate if it began with finite ones"
    else:
        return value
    raise ParameterError("loss", "IGSD", f"{_LOSS_RULE}. {own.place_of(function)} returned {got}.")


_LOSS_RULE = (
    "must be a function of (p, p_view, z, z_view) that returns a tensor with one finite number, "
    "computed from p or p_view"
)


class IGSDModel(Network):
    """A student trained by Eq. InfoNCE over Eq. con, and the teacher that follows it by Eq. EMA."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        encoder = build_encoder(settings, dims)
        projector = build_head(settings, encoder.out_dim) if settings.projector else nn.Identity()
        # The predictor predicts the teacher's projection, so it has the same width.
        width = settings.head_dim if settings.projector else encoder.out_dim
        predictor = build_head(settings, width, width) if settings.predictor else nn.Identity()
        self.student = Student(encoder, projector, predictor)
        self.teacher = Teacher(self.student)
        self.takes_counts = takes_counts(encoder)
        self._own_loss = (dims.loss,)  # in a tuple, since a module would become a part of this one
        self.subtree_head = None
        if dims.num_subtrees:
            columns = ColumnNorm(encoder.out_dim, affine=False)
            linear = nn.Linear(encoder.out_dim, dims.num_subtrees)
            self.subtree_head = nn.Sequential(columns, linear)

    @property
    def out_dim(self) -> int:  # type: ignore[override]
        """Width of an embedding, twice that of the encoder if it includes the view's."""
        width: Any = self.student.encoder.out_dim
        return 2 * width if self._embeds_views else width

    @property
    def _embeds_views(self) -> bool:
        return getattr(self.settings, "embed_views", "graph") == "both"

    def compare(self, graphs: Batch, views: list[Batch]) -> list[Outputs]:
        """Return the outputs for each of the K views, to be compared by Eq. con."""
        return self.encode_and_compare(graphs, views)[1]

    def encode_and_compare(self, graphs: Batch, views: list[Batch]) -> tuple[Tensor, list[Outputs]]:
        """Return h [B, d] of the graphs, and the outputs for each of the K views.

        Graphs and views pass as one batch, so that BatchNorm's statistics describe the mixture.
        """
        joined = Batch.joined([graphs, *views])
        sizes = [batch.num_graphs for batch in (graphs, *views)]
        z = self.teacher(joined)  # first: later, it would add to what the gradient needs
        h = self.student.encoder(joined)
        p = self.student.predictor(self.student.projector(h))
        return h[: sizes[0]], paired(p, z, sizes)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the loss of a step, Eq. InfoNCE; with subtrees as targets, both parts of it.

        Departs from the paper if ``subtree_weight`` is not 0: from h of a graph, a linear layer
        predicts which Weisfeiler-Lehman subtrees the graph holds, by cross entropy.
        """
        h, per_view = self.encode_and_compare(step.batch, step.views)
        loss = self.contrast(step, per_view)
        total = getattr(self.settings, "infonce_weight", 1.0) * loss
        if self.subtree_head is None:
            return {"total": total}
        rows = shares_entropy(self.subtree_head(h).float(), step.subtrees)
        parts = {"infonce": loss, "subtrees": step.joint(rows.unsqueeze(1)).mean()}
        return parts | {"total": total + self.settings.subtree_weight * parts["subtrees"]}

    def finish(self) -> None:
        """Drop the layer that predicts subtrees."""
        self.subtree_head = None

    def contrast(self, step: Step, per_view: list[Outputs]) -> Tensor:
        """Return the mean of Eq. InfoNCE, or of the user's own loss, over the views."""
        (mine,) = self._own_loss
        if mine is not None:
            return torch.stack([own_loss(mine, step, view) for view in per_view]).mean()
        tables = consistencies(step, per_view)
        return torch.stack([infonce(T, self.settings.temperature) for T in tables]).mean()

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.teacher.update(self.student, self.settings.ema_decay)

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether equal neighbourhoods are computed once; views hardly have any."""
        return not self._embeds_views and distinct_depth(self.student.encoder, features) > 0

    def embed(self, step: Step) -> Tensor:
        """Return the embeddings [B, d]: Eq. mix, followed by that of the view if asked for."""
        seen = [step.seen_by(self.student.encoder)]
        seen += step.views if self._embeds_views else []
        weight = self.settings.mix_weight
        rows = [mix(self.student.encoder(x), self.teacher.encoder(x), weight) for x in seen]
        return torch.cat(rows, dim=1)


class ColumnNorm(Norm):
    """BatchNorm for few steps of few rows.

    The running statistics are the mean over the first ten batches and a moving average from then
    on. A single row has no statistics of its own and is normalised by the running ones.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows [B, d] normalised."""
        if self.training and len(x) <= 1 and not self.is_joint:
            return nn.functional.batch_norm(x, self.running_mean, self.running_var, eps=self.eps)
        if self.training and self.num_batches_tracked is not None:
            self.momentum = max(0.1, 1.0 / (int(self.num_batches_tracked) + 1))
        return super().forward(x)


class OutputHead(nn.Sequential):
    """Dropout and a linear layer on the (standardised: ``head_norm``) representations."""

    def __init__(self, in_dim: int, num_outputs: int, settings: FewLabels) -> None:
        first = [ColumnNorm(in_dim, affine=False)] if settings.head_norm else []
        dropout = nn.Dropout(settings.head_dropout)
        super().__init__(*first, dropout, nn.Linear(in_dim, num_outputs))


class SemiModel(Network):
    """IGSD with an output layer, trained on the student's representations.

    It predicts from those of Eq. mix. Without views the teacher sees no graphs and its BatchNorm
    has no statistics; then the student alone predicts.
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
        supcon) over those with a label. A part with weight 0 is not computed.
        """
        feeds: frozenset[str] = getattr(self.settings, "pseudo_labels_feed", frozenset())
        outputs, per_view = self._compare(step)
        parts = {"supervised": step.supervised(outputs, with_pseudo="cross-entropy" in feeds)}
        total = parts["supervised"]
        if self.self_weight > 0:
            parts["selfsup"] = self.igsd.contrast(step, per_view)
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
        """Return (outputs of the graphs with a label, what Eq. con needs for each view)."""
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
        # The first rows of p, p', z, z' over all views, the first view first.
        stacked = (
            torch.cat([step.joint(rows)[: len(labels)] for rows in column]).float()
            for column in zip(*per_view, strict=True)
        )
        table, taken = consistency(*stacked), torch.tensor(pools)
        pool, sizes = torch.arange(len(pools)).repeat_interleave(taken), known.pool_sizes
        weights = pair_weights(pool, taken, torch.tensor(sizes[: len(pools)])).to(table)
        counts, how = known.class_counts[: len(pools)].sum(dim=0), self.settings.supcon_reduction
        return supcon(
            table, labels, counts, num_views=len(per_view), weights=weights, reduction=how
        )
