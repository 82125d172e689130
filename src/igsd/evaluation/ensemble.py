"""``Ensemble``: small models, weighed and calibrated by cross-validation inside the labels."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.model_selection import KFold, StratifiedKFold

from igsd.evaluation.metrics import accuracy, mae, roc_auc
from igsd.evaluation.small_model_base import SmallModel
from igsd.evaluation.small_models import HEADS, held_out, loss
from igsd.files.arrays import Header

_SMALLEST_WEIGHT = 0.02
_DRAWS = 200
FEWEST_JUDGED = 8
"""Labelled molecules that an estimate of quality needs."""


class Candidate(NamedTuple):
    """A small model on some inputs, and how it did where it had not seen the label.

    ``score``: ROC-AUC for two classes, accuracy for more, mean absolute error for numbers.
    """

    inputs: str
    head: str
    value: Any
    loss: float
    score: float
    weight: float

    @property
    def title(self) -> str:
        """Its name in a table."""
        return f"{self.head} on {self.inputs}"


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weighted mean of small models for one target, and what cross-validation says of it.

    ``power``: probabilities are raised to it and normalised again, which calibrates them.
    ``residuals``: sorted absolute errors of numbers that were held out, in units of the targets.
    ``score``, ``loss``: of the ensemble on held-out labels. ``metric``: what the score is.
    ``error``: the standard error of the score over molecules, NaN in files of earlier versions.
    ``is_judged``: whether the labels are enough to say how good it is. ``held``: the outputs [n, o]
    on held-out labels, after a fit only: a file does not keep them.
    """

    candidates: tuple[Candidate, ...]
    models: Mapping[int, SmallModel]
    power: float
    residuals: np.ndarray
    score: float
    loss: float
    metric: str
    is_judged: bool = True
    held: np.ndarray | None = None
    error: float = math.nan

    @property
    def is_class(self) -> bool:
        """Whether it predicts probabilities of classes."""
        return not len(self.residuals)

    def summary(self, scale: float = 1.0) -> list[dict[str, object]]:
        """Return the rows of a table: the ensemble, then the models it is made of, best first.

        ``scale``: the unit of a number, 0 if all known ones are equal: then there is no R2.
        Columns: ROC-AUC or accuracy, and log loss, for classes; MAE, in units of the target, and
        R2 for numbers; the standard error of the first of them, for the ensemble; the weight.
        """
        unit = 1.0 if self.is_class else scale

        def row(
            title: str, score: float, own: float, weight: float, error: float = math.nan
        ) -> dict[str, object]:
            names = (self.metric, "standard error", "log loss" if self.is_class else "R2")
            explained = 1 - own if scale else "-"  # equal numbers have no variance to explain
            spread = "" if math.isnan(error) else error * unit
            values = (score * unit, spread, own if self.is_class else explained)
            shown = values if self.is_judged else ("-", "", "-")
            return {"model": title, **dict(zip(names, shown, strict=True)), "weight": weight}

        rows = sorted(self.candidates, key=lambda each: each.loss)
        others = [row(each.title, each.score, each.loss, each.weight) for each in rows]
        return [row("all, by their weights", self.score, self.loss, 1.0, self.error), *others]

    def outputs(self, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return probabilities [n, C], or numbers [n, 1], of rows with these inputs."""
        total: Any = 0.0
        for place, model in self.models.items():
            candidate = self.candidates[place]
            outputs = model(inputs[candidate.inputs])
            if self.is_class:
                outputs = HEADS[candidate.head].probabilities(outputs)
            total = total + candidate.weight * outputs
        return powered(total, self.power) if self.is_class else total

    def to_json(self) -> Header:
        """Return all but the arrays."""
        return {
            "candidates": [list(candidate) for candidate in self.candidates],
            "models": sorted(self.models),
            "power": self.power,
            "score": self.score,
            "loss": self.loss,
            "metric": self.metric,
            "is_judged": self.is_judged,
            "error": None if math.isnan(self.error) else self.error,
        }

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the arrays under names with a prefix."""
        found = {f"{prefix}residuals": self.residuals}
        for place, model in self.models.items():
            found |= model.arrays(f"{prefix}model{place}.")
        return found

    @classmethod
    def from_json(cls, value: Header, arrays: Mapping[str, np.ndarray], prefix: str) -> Self:
        """Return the ensemble that ``to_json`` and ``arrays`` describe."""
        candidates = tuple(
            Candidate(name, head, tuple(own) if isinstance(own, list) else own, *numbers)
            for name, head, own, *numbers in value["candidates"]
        )
        models = {
            place: HEADS[candidates[place].head].model.from_arrays(arrays, f"{prefix}model{place}.")
            for place in value["models"]
        }
        residuals = arrays[f"{prefix}residuals"]
        numbers = (float(value["power"]), residuals, float(value["score"]), float(value["loss"]))
        facts = (str(value["metric"]), bool(value["is_judged"]))
        error = value.get("error")
        return cls(
            candidates, models, *numbers, *facts, error=math.nan if error is None else float(error)
        )


def fit_ensemble(
    inputs: Mapping[str, np.ndarray],
    Y: np.ndarray,
    names: Sequence[tuple[str, str]],
    *,
    is_class: bool,
    groups: np.ndarray | None = None,
    folds: int = 5,
    sharpness: float = 0.06,
    seed: int = 0,
    advance: Callable[[int], Any] = lambda count: None,
) -> Ensemble:
    """Return the weighted mean of small models (input, head), fitted to Y [n, o].

    Every model predicts each label from the others by cross-validation. The weight of a model
    falls with its loss there: exp(-(loss / best loss - 1) / sharpness). Weights below 0.02 are 0.
    The same held-out predictions calibrate probabilities and give intervals. ``groups`` [n]: rows
    with equal numbers are measurements of one molecule and are held out together. ``advance``: told
    whenever a model is done.
    """
    groups = np.arange(len(Y)) if groups is None else groups
    _, first, places = np.unique(groups, return_index=True, return_inverse=True)
    parts, found = _folds(Y[first], folds, seed, is_class=is_class), []
    parts = [np.flatnonzero(np.isin(places, part)) for part in parts]
    for name, head in names:
        found.append(held_out(HEADS[head], inputs[name], Y, parts, is_class, seed, groups=places))
        advance(1)
    losses = np.array([loss(each.outputs, Y, is_class) for each in found])
    relative = losses / max(losses.min(), 1e-12) - 1
    weights = softmax(-(relative if is_class else relative / 2) / sharpness)
    weights[weights < _SMALLEST_WEIGHT] = 0
    weights /= weights.sum()
    joined = np.tensordot(weights, np.array([each.outputs for each in found]), axes=1)
    power = calibrating_power(joined, Y) if is_class else 1.0
    held = powered(joined, power) if is_class else joined
    candidates = tuple(
        Candidate(
            *name, each.value, float(own), _score(each.outputs, Y, is_class=is_class), float(weight)
        )
        for name, each, own, weight in zip(names, found, losses, weights, strict=True)
    )
    models = {
        place: found[place].model
        or HEADS[each.head].fit(inputs[each.inputs], Y, (each.value,), is_class, seed)[0]
        for place, each in enumerate(candidates)
        if each.weight > 0
    }
    residuals = np.empty(0) if is_class else np.sort(np.abs(joined - Y)[:, 0])
    own = _score(held, Y, is_class=is_class)
    metric = ("ROC-AUC" if Y.shape[1] == 2 else "accuracy") if is_class else "MAE"
    is_judged = len(first) >= FEWEST_JUDGED and (not is_class or len(_several(Y[first])) >= 2)
    found_loss = loss(held, Y, is_class)
    facts = (power, residuals, own, found_loss, metric, is_judged, held)
    error = _standard_error(held, Y, places, is_class=is_class) if is_judged else math.nan
    return Ensemble(candidates, models, *facts, error=error)


def _standard_error(
    outputs: np.ndarray, Y: np.ndarray, groups: np.ndarray, *, is_class: bool
) -> float:
    """Return the standard deviation of the score over sets of molecules drawn with replacement."""
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    rng, scores = np.random.default_rng(0), list[float]()
    for _ in range(_DRAWS):
        drawn = rng.integers(0, len(members), len(members))
        rows = np.concatenate([members[place] for place in drawn.tolist()])
        if not is_class or np.ptp(Y[rows].argmax(axis=1)):  # one class alone has no score
            scores.append(_score(outputs[rows], Y[rows], is_class=is_class))
    return float(np.std(scores)) if scores else math.nan


def conformal_width(residuals: np.ndarray, coverage: float) -> float:
    """Return the half width of intervals that cover a share of new numbers.

    The ceil((n + 1) coverage)-th smallest of n held-out errors; infinite if there are too few.
    """
    place = int(np.ceil((len(residuals) + 1) * coverage)) - 1
    return float(residuals[place]) if place < len(residuals) else np.inf


def _folds(Y: np.ndarray, most: int, seed: int, *, is_class: bool) -> list[np.ndarray]:
    """Return the rows that are held out together: stratified, as far as classes have two rows."""
    rows, codes = np.zeros(len(Y)), Y.argmax(axis=1)
    several = _several(Y) if is_class else np.empty(0)
    if len(several):
        splitter = StratifiedKFold(min(most, int(several.min())), shuffle=True, random_state=seed)
    else:
        splitter = KFold(min(most, len(Y)), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a class has a single row
        return [test for _, test in splitter.split(rows, codes)]


def _several(Y: np.ndarray) -> np.ndarray:
    """Return the sizes of the classes with two rows or more, of one-hot rows Y [n, C]."""
    sizes = Y.sum(axis=0)
    return sizes[sizes >= 2]


def powered(probabilities: np.ndarray, power: float) -> np.ndarray:
    """Return probabilities [n, C] raised to a power and normalised again."""
    return softmax(power * np.log(np.clip(probabilities, 1e-12, None)), axis=1)


def calibrating_power(probabilities: np.ndarray, Y: np.ndarray) -> float:
    """Return the power with the lowest log loss, held back towards 1 by a few pseudo-labels."""
    powers = np.logspace(-1, 1, 81)
    losses = [loss(powered(probabilities, p), Y, True) for p in powers]
    held_back = np.square(np.log(powers)) / max(len(Y), 1)
    return float(powers[int(np.argmin(np.array(losses) + held_back))])


def _score(outputs: np.ndarray, Y: np.ndarray, *, is_class: bool) -> float:
    if not is_class:
        return float(mae(outputs[:, 0], Y[:, 0]))
    codes = Y.argmax(axis=1)
    area = roc_auc(codes, outputs[:, 1]) if Y.shape[1] == 2 else None
    return accuracy(outputs.argmax(axis=1), codes) if area is None else area
