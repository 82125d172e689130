"""Semi-supervised IGSD: Eq. semi, followed by Eq. EMA."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from igsd.config_semi import SemiConfig
from igsd.graphs.link_features import LinkFeatures
from igsd.losses.consistency import consistency
from igsd.losses.infonce import infonce
from igsd.losses.supcon import pair_weights, supcon
from igsd.model.build import build_model
from igsd.model.igsd import Outputs
from igsd.model.semi import OutputHead, SemiModel
from igsd.training.fit import view_spec
from igsd.training.graph_source import GraphSource
from igsd.training.label_task import LabelStep
from igsd.training.pretraining import pretrain
from igsd.views.spec import ViewSpec


class SemiSupervisedObjective:
    """L = L_supervised + w L_selfsup + w' L_supcon. Implements Eq. semi.

    L_selfsup (Eq. InfoNCE) runs over all graphs of the step, labelled or not; L_supcon (Eq. supcon)
    over those with a label. A part whose weight is 0 is not computed, and where both are, there
    are no views at all.
    """

    def __init__(
        self, config: SemiConfig, network: SemiModel, forward: nn.Module, source: GraphSource
    ) -> None:
        self.config = config
        self.network = network
        self.forward = forward
        self.source = source
        self.self_weight = config.self_weight
        self.supcon_weight = 0.0 if "supcon_weight" in config.leaves_out else config.supcon_weight
        self.uses_unlabelled = self.self_weight > 0

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return the parts of Eq. semi that have a weight, and ``total``."""
        taking_part = np.concatenate(step.graphs)
        graphs, views = self._take(taking_part, (step.epoch, step.step))
        feeds = self.config.pseudo_labels_feed
        outputs, per_view = self.forward(graphs, views, len(step.targets) + len(step.pseudo))
        parts = {
            "supervised": step.supervised(outputs.float(), with_pseudo="cross-entropy" in feeds)
        }
        total = parts["supervised"]
        if self.self_weight > 0:
            parts["selfsup"] = self._selfsup(per_view)
            total = total + self.self_weight * parts["selfsup"]
        if self.supcon_weight > 0:
            parts["supcon"] = self._supcon(per_view, step, with_pseudo="supcon" in feeds)
            total = total + self.supcon_weight * parts["supcon"]
        return parts | {"total": total}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        self.network.igsd.teacher.update(self.network.igsd.student, self.config.ema_decay)

    def _take(self, indices: np.ndarray, draw: tuple[int, int]) -> Any:
        if self.self_weight > 0 or self.supcon_weight > 0:
            return self.source.with_views(indices, draw)
        return self.source.batch(indices), []

    def _selfsup(self, per_view: list[Outputs]) -> Tensor:
        """Return Eq. InfoNCE, the mean over the views."""
        tables = [consistency(*(rows.float() for rows in outputs)) for outputs in per_view]
        losses = [infonce(table, self.config.temperature) for table in tables]
        return torch.stack(losses).mean()

    def _supcon(self, per_view: list[Outputs], step: LabelStep, *, with_pseudo: bool) -> Tensor:
        """Return Eq. supcon of the step's labelled graphs, an estimate of the whole set's."""
        labels, pools = step.targets, [len(step.targets)]
        if with_pseudo:
            labels = torch.cat([labels, step.pseudo])
            pools.append(len(step.pseudo))
        table = consistency(*_stacked(per_view, len(labels)))
        taken = torch.tensor(pools)
        weights = pair_weights(
            torch.arange(len(pools)).repeat_interleave(taken),
            taken,
            torch.tensor(step.pool_sizes[: len(pools)]),
        )
        return supcon(
            table,
            labels,
            step.class_counts[: len(pools)].sum(dim=0),
            num_views=len(per_view),
            weights=weights.to(table),
            reduction=self.config.supcon_reduction,  # type: ignore[arg-type]
        )


class SemiSupervisedIGSD:
    """The method as ``fit_labelled`` takes it: how its network and its objective are made."""

    name = "igsd"

    @staticmethod
    def build(
        config: SemiConfig,
        in_dim: int,
        num_outputs: int,
        encoder: nn.Module | None = None,
        links: LinkFeatures | None = None,
    ) -> SemiModel:
        """Return a fresh network for node features of width ``in_dim`` and these ``links``."""
        igsd = build_model(config, in_dim, encoder, links)
        width: Any = igsd.student.encoder.out_dim
        head = OutputHead(width, num_outputs, dropout=config.head_dropout, norm=config.head_norm)
        weight = config.mix_weight if SemiSupervisedIGSD.view(config) else 1.0
        return SemiModel(igsd, head, weight)

    @staticmethod
    def view(config: SemiConfig) -> ViewSpec | None:
        """Return the view that the objective needs, None where it needs none."""
        is_contrastive = config.self_weight > 0 or config.supcon_weight > 0
        return view_spec(config) if is_contrastive else None

    prepare = staticmethod(pretrain)
    objective = SemiSupervisedObjective


def _stacked(per_view: list[Outputs], count: int) -> tuple[Tensor, ...]:
    """Return the first ``count`` rows of p, p', z, z' over all views, the first view first."""
    columns = zip(*per_view, strict=True)
    return tuple(torch.cat([rows[:count] for rows in column]).float() for column in columns)
