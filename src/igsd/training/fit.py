"""``fit_self_supervised``: from graphs and a configuration to a trained model."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from torch import nn

from igsd.config import Config
from igsd.encoders.encoder import takes_counts
from igsd.encoders.readout import parse_readout
from igsd.errors import DataError
from igsd.graphs.features import FeatureMap, choose_parts
from igsd.graphs.graphset import GraphSet
from igsd.graphs.link_features import LinkFeatures
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel
from igsd.training.logging import epoch_logger
from igsd.training.loop import run_training
from igsd.training.self_supervised import SelfSupervisedTask
from igsd.training.start import make_fabric, seeded_fabric, set_up
from igsd.views.bond_types import bond_types
from igsd.views.molecule_pairs import make_pairs
from igsd.views.spec import ViewSpec


@dataclass(frozen=True)
class Fitted:
    """A trained model, the node features it knows, and the losses of its epochs."""

    model: IGSDModel
    features: FeatureMap
    history: list[dict[str, float]]


def view_spec(config: Config) -> ViewSpec:
    """Return the view that a configuration asks for."""
    return ViewSpec(
        kind=config.view,
        teleport=config.teleport,
        heat_time=config.heat_time,
        threshold=config.threshold,
        top_k=config.top_k or None,
        drop_rate=config.drop_rate,
        exact_limit=config.exact_limit,
        num_views=config.num_views,
    )


def fit_features(graphs: GraphSet, config: Config) -> FeatureMap:
    """Return what the configured encoder sees of these graphs: of their nodes, and of links."""
    features = FeatureMap.fit(graphs, config.node_features, config.degree_cap)
    if config.encoder != "mpnn":
        return features
    return replace(features, links=LinkFeatures.fit(graphs, config.distance_bins))


def check_trainable(graphs: GraphSet, config: Config) -> None:
    """Raise for whatever would end the training at once: too few graphs, a setting, the device.

    Nothing is made or changed, so that it can be asked before an old result is replaced.
    """
    if len(graphs) < 2:
        raise DataError(
            f"IGSD tells graphs apart, so it needs at least 2 to train on; {graphs.name!r} has 1."
        )
    choose_parts(graphs, config.node_features)
    parse_readout(config.readout)
    if config.encoder == "mpnn":
        LinkFeatures.fit(graphs, config.distance_bins)
    if view_spec(config).kind == "bond-types":
        bond_types(graphs, config.num_views)
    make_fabric(config)


def fit_self_supervised(
    graphs: GraphSet,
    config: Config,
    *,
    encoder: nn.Module | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    log_dir: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    title: str = "training",
) -> Fitted:
    """Return IGSD trained on ``graphs``, whose classes and targets are never read.

    With ``epochs=0`` the result is the untrained encoder. The caller's random state is untouched.
    ``title``: of the progress bar that ``verbose`` shows.
    """
    check_trainable(graphs, config)
    features = fit_features(graphs, config)
    with seeded_fabric(config) as fabric:
        model = build_model(config, features.dim, encoder, features.links)
        if config.epochs == 0:
            return Fitted(model.eval(), features, [])
        forward, optimizer = set_up(model, fabric, config)
        pairs = make_pairs(
            graphs,
            features,
            view_spec(config),
            seed=config.seed,
            device=fabric.device,
            cache=config.cache_views,
            merge=takes_counts(model.student.encoder),
        )
        task = SelfSupervisedTask(
            model,
            forward,
            pairs,
            fabric,
            epochs=config.epochs,
            batch_size=config.batch_size,
            temperature=config.temperature,
            ema_decay=config.ema_decay,
        )
        progress = run_training(
            task,
            optimizer,
            fabric,
            checkpoint=checkpoint,
            checkpoint_every=config.checkpoint_every,
            identity={"data": graphs.without_labels().checksum} | config.learned(),
            on_epoch=epoch_logger(log_dir) if fabric.is_global_zero else None,
            verbose=verbose and fabric.is_global_zero,
            title=title,
        )
    return Fitted(model, features, progress.history)
