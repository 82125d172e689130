"""``train_model``: a method fitted on graphs, with or without labels, and the vectors it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from igsd.baselines.registry import build
from igsd.errors import ConfigError
from igsd.experiments.environment import Stopwatch, now
from igsd.files.columns import Columns
from igsd.files.models import RunMetrics
from igsd.graphs.graphset import GraphSet
from igsd.graphs.labels import GraphLabels
from igsd.settings.fields import Settings


@dataclass(frozen=True)
class Trained:
    """A fitted model, the vectors of its training graphs, and the seconds that both took.

    ``cpu_seconds``: the processor time of both.
    """

    seed: int
    model: Any
    vectors: np.ndarray
    seconds: dict[str, float]
    cpu_seconds: float
    started: str

    def calibration_text(self) -> str:
        """Return a line on what calibrating the probabilities changed, empty if they were not."""
        found = getattr(self.model, "calibration_", None)
        if found is None:
            return ""
        losses = f"log loss {found['before']:.3f} before, {found['after']:.3f} after"
        where = f"{found['graphs']} labels held out in {found['folds']} parts"
        return f"probabilities calibrated on {where}: {losses}\n"

    def metrics(self) -> RunMetrics:
        """Return what ``metrics.json`` of a run folder says about the training."""
        history = getattr(self.model, "history_", [])
        metrics: RunMetrics = {
            "seed": self.seed,
            "epochs": len(history),
            "final_loss": history[-1]["total"] if history else None,
            "seconds": self.seconds,
            "started": self.started,
            "embedding_dim": int(self.vectors.shape[1]),
            "notes": list(getattr(self.model, "notes_", ())),
        }
        if hasattr(self.model, "pseudo_labels_"):
            metrics["pseudo_labels"] = len(self.model.pseudo_labels_)
        return metrics


def fit_model(
    graphs: GraphSet,
    config: Settings,
    method: str = "igsd",
    labels: GraphLabels | None = None,
    **kwargs: Any,
) -> Any:
    """Return a method fitted on ``graphs``, with ``labels`` if it is to predict them.

    ``kwargs``: ``checkpoint``, ``log_dir`` and ``verbose``, for methods that train a network.
    """
    if labels is None:
        return build(method, config, **kwargs).fit(graphs)
    names = {} if labels.are_classes else {"target_names": labels.names}
    return build(method, config, labels.task, **kwargs).fit(graphs, labels.y, **names)


def train_model(
    graphs: GraphSet,
    config: Settings,
    *,
    method: str = "igsd",
    labels: GraphLabels | None = None,
    calibration: int = 0,
    **kwargs: Any,
) -> Trained:
    """Return a method fitted on ``graphs`` as by ``fit_model``, and the vectors it gives them.

    ``calibration``: folds by which a network's probabilities of classes are calibrated, 0 for none.
    """
    started, watch = now(), Stopwatch()
    model = fit_model(graphs, config, method, labels, **kwargs)
    if calibration and labels is not None and is_calibrated_apart(config, labels):
        model.calibrate(graphs, labels.y, calibration)
    watch.lap("train")
    vectors = model.transform(graphs)
    watch.lap("embed")
    return Trained(config.seed, model, vectors, watch.seconds, watch.cpu_seconds, started)


def is_calibrated_apart(config: Settings, labels: GraphLabels | None) -> bool:
    """Return whether a method trains a network of classes, whose probabilities need folds."""
    return "checkpoint" in config.besides and labels is not None and labels.are_classes


def hide_labels(labels: GraphLabels, rate: float, seed: int) -> GraphLabels:
    """Return the labels with all but a share hidden; the share is the same for every class.

    At least one label of each class stays. Raises ``ConfigError`` for an invalid share.
    """
    from igsd.evaluation.semi import stratified_sample

    if not 0 < rate <= 1:
        raise ConfigError(f"The share of labels to show must be between 0 and 1. Got {rate}.")
    known = np.flatnonzero(labels.is_known)
    if rate == 1 or not len(known):
        return labels
    names = np.array([labels.y[i] for i in known]) if labels.are_classes else np.zeros(len(known))
    kept = stratified_sample(known, names, rate, np.random.default_rng([seed, 7]))
    if labels.are_classes:
        shown = set(kept.tolist())
        return replace(labels, y=[v if i in shown else None for i, v in enumerate(labels.y)])
    numbers = np.full_like(labels.y, np.nan)
    numbers[kept] = labels.y[kept]
    return replace(labels, y=numbers)


def hidden_score(
    model: Any, graphs: GraphSet, labels: GraphLabels, used: GraphLabels
) -> Mapping[str, Any]:
    """Return the score on graphs whose label was hidden: ``accuracy``, or ``mae`` per target.

    ``roc_auc``, by name, of targets for which probabilities are predicted, if both 0 and 1 occur.
    """
    hidden = np.flatnonzero(labels.is_known & ~used.is_known)
    if not len(hidden):
        return {}
    predicted = model.predict(graphs.take(hidden))
    if labels.are_classes:
        hits = predicted == np.array([labels.y[i] for i in hidden])
        return {"graphs": len(hidden), "accuracy": float(hits.mean())}
    from igsd.evaluation.metrics import mae  # scikit-learn is slow to import

    given = labels.y[hidden].reshape(len(hidden), -1)
    predicted = predicted.reshape(given.shape)
    areas = _areas(model, labels.names, given, predicted)
    return {"graphs": len(hidden), "mae": mae(predicted, given).tolist()} | (
        {"roc_auc": areas} if areas else {}
    )


def _areas(
    model: Any, names: Sequence[str], given: np.ndarray, predicted: np.ndarray
) -> dict[str, float]:
    """Return the ROC-AUC of the targets [n, t] for which a model predicts probabilities."""
    from igsd.evaluation.metrics import roc_auc  # scikit-learn is slow to import

    found = {}
    for place, are_probabilities in enumerate(getattr(model, "are_probabilities_", ())):
        known = are_probabilities & ~np.isnan(given[:, place])
        area = roc_auc(given[known, place], predicted[known, place])
        if area is not None:
            found[names[place]] = area
    return found


def pseudo_label_columns(
    model: Any, graphs: GraphSet, labels: GraphLabels | None = None
) -> Columns:
    """Return the pseudo-labels of a training as columns: graph, class, confidence and round.

    With ``labels`` also ``true``, the class that is known and was hidden, None if it is unknown.
    """
    from igsd.estimators.predictions import about_graphs

    found = model.pseudo_labels_
    columns = {key: [vals[i] for i in found.graphs] for key, vals in about_graphs(graphs).items()}
    columns |= {
        "class": model.classes_[found.codes].tolist() if len(found) else [],
        "confidence": found.confidence.tolist(),
        "round": found.rounds.tolist(),
    }
    if labels is not None and labels.are_classes:
        columns["true"] = [labels.y[i] for i in found.graphs]
    return columns


def held_out_columns(model: Any, graphs: GraphSet, labels: GraphLabels) -> Columns:
    """Return what models that had not seen a label predict for it, by cross-validation, as columns.

    Those of ``about_graphs``, ``target``, ``given`` and ``predicted``; for classes also one
    ``p_CLASS`` per class. No columns if the model was not cross-validated.
    """
    from igsd.estimators.predictions import about_graphs

    found = getattr(model, "held_out_", ())
    if not found:
        return {}
    about, columns = about_graphs(graphs), dict[str, list[object]]()
    names = model.classes_.tolist() if labels.are_classes else []
    for target, (rows, outputs) in zip(labels.names, found, strict=True):
        y = labels.y if labels.are_classes else labels.y.reshape(len(graphs), len(labels.names))
        place = labels.names.index(target)
        given = [y[i] if labels.are_classes else float(y[i, place]) for i in rows]
        best = [names[code] for code in outputs.argmax(axis=1)] if names else outputs[:, 0].tolist()
        part: dict[str, list[object]] = {
            key: [vals[i] for i in rows] for key, vals in about.items()
        }
        part |= {"target": [target] * len(rows), "given": given, "predicted": best}
        part |= {f"p_{name}": outputs[:, code].tolist() for code, name in enumerate(names)}
        for key, values in part.items():
            columns.setdefault(key, []).extend(values)
    return columns


def pseudo_label_counts(
    rounds: Sequence[int], is_right: Sequence[bool | None]
) -> dict[str, list[int]]:
    """Return how many pseudo-labels each of the ``rounds`` gave, could be checked and were right.

    ``is_right``: of each pseudo-label, None where its class is not known.
    """
    counts: dict[int, list[int]] = {}
    for number, right in zip(rounds, is_right, strict=True):
        entry = counts.setdefault(number, [0, 0, 0])
        for place, holds in enumerate((True, right is not None, bool(right))):
            entry[place] += holds
    found, names = sorted(counts), ("given", "checked", "right")
    columns = {name: [counts[r][place] for r in found] for place, name in enumerate(names)}
    return {"rounds": found} | columns
