"""``fit_labelled``: from graphs, some labels and a configuration to a trained network."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from igsd.config_semi import SemiConfig
from igsd.encoders.encoder import takes_counts
from igsd.errors import ConfigError
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.link_features import LinkFeatures
from igsd.training.fit import check_trainable, fit_features
from igsd.training.graph_source import GraphSource
from igsd.training.label_task import LabelModule, LabelTask, Objective
from igsd.training.labels import Labels
from igsd.training.logging import epoch_logger
from igsd.training.loop import run_training, trainable
from igsd.training.predict import predict_outputs
from igsd.training.pretraining import forget_pretraining
from igsd.training.self_training import PseudoLabels
from igsd.training.start import seeded_fabric, set_up
from igsd.views.spec import ViewSpec

Judge = Callable[[np.ndarray], dict[str, float]]
"""From the outputs [G, C] of watched graphs to figures by name."""


class LabelMethod(Protocol):
    """A way to learn from few labels: how its network and its objective are made."""

    @property
    def name(self) -> str:
        """The method's name in checkpoints."""

    def build(
        self,
        config: Any,
        in_dim: int,
        num_outputs: int,
        encoder: nn.Module | None,
        links: LinkFeatures | None,
    ) -> nn.Module:
        """Return a fresh network with ``outputs(batch)`` and ``embed(batch, weight)``.

        ``takes_counts`` says whether one row may stand for alike nodes in its batches.
        """

    def prepare(
        self,
        network: Any,
        graphs: GraphSet,
        config: Any,
        *,
        encoder: nn.Module | None,
        checkpoint: str | os.PathLike[str] | None,
        verbose: bool,
    ) -> list[dict[str, float]]:
        """Bring a fresh network to where the labels begin and return the history of that."""

    def view(self, config: Any) -> ViewSpec | None:
        """Return the view that the objective asks of the source, None for none."""

    def objective(
        self, config: Any, network: Any, forward: nn.Module, source: GraphSource
    ) -> Objective:
        """Return what is minimised."""


@dataclass(frozen=True)
class FittedLabels:
    """A trained network, the node features it knows, its history and its pseudo-labels.

    ``before``: the history of the epochs before the first label, where there were some.
    """

    network: nn.Module
    features: FeatureMap
    history: list[dict[str, float]]
    pseudo: PseudoLabels
    before: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Watched:
    """Graphs that are looked at after every epoch and never learned from."""

    graphs: GraphSet
    judge: Judge


def fit_labelled(
    graphs: GraphSet,
    labels: Labels,
    config: SemiConfig,
    method: LabelMethod,
    *,
    encoder: nn.Module | None = None,
    watched: Watched | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    log_dir: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> FittedLabels:
    """Return a method trained on ``graphs``, of which some have a label.

    ``watched``: figures of these graphs are added to the history of every epoch; nothing is chosen
    by them. With ``epochs=0`` nothing is trained. The caller's random state is untouched.
    """
    check_labels_trainable(graphs, config)
    features = fit_features(graphs, config)
    with seeded_fabric(config) as fabric:
        network = method.build(config, features.dim, labels.num_outputs, encoder, features.links)
        module = LabelModule(network, len(graphs))
        if config.epochs == 0:
            return FittedLabels(network.eval(), features, [], module.pseudo.collected())
        before: list[dict[str, float]] = []
        if checkpoint is None or not os.path.exists(checkpoint):
            before = method.prepare(
                network, graphs, config, encoder=encoder, checkpoint=checkpoint, verbose=verbose
            )
        groups = _parameter_groups(module, config.encoder_rate)
        forward, optimizer = set_up(module, fabric, config, groups)
        source = GraphSource(
            graphs,
            features,
            fabric.device,
            view=method.view(config),
            seed=config.seed,
            cache=config.cache_views,
            merge=takes_counts(network),
        )
        objective = method.objective(config, network, forward, source)
        task = LabelTask(module, objective, labels, source, optimizer, config)
        identity = {"data": graphs.without_labels().checksum, "labels": labels.checksum}
        progress = run_training(
            task,
            optimizer,
            fabric,
            checkpoint=checkpoint,
            checkpoint_every=config.checkpoint_every,
            identity=identity | {"method": method.name} | config.learned(),
            on_epoch=_after_epoch(network, features, watched, fabric.device, log_dir),
            verbose=verbose,
            before=before,
        )
    forget_pretraining(checkpoint)
    if task.starts and len(labels.unlabelled):
        module.pseudo.warn_if_none(config.self_training_threshold)
    pseudo = module.pseudo.collected()
    return FittedLabels(network, features, progress.history, pseudo, progress.before)


def check_labels_trainable(graphs: GraphSet, config: SemiConfig) -> None:
    """Raise for whatever would end the training at once; nothing is made or changed."""
    check_trainable(graphs, config)
    if config.devices > 1:
        raise ConfigError(
            "Training with labels runs in one process: the pools of labelled graphs are not "
            f"shared out. Use devices=1. Got devices={config.devices}."
        )


def _parameter_groups(module: LabelModule, encoder_rate: float) -> list[dict[str, Any]]:
    """Return what is trained, in groups with their ``share`` of the step size."""
    parameters = trainable(module)
    if encoder_rate == 1:
        return [{"params": parameters, "share": 1.0}]
    network: Any = module.network
    head = list(network.head.parameters())
    known = {id(parameter) for parameter in head}
    others = [parameter for parameter in parameters if id(parameter) not in known]
    return [{"params": head, "share": 1.0}, {"params": others, "share": encoder_rate}]


def _after_epoch(
    network: Any,
    features: FeatureMap,
    watched: Watched | None,
    device: torch.device,
    log_dir: str | os.PathLike[str] | None,
) -> Callable[[dict[str, float]], None]:
    """Return what is done with an epoch's line of the history: figures are added, curves drawn."""
    log = epoch_logger(log_dir)
    source = None
    if watched is not None:
        source = GraphSource(watched.graphs, features, device, merge=takes_counts(network))

    def after(entry: dict[str, float]) -> None:
        if watched is not None and source is not None:
            everyone = np.arange(len(watched.graphs))
            outputs = predict_outputs(network, source, everyone)
            entry.update(watched.judge(outputs.cpu().numpy()))
        if log is not None:
            log(entry)

    return after
