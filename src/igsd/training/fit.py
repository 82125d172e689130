"""``fit``: train the network of any method on graphs, with or without labels."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import nn

from igsd.batches.features import CHEMISTRY, FeatureMap, choose_parts
from igsd.batches.links import LinkFeatures
from igsd.batches.subtrees import SubtreeTargets
from igsd.encoders import norm, readout
from igsd.encoders.encoder import sees_links
from igsd.errors import ConfigError, DataError, ParameterError, counted, warn_user
from igsd.graphs.chemistry import BOND_NAMES
from igsd.graphs.graphset import GraphSet
from igsd.graphs.weights import weight_name
from igsd.model.igsd import ENCODER_RULE, IGSDModel, checked_rows
from igsd.model.network import Dims, Network, build_network
from igsd.settings import own
from igsd.settings.groups import (
    ENCODERS,
    LOSSES,
    VIEWS,
    Diffusion,
    Encoder,
    Features,
    Layers,
    Objective,
    Training,
    View,
)
from igsd.training import loop, ranks
from igsd.training.self_training import PseudoLabels
from igsd.training.task import LabelModule, Task, TrainingLabels, predict_outputs, shortened
from igsd.views.source import MOST_NODES, Source, bond_types, make_source

if TYPE_CHECKING:
    from lightning_fabric import Fabric  # which imports much of torch that only training needs

Losses = list[dict[str, float]]
"""The mean losses of each epoch."""


@dataclass(frozen=True)
class Pretrained:
    """The weights and losses of a pretraining, and all that they depend on: no labels."""

    identity: Mapping[str, Any]
    weights: Mapping[str, torch.Tensor]
    history: Losses


@dataclass(frozen=True)
class Fitted:
    """A trained network, its feature map, the losses of its epochs; ``before``: of pretraining.

    ``pretrained``: for a fit with other labels of the same graphs, which need not pretrain again.
    """

    network: Any
    features: FeatureMap
    history: Losses
    pseudo: PseudoLabels | None = None
    before: Losses = field(default_factory=list)
    pretrained: Pretrained | None = None


@dataclass(frozen=True)
class Watched:
    """Graphs scored after every epoch, never trained on; ``judge`` scores their outputs [G, C]."""

    graphs: GraphSet
    judge: Callable[[np.ndarray], dict[str, float]]


@dataclass(frozen=True)
class _Options:
    """The arguments of ``fit`` besides data and settings."""

    name: str
    encoder: Any = None
    view: Any = None
    loss: Any = None
    watched: Watched | None = None
    checkpoint: str | os.PathLike[str] | None = None
    log_dir: str | os.PathLike[str] | None = None
    verbose: bool = False
    pretrained: Pretrained | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    title: str = "training"


def fit_features(graphs: GraphSet, settings: Any) -> FeatureMap:
    """Return the features of nodes, and of links, that the configured encoder sees."""
    if not isinstance(settings, Features):
        return FeatureMap(("constant",))  # the method has node features of its own
    features = FeatureMap.fit(
        graphs,
        settings.node_features,
        settings.degree_cap,
        attributes=settings.node_attributes,
        edge_weight=settings.edge_weight,
    )
    encoder, links = getattr(settings, "encoder", "gin"), None
    if isinstance(settings, Encoder) and sees_links(encoder):
        links = fit_links(graphs, settings, features.parts, features.edge_weight)
    return features.with_edges(graphs, links, encoder, settings.directed)


def fit_links(
    graphs: GraphSet, settings: Any, parts: tuple[str, ...] = (), weight: str = ""
) -> LinkFeatures:
    """Return the features of links; only mpnn sees distances, and with them all pairs of atoms."""
    if parts == (CHEMISTRY,):
        return LinkFeatures(BOND_NAMES)
    num_bins = settings.distance_bins if settings.encoder == "mpnn" else 0
    directed = getattr(settings, "directed", "ignore") == "both"
    return LinkFeatures.fit(graphs, num_bins, weight=weight, directed=directed)


def check_trainable(graphs: GraphSet, settings: Any, name: str = "IGSD") -> None:
    """Raise for whatever would stop training at once: too few graphs, a setting, the device."""
    if len(graphs) < 2:
        raise DataError(
            f"{name} compares graphs, so it needs at least 2 to train on; {graphs.name!r} has 1."
        )
    count = ranks.num_ranks(settings.devices)
    for key in ("batch_size", "label_batch_size"):
        if getattr(settings, key, count) < count:
            raise ConfigError(
                f"Every process needs a graph of each batch: {key} must be at least devices. Got "
                f"{key}={getattr(settings, key)} and devices={count}."
            )
    if isinstance(settings, Features):
        choose_parts(graphs, settings.node_features, settings.node_attributes)
        weight_name(graphs, settings.edge_weight)
        _check_directions(settings)
    readout.parse_readout(settings.readout)
    if sees_links(settings.encoder):
        fit_links(graphs, settings)
        _check_views_of_links(settings)
    if isinstance(settings, View) and settings.view == "bond-types":
        bond_types(graphs, settings.num_views)
    if getattr(settings, "pretraining_epochs", 0) and settings.pretraining_targets == "geometry":
        from igsd.training.free_targets import check_molecules  # which few trainings need

        check_molecules(graphs)
    ranks.make_fabric(settings)


def _check_directions(settings: Any) -> None:
    """Raise ``ConfigError`` for directions that the encoder cannot see."""
    if settings.directed == "both" and not sees_links(settings.encoder):
        raise ConfigError(
            "directed='both' makes forward and backward two kinds of edges, which "
            f"encoder={settings.encoder!r} does not tell apart. Use encoder='gine', or "
            "directed='ignore'."
        )


def _check_views_of_links(settings: Any) -> None:
    """Raise ``ConfigError`` for views whose links have no kind, for an encoder that sees kinds."""
    if getattr(settings, "view", "") == "edge-perturb":
        raise ConfigError(
            f"view='edge-perturb' adds edges without a kind, which encoder={settings.encoder!r} "
            "needs. Use view='edge-drop', or encoder='gin'."
        )
    kinds = getattr(settings, "augmentations", "").split("+")
    suitable = [kind for kind in kinds if kind not in ("edge-perturb", "ppr", "heat")]
    if suitable != kinds:
        raise ConfigError(
            f"augmentations={settings.augmentations!r} adds edges without a kind, which "
            f"encoder={settings.encoder!r} needs. Use augmentations="
            f"{'+'.join(suitable) or 'edge-drop'!r}, or encoder='gin'."
        )


def fit(
    graphs: GraphSet,
    settings: Any,
    network_class: type[Network],
    *,
    name: str,
    labels: TrainingLabels | None = None,
    encoder: nn.Module | None = None,
    view: Any = None,
    loss: Any = None,
    watched: Watched | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    log_dir: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    pretrained: Pretrained | None = None,
    identity: Mapping[str, Any] = MappingProxyType({}),
) -> Fitted:
    """Return a network trained on ``graphs``; without ``labels`` no class or target is read.

    ``name``: the method's name in checkpoints and errors. ``watched``: graphs whose figures are
    added to the history; nothing is selected by them. With ``epochs=0`` nothing is trained. With
    ``checkpoint`` the run saves itself and resumes. The caller's random state is left as it was.
    ``encoder``, ``view`` and ``loss``: the user's own, else those that the settings name.
    ``pretrained``: that of an earlier fit, used if the graphs and the settings are the same.
    ``identity``: what else tells this run from others that might have left the checkpoint.
    """
    if view is not None or loss is not None or encoder is not None:
        pretrained = None  # the user's own code may have changed since
    check_trainable(graphs, settings, name)
    if isinstance(settings, Layers):
        encoder = own.part("encoders", settings.encoder, encoder, ENCODERS)
    is_trained = settings.epochs > 0
    if isinstance(settings, View) and (
        is_trained or getattr(settings, "embed_views", "") == "both"
    ):
        view = own.part("views", settings.view, view, VIEWS)
    if isinstance(settings, Objective) and is_trained:
        loss = own.part("losses", settings.loss, loss, LOSSES)
    options = _Options(
        name, encoder, view, loss, watched, checkpoint, log_dir, verbose, pretrained, identity
    )
    fabric = ranks.make_fabric(settings)
    ranks.warn_of_few_cores(fabric, settings.devices)
    _say_if_started_again(settings.devices)
    ranks.launch(fabric)
    with own.called("encoder", None, ENCODER_RULE):
        return _fit(graphs, settings, network_class, labels, fabric, options)


def _say_if_started_again(devices: int) -> None:
    """Warn the author of a script that it is about to run in several processes."""
    script, is_child = Path(sys.argv[0]), {"LOCAL_RANK", "RANK"} & os.environ.keys()
    is_ours = script.stem == "igsd" or script.parent.name == "igsd"
    if devices > 1 and not is_child and not is_ours and not hasattr(sys, "ps1"):
        warn_user(
            f"devices={devices} starts {script.name} {counted(devices - 1, 'more time')} with the "
            "same arguments, and all of it runs in every process. What must happen once, such as "
            'writing files, belongs under `if os.environ.get("LOCAL_RANK", "0") == "0":` after fit.'
        )


def _fit(
    graphs: GraphSet,
    settings: Any,
    network_class: type[Network],
    labels: TrainingLabels | None,
    fabric: Fabric,
    options: _Options,
) -> Fitted:
    settings = shortened(settings, labels)
    features, path, pretrained = fit_features(graphs, settings), options.checkpoint, None
    promises = hasattr(options.encoder, "out_dim") and hasattr(settings, "node_features")
    if isinstance(options.encoder, nn.Module) and promises:
        _check_encoder(options.encoder, graphs, features)
    subtrees = _subtrees(graphs, settings) if labels is None else None
    dims = Dims(
        features, 0 if labels is None else labels.num_outputs, options.encoder, options.loss
    )
    dims = dims if subtrees is None else replace(dims, num_subtrees=subtrees.width)
    with loop.RandomStream(settings.seed, fabric.device) as stream:
        network = build_network(network_class, settings, dims)
    module: Any = network if labels is None else LabelModule(network, len(graphs))
    pseudo = None if labels is None else module.pseudo
    if settings.epochs == 0:
        return Fitted(network.eval(), features, [], pseudo and pseudo.collected())
    if labels is not None and (path is None or not os.path.exists(path)):
        pretrained = _pretrain(network, graphs, settings, fabric, options)
    if settings.sync_batch_norm:
        norm.synchronise(network)
    groups = _parameter_groups(module, settings)
    forward, optimizer = loop.set_up(module, fabric, settings, groups)
    options = replace(options, verbose=options.verbose and fabric.is_global_zero)
    source = _source(network, graphs, features, settings, fabric, options, subtrees)
    task = Task(module, forward, optimizer, source, settings, fabric, labels)
    identity = {"data": graphs.without_labels().checksum, "method": options.name}
    if labels is not None:
        identity["labels"] = labels.checksum
    progress = loop.run_training(
        task,
        optimizer,
        fabric,
        stream,
        checkpoint=path,
        checkpoint_every=settings.checkpoint_every,
        identity=identity | settings.learned() | options.identity | {"devices": fabric.world_size},
        defaults=type(settings)().learned(),
        on_epoch=_after_epoch(network, features, fabric, options),
        verbose=options.verbose,
        title=options.title,
        before=[] if pretrained is None else pretrained.history,
    )
    if path is not None:
        Path(f"{os.fspath(path)}.pretraining").unlink(missing_ok=True)
    network.finish()
    if labels is None or pseudo is None:
        return Fitted(network, features, progress.history)
    if task.starts and len(labels.unlabelled):
        pseudo.warn_if_none(settings.self_training_threshold)
    found = (pseudo.collected(), progress.before, pretrained)
    return Fitted(network, features, progress.history, *found)


def _subtrees(graphs: GraphSet, settings: Any) -> SubtreeTargets | None:
    """Return the subtrees that the settings ask a training without labels to predict."""
    if getattr(settings, "subtree_weight", 0.0) > 0 and settings.epochs:
        return SubtreeTargets.count(graphs, settings.subtree_height, MOST_NODES)
    return None


def _source(
    network: Network,
    graphs: GraphSet,
    features: FeatureMap,
    settings: Any,
    fabric: Fabric,
    options: _Options,
    subtrees: SubtreeTargets | None,
) -> Source:
    """Return the source of training steps; fixed views are made now, with a bar of their own."""
    view = view_of(settings) if network.needs_views else None
    kwargs: dict[str, Any] = {"view": view, "own_view": options.view, "subtrees": subtrees}
    kwargs |= {"cache": getattr(settings, "cache_views", True), "merge": network.takes_counts}
    kwargs |= {"seed": settings.seed, "verbose": options.verbose}
    source = make_source(graphs, features, fabric.device, **kwargs)
    if view is not None and view.is_fixed_view:
        source.fixed_views  # noqa: B018
    return source


def _check_encoder(encoder: nn.Module, graphs: GraphSet, features: FeatureMap) -> None:
    """Raise ``ParameterError`` if the user's own encoder does not encode graphs as it promises."""
    probe, width = copy.deepcopy(encoder).eval(), getattr(encoder, "out_dim", None)
    device = next((weights.device for weights in probe.parameters()), torch.get_default_device())
    batch = Source(graphs.take([0, 1]), features, device).batch(np.arange(2))
    try:
        with torch.no_grad():
            rows = probe(batch)
    except NotImplementedError:  # without a forward; the network says what it needs
        return
    except RuntimeError as error:
        raise ParameterError(
            "encoder",
            "IGSD",
            f"must take the node features of {graphs.name!r}, batch.x [nodes, {features.dim}] "
            f"({features.used}). {type(encoder).__qualname__} fails on them: "
            f"{own.what_was_raised(error, encoder)}. Build it for "
            f"{features.dim} columns, or choose others with node_features.",
        ) from error
    except Exception:
        with own.called("encoder", encoder, ENCODER_RULE):
            raise
    shape = rows.shape if isinstance(rows, torch.Tensor) else ()
    if isinstance(width, int) and shape and shape != (2, width):
        raise ParameterError(
            "encoder",
            "IGSD",
            f"must return one row of out_dim={width} numbers for each graph. For 2 graphs "
            f"{type(encoder).__qualname__} returned the shape {list(shape)}.",
        )
    if isinstance(width, int):
        checked_rows(encoder, (batch,), rows)


def view_of(settings: Any) -> Diffusion | None:
    """Return the settings of a method's view, None for a method without one."""
    if isinstance(settings, Diffusion):
        return settings
    return settings.perturbation() if hasattr(settings, "perturbation") else None


def _pretrain(
    network: Any, graphs: GraphSet, settings: Any, fabric: Fabric, options: _Options
) -> Pretrained | None:
    """Pretrain without labels if the settings ask for it, and return what it gave.

    Minimises Eq. InfoNCE over all training graphs, or the error of targets that are computed from
    them (``pretraining_targets``; departs from the paper), and loads the weights into student and
    teacher. With a checkpoint, this part has its own file beside it and resumes.
    """
    epochs = getattr(settings, "pretraining_epochs", 0)
    if not epochs:
        return None
    from igsd.training import free_targets  # which a training without labels does not need

    path = None if options.checkpoint is None else f"{os.fspath(options.checkpoint)}.pretraining"
    # The learning rate halves only with labels; a checkpoint is still identified by the setting.
    identity = {"halve_every": settings.halve_every}
    inner = replace(options, watched=None, checkpoint=path, log_dir=None)
    inner = replace(inner, title="pretraining", identity=identity)
    by_targets = settings.pretraining_targets == "geometry"
    alone = settings.known(free_targets.ALONE) if by_targets else {}
    settings = settings.updated({"epochs": epochs, "halve_every": 0, **alone})
    identity = {"data": graphs.without_labels().checksum, **settings.learned()}
    found = options.pretrained
    if found is None or found.identity != identity:
        labels = free_targets.geometry_labels(graphs) if by_targets else None
        kind = type(network) if by_targets else IGSDModel
        fitted = _fit(graphs, settings, kind, labels, fabric, inner)
        trained = fitted.network.igsd if by_targets else fitted.network
        found = Pretrained(identity, trained.state_dict(), fitted.history)
    network.igsd.load_state_dict(found.weights)
    return found


def _parameter_groups(module: Any, settings: Training) -> loop.ParameterGroups:
    """Return the trained parameters in groups, each with its ``share`` of the learning rate."""
    parameters = loop.trainable(module)
    share = getattr(settings, "encoder_rate", 1.0)
    if share == 1 or not isinstance(module, LabelModule):
        return [{"params": parameters, "share": 1.0}]
    head = list(cast(Any, module.network).head.parameters())
    known = set(map(id, head))
    others = [parameter for parameter in parameters if id(parameter) not in known]
    return [{"params": head, "share": 1.0}, {"params": others, "share": share}]


def _after_epoch(
    network: Network, features: FeatureMap, fabric: Fabric, options: _Options
) -> Callable[[dict[str, float]], None]:
    """Return a function that adds the figures of watched graphs to an epoch's entry and logs it."""
    log = loop.epoch_logger(options.log_dir) if fabric.is_global_zero else None
    if (watched := options.watched) is not None:
        source = make_source(watched.graphs, features, fabric.device, merge=network.takes_counts)

    def after(entry: dict[str, float]) -> None:
        if watched is not None:
            outputs = predict_outputs(network, source, np.arange(len(watched.graphs)))
            entry.update(watched.judge(outputs.cpu().numpy()))
        if log is not None:
            log(entry)

    return after
