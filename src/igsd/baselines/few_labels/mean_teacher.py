"""Mean Teachers (Tarvainen and Valpola, 2017): consistent predictions under perturbation."""

import copy
import math
from typing import Any, ClassVar

import torch
from torch import Tensor

from igsd.baselines.few_labels.gin import SupervisedNetwork
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.model.igsd import ema_update
from igsd.model.network import Dims, Network, Step
from igsd.settings.fields import setting
from igsd.settings.groups import EMA, Unlabelled, View


class MeanTeacherConfig(Unlabelled, EMA):
    """The settings of Mean Teachers; ``drop_rate`` is the perturbation of the inputs."""

    section: ClassVar[str] = "mean-teacher"

    drop_rate: float = setting(0.2, "view", "share of edges that are removed", low=0, below=1)
    consistency_weight: float = setting(1.0, "labels", "final weight of the agreement", low=0.0)
    ramp_epochs: int = setting(30, "labels", "epochs until that weight is reached", low=0)

    def perturbation(self) -> View:
        """Return how inputs are perturbed: random removal of edges."""
        return View(view="edge-drop", drop_rate=self.drop_rate)


class MeanTeacherNetwork(Network):
    """A student and its moving average, each with an output layer; the teacher predicts."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.student = SupervisedNetwork(settings, dims)
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        self.out_dim = self.student.out_dim

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the supervised loss, and the consistency of student and teacher on every graph.

        Each sees the graphs with different edges removed. Consistency is the mean squared
        difference of probabilities, or of numbers; its weight grows as exp(-5 (1 - t)^2).
        """
        (epoch, number), settings = step.place, self.settings
        # Two draws per step: student and teacher see different perturbations.
        places = ((epoch, 2 * number), (epoch, 2 * number + 1))
        first, second = (step.source.views(step.batch, step.indices, p)[0] for p in places)
        with torch.no_grad():
            guessed = self.teacher.head(self.teacher.encoder(second))
        outputs = self.student.head(self.student.encoder(first))
        loss = step.supervised(outputs)
        outputs, guessed = step.joint(outputs).float(), step.joint(guessed).float()
        if not step.labels.targets.dtype.is_floating_point:
            outputs, guessed = outputs.softmax(dim=1), guessed.softmax(dim=1)
        agreement = (outputs - guessed).square().mean()
        weight = settings.consistency_weight * ramp_up(epoch, settings.ramp_epochs)
        return {"supervised": loss, "consistency": agreement, "total": loss + weight * agreement}

    def after_step(self) -> None:
        """Let the teacher follow the student. Implements Eq. EMA."""
        ema_update(self.teacher, self.student, self.settings.ema_decay)

    def outputs(self, step: Step) -> Tensor:
        """Return the teacher's outputs [B, C]."""
        return self.teacher.outputs(step)

    def embed(self, step: Step) -> Tensor:
        """Return the teacher's representations [B, d]."""
        return self.teacher.embed(step)


def ramp_up(epoch: int, length: int) -> float:
    """Return the share of the full weight at an epoch: exp(-5 (1 - t)^2), 1 from ``length`` on."""
    place = 1.0 if epoch >= length else epoch / length
    return math.exp(-5.0 * (1.0 - place) ** 2)


@settings_as_parameters(MeanTeacherConfig)
class MeanTeacherClassifier(GraphClassifier):
    """Classes by Mean Teachers, from few labels and many graphs."""

    network_class = MeanTeacherNetwork


@settings_as_parameters(MeanTeacherConfig)
class MeanTeacherRegressor(GraphRegressor):
    """Numbers by Mean Teachers, from few labels and many graphs."""

    network_class = MeanTeacherNetwork
