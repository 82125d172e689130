"""Classes and numbers of molecules from few labels, by small models on fixed vectors."""

import os
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from igsd.errors import ConfigError, DataError, counted, warn_user
from igsd.estimators.base import ConfiguredEstimator, settings_as_parameters
from igsd.estimators.inputs import (
    INPUTS,
    InputScale,
    candidates_for,
    heads_for,
    parsed_names,
    parts_of,
    raw_inputs,
)
from igsd.estimators.molecules import MoleculeEncoder, open_encoder
from igsd.estimators.targets import (
    TargetScale,
    accuracy,
    are_binary,
    check_known,
    class_array,
    codes_of,
    encode_classes,
    read_targets,
    target_names_of,
)
from igsd.evaluation.ensemble import FEWEST_JUDGED, Ensemble, conformal_width, fit_ensemble
from igsd.evaluation.neighbors import Space, nearest
from igsd.evaluation.small_models import HEADS
from igsd.files.arrays import Header
from igsd.files.columns import number_text
from igsd.files.models import read_model, whole_model, write_model
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import smiles_of
from igsd.graphs.open import as_graphset
from igsd.graphs.readers.smiles import molecule_codes
from igsd.progress import progress_bar
from igsd.settings.igsd import PredictorConfig


class MoleculePredictor(ConfiguredEstimator[Any]):
    """Base of the two predictors for molecules.

    Inputs are the vectors of the pre-trained encoder, RDKit's descriptors and counts of circular
    fragments (ECFP4). Small models learn from them; cross-validation inside the labels weighs the
    models, calibrates the result and says how good it is.

    Learned: ``ensembles_`` (one for each target), ``encoder_``, ``labelled_`` (vectors and names
    of the molecules with a label), ``notes_``. ``held_out_``, after a fit only: for each target the
    molecules with a label, and the outputs for them of models that had not seen it.
    """

    ensembles_: list[Ensemble]
    encoder_: MoleculeEncoder
    notes_: tuple[str, ...]
    held_out_: list[tuple[np.ndarray, np.ndarray]]
    _scale: InputScale
    _vectors: np.ndarray
    _known: np.ndarray
    _names: list[str]
    _labels: list[str]

    def _fit_all(self, graphs: GraphSet, targets: Sequence[np.ndarray]) -> Self:
        """Fit one ensemble for each of the targets Y [G, o]; a row of NaN has no label.

        Y has a column for each class, or a single one of numbers.
        """
        config = self._config_of_fit()
        inputs, heads = parsed_names(config.inputs, INPUTS, "inputs"), tuple(HEADS)
        heads = parsed_names(config.models, heads, "models")
        known = [~np.isnan(Y).any(axis=1) for Y in targets]
        rows = np.flatnonzero(np.any(known, axis=0))
        self.encoder_, labelled = open_encoder(config.encoder), graphs.take(rows)
        raw = raw_inputs(labelled, inputs, self.encoder_, shown=self._shown())
        self._scale = InputScale.fit(raw)
        scaled = self._scale.apply(raw)
        self.ensembles_ = []
        plans = [
            candidates_for(inputs, heads_for(Y, heads), int(is_known.sum()))
            for Y, is_known in zip(targets, known, strict=True)
        ]
        total, molecules = sum(len(names) for names in plans), molecule_codes(labelled)
        kwargs: Any = {"folds": config.folds, "sharpness": config.sharpness, "seed": config.seed}
        with progress_bar("comparing models", total, shown=self._shown()) as advance:
            for Y, is_known, names in zip(targets, known, plans, strict=True):
                part = {name: values[is_known[rows]] for name, values in scaled.items()}
                kwargs |= {"is_class": Y.shape[1] > 1, "advance": advance}
                kwargs["groups"] = molecules[is_known[rows]]
                self.ensembles_.append(fit_ensemble(part, Y[is_known], names, **kwargs))
        pairs = zip(known, self.ensembles_, strict=True)
        self.held_out_ = [(np.flatnonzero(rows), np.asarray(each.held)) for rows, each in pairs]
        vectors = raw["vectors"] if "vectors" in raw else self.encoder_.transform(labelled)
        self._vectors = np.asarray(vectors, np.float32)
        self._known = np.stack(known, axis=1)[rows]
        about = labelled.ids if labelled.ids is not None else labelled.graph_names
        self._names = [str(name) for name in about or ()]
        self.config_, self.standardised_ = config, graphs.standardised
        unused = len(graphs) - len(rows)
        self.notes_ = ()
        if unused:
            text = f"{unused} of {len(graphs)} molecules have no label; the predictor learns from "
            self.notes_ = (f"{text}those that have one.",)
        if repeats := len(rows) - len(np.unique(molecules)):
            verb = "repeats" if repeats == 1 else "repeat"
            text = f"{counted(repeats, 'label')} {verb} a molecule that has one already, apart "
            text += "from salts and charges: what is measured on held-out labels leaves out all "
            self.notes_ = (*self.notes_, f"{text}labels of a molecule at once.")
            warn_user(self.notes_[-1])
        if not all(each.is_judged for each in self.ensembles_):
            text = (
                "There are too few labels to say how good the predictions are: with fewer than "
                f"{FEWEST_JUDGED} molecules, or only one class that has two, they may be worse "
                "than guessing."
            )
            self.notes_ = (*self.notes_, text)
            warn_user(text)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors [G, d] of the encoder."""
        check_is_fitted(self, "config_")
        return self.encoder_.set_params(verbose=self._shown()).transform(self._read(X))

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        return self.encoder_.n_features_out_

    def nearest_labelled(
        self, X: Any, k: int = 1, *, target: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (places, distances), [G, k] each, of the nearest molecules with a label.

        ``target``: which of several targets the label is of. Places count the molecules with any
        label in their order; distances as ``igsd.neighbors`` gives them, but of columns as the
        encoder scaled them over its corpus: a few labels would not tell how they vary.
        """
        check_is_fitted(self, "config_")
        return self._nearest(self.transform(X), target, k)

    def _nearest(self, vectors: np.ndarray, target: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        known = np.flatnonzero(self._known[:, target])
        places, distances = nearest(
            self._vectors[known], vectors, k, space=Space.plain(self.n_features_out_)
        )
        return known[places], distances

    def nearness(self, X: Any) -> dict[str, list[object]]:
        """Return columns about what is known near each molecule.

        ``distance`` to the nearest molecule with a label, its name (``nearest``) and its label
        (``nearest_label``), and ``is_far``: whether it is farther away than 95 % of the molecules
        with a label are from the nearest other one. Of several targets that are not known of the
        same molecules each has its own columns, ``distance_T`` and so on.
        """
        check_is_fitted(self, "config_")
        vectors, columns = self.transform(X), dict[str, list[object]]()
        is_shared = bool((self._known == self._known[:, :1]).all())
        for target, name in enumerate(("",) if is_shared else self._titles()):
            places, distances = self._nearest(vectors, target, 1)
            own = np.unique(self._vectors[self._known[:, target]], axis=0)  # each molecule once
            usual = nearest(own, np.arange(len(own)), 1, space=Space.plain(self.n_features_out_))[
                1
            ][:, 0]
            limit = float(np.quantile(usual, 0.95)) if len(usual) > 1 else np.inf
            labels = self._labels if is_shared else [text.split()[target] for text in self._labels]
            found: dict[str, list[object]] = {"distance": distances[:, 0].tolist()}
            found["is_far"] = (distances[:, 0] > limit).tolist()
            if self._names:
                found["nearest"] = [self._names[place] for place in places[:, 0]]
            found["nearest_label"] = [labels[place] for place in places[:, 0]]
            columns |= {f"{key}_{name}" if name else key: each for key, each in found.items()}
        return columns

    def _titles(self) -> tuple[str, ...]:
        """Return the name of each target."""
        return ("",)

    def summary(self, target: int = 0) -> list[dict[str, object]]:
        """Return what cross-validation says, as rows of a table: all, then each small model."""
        return self.ensembles_[target].summary(self._unit(target))

    def _unit(self, target: int) -> float:
        """Return the unit of a target."""
        return 1.0

    def _outputs(self, X: Any) -> list[np.ndarray]:
        """Return the outputs of each target, [G, o] each."""
        check_is_fitted(self, "config_")
        used = {
            part
            for each in self.ensembles_
            for place in each.models
            for part in parts_of(each.candidates[place].inputs)
            if part in self._scale.centre
        }
        raw = raw_inputs(
            molecules_of(self._read(X)), sorted(used), self.encoder_, shown=self._shown()
        )
        scaled = self._scale.apply(raw)
        return [each.outputs(scaled) for each in self.ensembles_]

    def _shown(self) -> bool:
        return bool(self.get_params(deep=False)["verbose"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted predictor, its encoder included, to one file at exactly ``path``."""
        check_is_fitted(self, "config_")
        tensors, encoder = self.encoder_.packed()
        arrays = {f"encoder.{name}": tensor.numpy() for name, tensor in tensors.items()}
        arrays |= {"vectors": self._vectors, "known": self._known.astype(np.uint8)}
        arrays |= self._scale.arrays()
        for number, each in enumerate(self.ensembles_):
            arrays |= each.arrays(f"target{number}.")
        header = {
            "estimator": type(self).__name__,
            "config": self.config_.to_json(),
            **self._reading_to_json(),
            "encoder": encoder,
            "ensembles": [each.to_json() for each in self.ensembles_],
            "names": self._names,
            "known_labels": self._labels,
            "notes": list(self.notes_),
            "targets": self._targets_to_json(),
        }
        packed = {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}
        write_model(path, packed, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the predictor that ``save`` wrote; its results are equal."""
        tensors, header = read_model(path, cls.__name__)
        with whole_model(path):
            predictor = cls.from_config(cls.config_class.from_json(header["config"]))
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            own = {k.removeprefix("encoder."): v for k, v in tensors.items() if "encoder." in k[:8]}
            predictor.encoder_ = MoleculeEncoder.unpacked(own, header["encoder"], path)
            predictor._vectors = arrays["vectors"]
            shape = (len(predictor._vectors), len(header["ensembles"]))
            predictor._known = arrays.get("known", np.ones(shape, np.uint8)).astype(bool)
            predictor._names = list(header["names"])
            predictor._labels = list(header["known_labels"])
            predictor._scale = InputScale.from_arrays(arrays)
            predictor.notes_ = tuple(header["notes"])
            predictor.ensembles_ = [
                Ensemble.from_json(entry, arrays, f"target{number}.")
                for number, entry in enumerate(header["ensembles"])
            ]
            predictor._targets_from_json(header["targets"])
            predictor._reading_from_json(header)
            predictor._check_whole()
            predictor.config_ = predictor.config()
        return predictor

    def _check_whole(self) -> None:
        """Raise an error unless the parts of a stored predictor fit together."""
        known, width = len(self._labels), self.n_features_out_
        has_names = not self._names or len(self._names) == known
        if not known or not has_names or self._vectors.shape != (known, width):
            raise ValueError("its labelled molecules have different numbers of parts")
        if self._known.shape != (known, len(self.ensembles_)) or not self._known.any(axis=0).all():
            raise ValueError("a target has no labelled molecules")
        empty = {name: np.zeros((1, len(each))) for name, each in self._scale.centre.items()}
        shapes = [each.outputs(self._scale.apply(empty)).shape for each in self.ensembles_]
        if shapes != self._shapes():
            raise ValueError("its small models predict something else")

    def _shapes(self) -> list[tuple[int, int]]:
        """Return the shape of what each ensemble predicts of one molecule."""
        raise NotImplementedError

    def _targets_to_json(self) -> Header:
        raise NotImplementedError

    def _targets_from_json(self, value: Header) -> None:
        raise NotImplementedError


@settings_as_parameters(PredictorConfig)
class MoleculeClassifier(ClassifierMixin, MoleculePredictor):
    """Predicts the class of a molecule from few labels, with calibrated probabilities.

    ``fit`` takes SMILES strings, or a set of molecules, and ``y``: one class per molecule, None or
    NaN if there is none. ``predict_proba`` gives probabilities that cross-validation has
    calibrated; ``nearness`` tells how far a molecule is from what is known.

    Learned: ``classes_``, ``ensembles_``, ``encoder_``, ``notes_``.
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the molecules with a label and return self."""
        graphs = molecules_of(X)
        codes, classes = encode_classes(y, len(graphs))
        Y = np.full((len(graphs), len(classes)), np.nan)
        Y[codes >= 0] = np.eye(len(classes))[codes[codes >= 0]]
        self._fit_all(graphs, [Y])
        self._labels = [str(classes[code]) for code in codes[codes >= 0]]
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the calibrated probability of each class, [G, C] float64."""
        return self._outputs(X)[0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each molecule, [G]."""
        check_is_fitted(self, "config_")
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the molecules that have a label."""
        graphs = molecules_of(self._read(X))
        codes = codes_of(y, self.classes_, len(graphs))
        return accuracy(codes, self.predict_proba(graphs), sample_weight)

    def _shapes(self) -> list[tuple[int, int]]:
        return [(1, len(self.classes_))]

    def _targets_to_json(self) -> Header:
        return {"classes": self.classes_.tolist()}

    def _targets_from_json(self, value: Header) -> None:
        self.classes_ = class_array(value["classes"])


@settings_as_parameters(PredictorConfig)
class MoleculeRegressor(RegressorMixin, MoleculePredictor):
    """Predicts numbers for a molecule from few labels, with intervals.

    ``fit`` takes SMILES strings, or a set of molecules, and ``y``: one or several numbers per
    molecule, NaN or None if unknown. ``predict_interval`` gives intervals that cover a stated share
    of new molecules, if these are like the labelled ones (conformal prediction).

    Of several targets, those that hold only 0 and 1 are learned as classes: the predicted number is
    the calibrated probability of 1, and its interval is NaN.

    Learned: ``scale_``, ``ensembles_``, ``encoder_``, ``notes_``, ``are_probabilities_`` (of each
    target).
    """

    scale_: TargetScale

    def fit(self, X: Any, y: Any = None, *, target_names: Any = None) -> Self:
        """Learn from the molecules with a label and return self."""
        graphs = molecules_of(X)
        targets, is_single = read_targets(y, len(graphs))
        check_known(targets)
        names = target_names_of(y, target_names, targets.shape[1])
        few = (~np.isnan(targets)).sum(axis=0)
        if few.min() < 3:
            raise DataError(
                f"A predictor of numbers needs at least 3 labels of each target. Got {few.min()}."
            )
        self.scale_ = TargetScale.fit(targets, is_single=is_single, names=names)
        is_binary = are_binary(targets)
        self.scale_ = self.scale_.unscaled(is_binary)
        pairs = zip(self.scale_.standardised(targets).T, is_binary, strict=True)
        self._fit_all(graphs, [_two_classes(Y) if binary else Y[:, None] for Y, binary in pairs])
        units = zip(self.held_out_, self.scale_.scale, self.scale_.mean, strict=True)
        self.held_out_ = [(rows, held[:, -1:] * unit + mean) for (rows, held), unit, mean in units]
        if is_binary.any():
            which = self.scale_.listed(is_binary)
            text = f"Only 0 and 1 occur in {which}: probabilities of 1 are predicted."
            self.notes_ = (*self.notes_, text)
        rows = ~np.isnan(targets).all(axis=1)
        texts = [["-" if np.isnan(v) else number_text(v) for v in row] for row in targets[rows]]
        self._labels = [" ".join(row) for row in texts]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted numbers in their own units, [G] or [G, t] like ``y``."""
        outputs = [each[:, -1:] for each in self._outputs(X)]
        return self.scale_.restored(np.concatenate(outputs, axis=1))

    @property
    def are_probabilities_(self) -> list[bool]:
        """Whether what is predicted for a target is the probability of 1."""
        return [each.is_class for each in self.ensembles_]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the (lower, upper) ends of intervals that cover this share of new molecules.

        The ends of a probability are NaN, and those of a number infinite if there are too few
        labels for this share.
        """
        if not isinstance(coverage, Real) or not 0 < coverage < 1:
            raise ConfigError(f"coverage must be a number between 0 and 1. Got {coverage!r}.")
        centre = self.predict(X)
        width = self.half_widths(coverage)
        width = width if centre.ndim == 2 else width[0]
        return centre - width, centre + width

    def _unit(self, target: int) -> float:
        return float(self.scale_.scale[target])

    def _titles(self) -> tuple[str, ...]:
        return self.scale_.titles

    def half_widths(self, coverage: float = 0.9) -> np.ndarray:
        """Return the half width of the intervals of each target in its own unit.

        NaN for a probability, infinite for fewer labels than the coverage needs (9 for 90 %).
        """
        widths = np.array(
            [
                np.nan if each.is_class else conformal_width(each.residuals, coverage)
                for each in self.ensembles_
            ]
        )
        return np.where(np.isinf(widths), np.inf, widths * self.scale_.scale)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean R^2 over the targets, over molecules whose target is known."""
        graphs = molecules_of(self._read(X))
        return self.scale_.score(y, self.predict(graphs), sample_weight)

    def _shapes(self) -> list[tuple[int, int]]:
        if len(self.ensembles_) != len(self.scale_.mean):
            raise ValueError("it does not have one ensemble for each target")
        return [(1, 2 if is_class else 1) for is_class in self.are_probabilities_]

    def _targets_to_json(self) -> Header:
        return self.scale_.to_json()

    def _targets_from_json(self, value: Header) -> None:
        self.scale_ = TargetScale.from_json(value)


def _two_classes(column: np.ndarray) -> np.ndarray:
    """Return the columns [G, 2] of the classes 0 and 1, NaN where unknown."""
    return np.column_stack([1 - column, column])


def molecules_of(X: Any) -> GraphSet:
    """Return molecules as a set; raises ``DataError`` unless graphs are named by SMILES."""
    graphs = as_graphset(X)
    smiles_of(graphs)
    return graphs
