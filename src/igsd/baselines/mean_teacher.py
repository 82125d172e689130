"""Mean Teachers (Tarvainen and Valpola, 2017): predictions agree under perturbed inputs."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from igsd.baselines.gin_supervised import SupervisedNetwork, build_supervised
from igsd.config_semi import IGSD_SETTINGS, SELF_TRAINING_SETTINGS, SemiConfig
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.parameters import settings_as_parameters
from igsd.estimators.regressor import GraphRegressor
from igsd.graphs.batch import Batch
from igsd.graphs.link_features import LinkFeatures
from igsd.model.teacher import ema_update
from igsd.settings import setting
from igsd.training.graph_source import GraphSource
from igsd.training.label_task import LabelStep
from igsd.training.pretraining import nothing_before
from igsd.views.spec import ViewSpec


@dataclass(frozen=True)
class MeanTeacherConfig(SemiConfig):
    """The settings of Mean Teachers; ``drop_rate`` is the perturbation of the inputs."""

    section: ClassVar[str] = "mean-teacher"
    leaves_out: ClassVar[frozenset[str]] = (
        SemiConfig.leaves_out
        | SELF_TRAINING_SETTINGS
        | (IGSD_SETTINGS - {"drop_rate", "ema_decay"})
    )

    self_training: bool = setting(False, "self-training", "not here")
    consistency_weight: float = setting(
        1.0, "labels", "largest weight of the agreement with the teacher", low=0.0
    )
    ramp_epochs: int = setting(30, "labels", "epochs until that weight is reached", low=0)


class MeanTeacherNetwork(nn.Module):
    """A student and its moving average, each with an output layer; the teacher predicts."""

    def __init__(self, student: SupervisedNetwork) -> None:
        super().__init__()
        self.student = student
        self.teacher = copy.deepcopy(student).requires_grad_(False)

    def forward(self, for_student: Batch, for_teacher: Batch) -> tuple[Tensor, Tensor]:
        """Return the outputs of both, [B, C] each; the teacher's without gradient."""
        with torch.no_grad():
            guessed = self.teacher(for_teacher)
        return self.student(for_student), guessed

    def outputs(self, batch: Batch) -> Tensor:
        """Return the teacher's outputs [B, C]."""
        return self.teacher(batch)

    @torch.no_grad()
    def embed(self, batch: Batch, weight: float) -> Tensor:
        """Return the teacher's representations [B, d]."""
        return self.teacher.encoder(batch)

    @property
    def out_dim(self) -> int:
        """Width of a representation."""
        return self.teacher.out_dim


class MeanTeacherObjective:
    """The supervised loss, and agreement of student and teacher on every graph of the step.

    Each looks at a copy of the graphs that has lost other edges. Agreement is the mean squared
    difference of probabilities, or of numbers; its weight grows as exp(-5 (1 - t)^2).
    """

    uses_unlabelled = True

    def __init__(
        self,
        config: MeanTeacherConfig,
        network: MeanTeacherNetwork,
        forward: nn.Module,
        source: GraphSource,
    ) -> None:
        self.config = config
        self.network = network
        self.forward = forward
        self.source = source

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        """Return both parts and ``total``."""
        graphs = np.concatenate([step.graphs.labelled, step.graphs.unlabelled])
        # Two draws a step: the student's perturbation is not the teacher's.
        perturbed = [
            self.source.with_views(graphs, (step.epoch, 2 * step.step + draw))[1][0]
            for draw in range(2)
        ]
        outputs, guessed = self.forward(*perturbed)
        outputs, guessed = outputs.float(), guessed.float()
        loss = step.supervised(outputs, with_pseudo=False)
        if not step.targets.dtype.is_floating_point:
            outputs, guessed = outputs.softmax(dim=1), guessed.softmax(dim=1)
        agreement = (outputs - guessed).square().mean()
        weight = self.config.consistency_weight * ramp_up(step.epoch, self.config.ramp_epochs)
        total = loss + weight * agreement
        return {"supervised": loss, "consistency": agreement, "total": total}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        ema_update(self.network.teacher, self.network.student, self.config.ema_decay)


def ramp_up(epoch: int, length: int) -> float:
    """Return the share of the full weight at an epoch: exp(-5 (1 - t)^2), 1 from ``length`` on."""
    place = 1.0 if epoch >= length else epoch / length
    return math.exp(-5.0 * (1.0 - place) ** 2)


class MeanTeacherMethod:
    """How network and objective are made."""

    name = "mean-teacher"
    objective = MeanTeacherObjective
    prepare = staticmethod(nothing_before)

    @staticmethod
    def build(
        config: MeanTeacherConfig,
        in_dim: int,
        num_outputs: int,
        encoder: nn.Module | None,
        links: LinkFeatures | None = None,
    ) -> MeanTeacherNetwork:
        """Return a fresh student and its teacher."""
        return MeanTeacherNetwork(build_supervised(config, in_dim, num_outputs, encoder, links))

    @staticmethod
    def view(config: MeanTeacherConfig) -> ViewSpec | None:
        """Return the perturbation: random removal of edges."""
        return ViewSpec(kind="edge-drop", drop_rate=config.drop_rate)


@settings_as_parameters(MeanTeacherConfig)
class MeanTeacherClassifier(GraphClassifier):
    """Classes by Mean Teachers, from few labels and many graphs."""

    _method = MeanTeacherMethod()


@settings_as_parameters(MeanTeacherConfig)
class MeanTeacherRegressor(GraphRegressor):
    """Numbers by Mean Teachers, from few labels and many graphs."""

    _method = MeanTeacherMethod()
