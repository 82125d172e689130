"""Protocols: how runs are split and scored, and which reference rows are scored beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from igsd.baselines import registry
from igsd.errors import ConfigError, DataError
from igsd.evaluation import HOLDOUTS, qm9, semi
from igsd.experiments import protocol_base as base
from igsd.experiments.records import Record, RecordRow
from igsd.experiments.scoring import class_codes, targets_of
from igsd.experiments.trained import pseudo_label_counts
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.qm9 import QM9_TARGETS, QM9_UNITS

if TYPE_CHECKING:  # a run imports its protocol
    from igsd.experiments.run import Options, Run

SUPERVISED = "supervised"
"""The method of protocol ``qm9`` that all others are measured against."""

_FIRST_TUNING_SEED = 100


class SemiProtocol(base.FewLabelsProtocol):
    """``semi`` and ``semi-paper``, both by one run: classes, a ``label_rate`` of them shown."""

    task = "classes"

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits."""
        shares = {"label_rate": run.label_rate, "test_share": semi.TEST_SHARE}
        return {"name": self.name, **({"target": run.target} if run.target else {}), **shares}

    def split(self, run: Run, graphs: GraphSet) -> semi.SemiSplit:
        """Return the split; raises ``DataError`` for missing classes, or one too small."""
        codes = class_codes(graphs, gaps=True)
        return semi.semi_split(codes, run.seed, label_rate=run.label_rate)

    def score(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> list[RecordRow]:
        """Return accuracy after the last epoch (with ROC-AUC) and in the best epoch."""
        codes = class_codes(graphs, gaps=True)
        last, best = semi.score_split(estimator, graphs, codes, split, run.seed)
        area = semi.roc_auc(codes, estimator.predict_proba(graphs.take(split.test)), split)
        return [base.make_row(run.method, last, roc_auc=area), base.make_row(run.method, best)]

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: Any, estimator: Any, name: str
    ) -> RecordRow:
        """Return the accuracy of an SVM, or of the estimator's head, that knows the labelled."""
        codes = class_codes(graphs, gaps=True)
        estimator.fit(graphs.take(split.train), split.training_labels(codes))
        head = registry.head_of(estimator)
        X = estimator.transform(graphs)
        result, area = semi.score_vectors(X, codes, split, run.seed, head=head)
        return base.make_row(name, result, **({} if head == "svm" else {"roc_auc": area}))

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the untrained encoder, the histogram, the majority class, fingerprints."""
        names = {"histogram": "histogram", "majority": "majority"}
        return {"untrained": _untrained_gin(run, self.task)} | _references(names, graphs)

    def more(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> Record:
        """Return by round how many pseudo-labels were given, could be checked, and were right."""
        found = getattr(estimator, "pseudo_labels_", None)
        if found is None:
            return {}
        truth = class_codes(graphs, gaps=True)[split.train][found.graphs]
        given = estimator.classes_[found.codes] if len(found) else truth
        pairs = zip(given, truth, strict=True)
        right = [None if true < 0 else bool(guess == true) for guess, true in pairs]
        return {"pseudo_labels": pseudo_label_counts(found.rounds.tolist(), right)}


class SemiNumberProtocol(SemiProtocol):
    """``semi`` for a number such as logBB: ``label_rate`` of the known values are shown."""

    task = "numbers"

    def split(self, run: Run, graphs: GraphSet) -> semi.SemiSplit:
        """Return the split; raises ``DataError`` for a missing target or too few values."""
        values = targets_of(graphs, [run.target])[:, 0]
        return semi.value_split(values, run.seed, label_rate=run.label_rate)

    def score(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> list[RecordRow]:
        """Return the mean absolute error on the test part."""
        error = semi.score_values(estimator, graphs, targets_of(graphs, [run.target])[:, 0], split)
        return [{"method": run.method, "protocol": self.name, "mae": error}]

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: Any, estimator: Any, name: str
    ) -> RecordRow:
        """Return the error of ridge regression, or of the estimator's head, on vectors."""
        values = targets_of(graphs, [run.target])[:, 0]
        # Only these have a value to learn from or to be compared with.
        used = np.concatenate([split.labelled, split.test])
        part = estimator.fit(graphs.take(split.train)).transform(graphs.take(used))
        X = np.zeros((len(values), part.shape[1]), np.float32)
        X[used] = part
        error = semi.score_value_vectors(
            X, values, split, head=registry.head_of(estimator, "linear")
        )
        return {"method": name, "protocol": self.name, "mae": error}

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the mean of the labelled values, and fingerprints."""
        return _references({"mean": "majority"}, graphs)

    def more(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> Record:
        """Return the number of values that were shown."""
        return {"num_labelled": len(split.labelled)}


class QM9Protocol(base.FewLabelsProtocol):
    """``qm9``: properties of molecules, learned together; ``Run.target`` empty for all ten."""

    task = "numbers"
    methods: ClassVar[Mapping[str, str]] = {
        SUPERVISED: "gin",
        "mean-teacher": "mean-teacher",
        "infograph": "infograph",
        "infograph-star": "infograph-star",
        "igsd": "igsd-self",
    }

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits and what is learned."""
        return {"name": self.name, "targets": list(self.targets(run)), **qm9.SIZES._asdict()}

    def targets(self, run: Run) -> tuple[str, ...]:
        """Return the names of the targets of a run."""
        return tuple(run.target.split(",")) if run.target else QM9_TARGETS

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise ``DataError`` for a set without the targets, or one that is too small."""
        choose_targets(self.targets(run), graphs)
        super().check(run, graphs)

    def split(self, run: Run, graphs: GraphSet) -> qm9.QM9Split:
        """Return the split; raises ``DataError`` for a set that is too small."""
        return qm9.qm9_split(len(graphs), run.seed, qm9.SIZES)

    def score(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> list[RecordRow]:
        """Return the errors of each target."""
        names = self.targets(run)
        errors = qm9.score_targets(estimator, graphs, targets_of(graphs, names), names, split)
        return [self._row(run, run.method, errors)]

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: Any, estimator: Any, name: str
    ) -> RecordRow:
        """Return the errors of ridge regression, or of the estimator's head, on vectors."""
        values = targets_of(graphs, self.targets(run))
        estimator.fit(graphs.take(split.labelled), values[split.labelled])
        vectors, head = estimator.transform, registry.head_of(estimator, "linear")
        return self._row(run, name, qm9.score_target_vectors(vectors, graphs, values, split, head))

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the untrained encoder, the histogram and the mean."""
        names = {"histogram": "histogram", "mean": "majority"}
        return {"untrained": _untrained_gin(run, self.task)} | _references(names)

    def more(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> Record:
        """Return the number of training steps."""
        config = run.config()
        return {"steps": config.epochs * -(-len(split.labelled) // config.label_batch_size)}

    def _row(self, run: Run, method: str, errors: Mapping[str, list[float]]) -> RecordRow:
        names = self.targets(run)
        return {
            "method": method,
            "protocol": self.name,
            "units": {name: QM9_UNITS.get(name, "") for name in names},
            "mae": dict(zip(names, errors["test"], strict=True)),
            "validation_mae": dict(zip(names, errors["validation"], strict=True)),
        }


class SemiTuning(SemiProtocol):
    """A trial of ``igsd tune --protocol semi``: splits of one split's training part."""

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for classes too small to split twice, and for settings without epochs."""
        if not run.config().epochs:
            raise ConfigError("A score over epochs needs at least one. Set epochs to 1 or more.")
        super().check(run, self._training_part(run, graphs))

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the accuracy after the last epoch; the test part takes no part in it."""
        part = self._training_part(run, graphs)
        estimator = registry.build(run.method, run.config(), self.task)
        codes, split = class_codes(part, gaps=True), self.split(run, part)
        return {"score": semi.score_split(estimator, part, codes, split, run.seed)[0].mean}

    def _training_part(self, run: Run, graphs: GraphSet) -> GraphSet:
        return graphs.take(self.split(replace(run, seed=_FIRST_TUNING_SEED), graphs).train)


class _Protocols(dict[str, base.Protocol]):
    """The protocols by name; those of splits are imported when they are asked for."""

    def __missing__(self, name: str) -> base.Protocol:
        if name not in HOLDOUTS:
            raise KeyError(name)
        from igsd.experiments.holdout import HoldoutProtocol

        return self.setdefault(name, HoldoutProtocol(name))


PROTOCOLS = _Protocols(
    {
        **{name: base.VectorProtocol(name) for name in ("nested", "paper", "gckn")},
        "semi": SemiProtocol("semi"),
        "qm9": QM9Protocol("qm9"),
        "tune-nested": base.NestedTuning("tune-nested"),
        "tune-semi": SemiTuning("tune-semi"),
    }
)
SEMI_NUMBER = SemiNumberProtocol("semi")


def choose_targets(names: tuple[str, ...], graphs: GraphSet) -> tuple[str, ...]:
    """Return the requested targets, or all ten of QM9; raises if one does not exist."""
    if not graphs.target_names:
        raise DataError(f"Protocol qm9 predicts targets of graphs, but {graphs.name!r} has none.")
    lower = {name.lower(): name for name in graphs.target_names}
    asked = names or tuple(name for name in QM9_TARGETS if name in lower.values())
    chosen = tuple(lower.get(name.lower(), name) for name in asked)
    targets_of(graphs, chosen)  # raises for an unknown name
    if not chosen:
        raise DataError(
            f"{graphs.name!r} has none of QM9's ten properties. Name targets of its own: "
            f"{', '.join(graphs.target_names)}."
        )
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"The targets must have different names. Got {', '.join(names)}.")
    return chosen


def _untrained_gin(run: Run, task: str) -> Any:
    """Return GIN for a task with the settings of the run that it has, without training."""
    estimator = registry.method("gin", task).estimator(task)
    settings = run.config().to_json() | {"epochs": 0, "self_training": False}
    kind = estimator.config_class
    return estimator.from_config(kind().updated(kind.known(settings)))


def _references(names: Mapping[str, str], graphs: GraphSet | None = None) -> dict[str, Any]:
    """Return the methods of rows; fingerprints too if ``graphs`` are molecules in SMILES."""
    from igsd.baselines.references.molecules import MORGAN
    from igsd.graphs.molecule import are_smiles

    if graphs is not None and are_smiles(graphs.graph_names):
        names = {**names, MORGAN: MORGAN}
    return {row: registry.make_method(name) for row, name in names.items()}
