"""Protocols: how runs are split and scored, and which reference rows are scored beside them.

Two kinds: ``VectorProtocol`` fits a method without labels and scores its vectors or kernel by an
SVM under folds; ``SplitProtocol`` trains a method inside each split. To add one of the second kind,
write its split and score in ``evaluation/`` and a subclass with an entry in ``PROTOCOLS`` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from igsd.errors import ConfigError, DataError, nearest
from igsd.experiments.vector_protocols import (
    NestedTuning,
    Protocol,
    SplitProtocol,
    VectorProtocol,
    codes_of,
    make_row,
)

if TYPE_CHECKING:
    import numpy as np

    from igsd.evaluation.qm9 import QM9Split
    from igsd.evaluation.semi import SemiSplit
    from igsd.experiments.records import Record, RecordRow
    from igsd.experiments.run import Options, Run
    from igsd.graphs.graphset import GraphSet

SUPERVISED = "supervised"
"""The method of protocol ``qm9`` that all others are measured against."""

_FIRST_TUNING_SEED = 100


class SemiProtocol(SplitProtocol):
    """``semi`` and ``semi-paper``: classes, of which ``label_rate`` of the training part are shown.

    One run gives the results of both protocols.
    """

    task = "classes"
    help = """\
few labels: 10 % test, 5 % of the training part labelled; methods are trained inside each
split, for a number of epochs fixed in advance. Labels are hidden for you. Graphs of an
unknown class (--targets: number) are trained on without one and never tested; the shares
are of the others"""

    def folder(self, run: Run) -> str:
        """Return ``semi``, with the share of labels if it is not the usual one."""
        return self.name + _rate_suffix(run)

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits."""
        from igsd.evaluation.semi import TEST_SHARE

        return {"name": self.name, "label_rate": run.label_rate, "test_share": TEST_SHARE}

    def split(self, run: Run, graphs: GraphSet) -> SemiSplit:
        """Return the split; raises ``DataError`` for missing classes, or one too small."""
        from igsd.evaluation.semi import semi_split

        return semi_split(codes_of(graphs), run.seed, label_rate=run.label_rate)

    def score(
        self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any
    ) -> list[RecordRow]:
        """Return accuracy after the last epoch (with ROC-AUC) and in the best epoch."""
        from igsd.evaluation.semi import roc_auc, score_split

        codes = codes_of(graphs)
        results = score_split(estimator, graphs, codes, split, run.seed)
        rows = [make_row(run.method, result.to_dict()) for result in results]
        probabilities = estimator.predict_proba(graphs.take(split.test))
        rows[0]["roc_auc"] = roc_auc(codes, probabilities, split)
        return rows

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any, name: str
    ) -> RecordRow:
        """Return the accuracy of an SVM, or of the estimator's head, that knows the labelled."""
        from igsd.evaluation.semi import score_vectors

        codes = codes_of(graphs)
        estimator.fit(graphs.take(split.train), split.training_labels(codes))
        head: Any = getattr(estimator, "head", "svm")
        X = estimator.transform(graphs)
        result, area = score_vectors(X, codes, split, run.seed, head=head)
        return make_row(name, result.to_dict() | ({} if head == "svm" else {"roc_auc": area}))

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the untrained encoder, the histogram, the majority class, fingerprints."""
        from igsd.baselines.few_labels.gin import GINClassifier, SupervisedConfig
        from igsd.baselines.references.histogram import LabelDegreeHistogram
        from igsd.baselines.references.majority import MajorityClass
        from igsd.baselines.references.morgan import MORGAN, MorganFingerprints, has_smiles

        settings = SupervisedConfig.known(run.config().to_json())
        config = SupervisedConfig().updated(settings | {"epochs": 0, "self_training": False})
        found = {
            "untrained": GINClassifier.from_config(config),
            "histogram": LabelDegreeHistogram(),
            "majority": MajorityClass(),
        }
        return found | ({MORGAN: MorganFingerprints()} if has_smiles(graphs.graph_names) else {})

    def more(self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any) -> Record:
        """Return, for each round, how many pseudo-labels were given, checkable and right.

        Those of graphs of an unknown class cannot be checked.
        """
        found = estimator.pseudo_labels_
        truth = codes_of(graphs)[split.train][found.graphs]
        given = estimator.classes_[found.codes] if len(found) else truth
        rounds = sorted(set(found.rounds.tolist()))
        counted = {"given": found.rounds > 0, "checked": truth >= 0, "right": given == truth}
        counts = {
            name: [int((which & (found.rounds == number)).sum()) for number in rounds]
            for name, which in counted.items()
        }
        return {"pseudo_labels": {"rounds": rounds} | counts}


class SemiNumberProtocol(SplitProtocol):
    """``semi`` for a number such as logBB: ``label_rate`` of the known values are shown."""

    task = "numbers"

    def folder(self, run: Run) -> str:
        """Return ``semi-TARGET``, with the share of labels if it is not the usual one."""
        return f"{self.name}-{run.target}{_rate_suffix(run)}"

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits."""
        from igsd.evaluation.semi import TEST_SHARE

        shares = {"label_rate": run.label_rate, "test_share": TEST_SHARE}
        return {"name": self.name, "target": run.target, **shares}

    def split(self, run: Run, graphs: GraphSet) -> SemiSplit:
        """Return the split; raises ``DataError`` for a missing target or too few values."""
        from igsd.evaluation.semi import value_split

        return value_split(self.values(run, graphs), run.seed, label_rate=run.label_rate)

    def score(
        self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any
    ) -> list[RecordRow]:
        """Return the mean absolute error on the test part."""
        from igsd.evaluation.semi import score_values

        error = score_values(estimator, graphs, self.values(run, graphs), split)
        return [make_row(run.method, {"protocol": self.name, "mae": error})]

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any, name: str
    ) -> RecordRow:
        """Return the error of ridge regression, or of the estimator's head, on vectors."""
        import numpy as np

        from igsd.evaluation.semi import score_value_vectors

        values = self.values(run, graphs)
        # Only these have a value to learn from or to be compared with.
        used = np.concatenate([split.labelled, split.test])
        part = estimator.fit(graphs.take(split.train)).transform(graphs.take(used))
        X = np.zeros((len(values), part.shape[1]), np.float32)
        X[used] = part
        error = score_value_vectors(X, values, split, head=_number_head(estimator))
        return make_row(name, {"protocol": self.name, "mae": error})

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the mean of the labelled values, and fingerprints."""
        from igsd.baselines.references.majority import MajorityClass
        from igsd.baselines.references.morgan import MORGAN, MorganFingerprints, has_smiles

        morgan = {MORGAN: MorganFingerprints()} if has_smiles(graphs.graph_names) else {}
        return {"mean": MajorityClass()} | morgan

    def more(self, run: Run, graphs: GraphSet, split: SemiSplit, estimator: Any) -> Record:
        """Return the number of values that were shown."""
        return {"num_labelled": len(split.labelled)}

    def values(self, run: Run, graphs: GraphSet) -> np.ndarray:
        """Return the target of every graph, [G], NaN if unknown; raises ``DataError``."""
        import numpy as np

        names = list(graphs.target_names)
        if run.target not in names:
            hint = nearest(run.target, names) if names else "It has no targets."
            raise DataError(f"{graphs.name!r} has no target {run.target!r}. {hint}")
        return np.asarray(graphs.targets, np.float64)[:, names.index(run.target)]


class QM9Protocol(SplitProtocol):
    """``qm9``: properties of molecules, learned together; ``Run.target`` empty for all ten."""

    task = "numbers"
    help = """\
properties of molecules: 5,000 labelled, 10,000 for validation and for the test each; mean
absolute error, and its ratio to --method supervised (mean-teacher, infograph,
infograph-star and igsd are the others)"""
    methods: ClassVar[Mapping[str, str]] = {
        SUPERVISED: "gin",
        "mean-teacher": "mean-teacher",
        "infograph": "infograph",
        "infograph-star": "infograph-star",
        "igsd": "igsd-self",
    }
    """The methods of the paper's figure, and their names among those with few labels."""

    def method(self, run: Run) -> str:
        """Return the name of the method; raises ``ConfigError`` for one of another protocol."""
        if run.method not in self.methods:
            names = ", ".join(self.methods)
            raise ConfigError(
                f"Protocol qm9 has no method {run.method!r}. The methods are: {names}."
            )
        return self.methods[run.method]

    def folder(self, run: Run) -> str:
        """Return ``qm9``, with the targets if they are not all ten."""
        return f"{self.name}-{run.target.replace(',', '+')}" if run.target else self.name

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits and what is learned."""
        from igsd.evaluation import qm9

        return {"name": self.name, "targets": list(self.targets(run)), **qm9.SIZES._asdict()}

    def targets(self, run: Run) -> tuple[str, ...]:
        """Return the names of the targets of a run."""
        from igsd.graphs.readers.qm9 import QM9_TARGETS

        return tuple(run.target.split(",")) if run.target else QM9_TARGETS

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise ``DataError`` for a set without the targets, or one that is too small."""
        choose_targets(self.targets(run), graphs)
        super().check(run, graphs)

    def split(self, run: Run, graphs: GraphSet) -> QM9Split:
        """Return the split; raises ``DataError`` for a set that is too small."""
        from igsd.evaluation import qm9

        return qm9.qm9_split(len(graphs), run.seed, qm9.SIZES)

    def score(self, run: Run, graphs: GraphSet, split: QM9Split, estimator: Any) -> list[RecordRow]:
        """Return the errors of each target."""
        from igsd.evaluation.qm9 import score_targets

        values, names = self._values(run, graphs), self.targets(run)
        return [self._row(run, run.method, score_targets(estimator, graphs, values, names, split))]

    def score_vectors(
        self, run: Run, graphs: GraphSet, split: QM9Split, estimator: Any, name: str
    ) -> RecordRow:
        """Return the errors of ridge regression, or of the estimator's head, on vectors."""
        from igsd.evaluation.qm9 import score_target_vectors

        values = self._values(run, graphs)
        estimator.fit(graphs.take(split.labelled), values[split.labelled])
        vectors, head = estimator.transform, _number_head(estimator)
        return self._row(run, name, score_target_vectors(vectors, graphs, values, split, head))

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the untrained encoder, the histogram and the mean."""
        from igsd.baselines.few_labels.gin import GINRegressor, SupervisedRegressionConfig
        from igsd.baselines.references.histogram import LabelDegreeHistogram
        from igsd.baselines.references.majority import MajorityClass

        settings = SupervisedRegressionConfig.known(run.config().to_json())
        config = SupervisedRegressionConfig().updated(settings | {"epochs": 0})
        return {
            "untrained": GINRegressor.from_config(config),
            "histogram": LabelDegreeHistogram(),
            "mean": MajorityClass(),
        }

    def more(self, run: Run, graphs: GraphSet, split: QM9Split, estimator: Any) -> Record:
        """Return the number of training steps."""
        config = run.config()
        return {"steps": config.epochs * -(-len(split.labelled) // config.label_batch_size)}

    def _values(self, run: Run, graphs: GraphSet) -> np.ndarray:
        import numpy as np

        columns = [graphs.target_names.index(name) for name in self.targets(run)]
        return np.asarray(graphs.targets, np.float64)[:, columns]

    def _row(self, run: Run, method: str, errors: Mapping[str, list[float]]) -> RecordRow:
        from igsd.graphs.readers.qm9 import QM9_UNITS

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

    help = ""

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for classes too small to split twice, and for settings without epochs."""
        if not run.config().epochs:
            raise ConfigError("A score over epochs needs at least one. Set epochs to 1 or more.")
        super().check(run, self._training_part(run, graphs))

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the accuracy after the last epoch; the test part takes no part in it."""
        from igsd.baselines.registry import build
        from igsd.evaluation.semi import score_split

        part = self._training_part(run, graphs)
        estimator = build(run.method, run.config(), self.task)
        split = self.split(run, part)
        return {"score": score_split(estimator, part, codes_of(part), split, run.seed)[0].mean}

    def _training_part(self, run: Run, graphs: GraphSet) -> GraphSet:
        return graphs.take(self.split(replace(run, seed=_FIRST_TUNING_SEED), graphs).train)


PROTOCOLS: dict[str, Protocol] = {
    "nested": VectorProtocol("nested"),
    "paper": VectorProtocol("paper"),
    "gckn": VectorProtocol("gckn"),
    "semi": SemiProtocol("semi"),
    "qm9": QM9Protocol("qm9"),
    "tune-nested": NestedTuning("tune-nested"),
    "tune-semi": SemiTuning("tune-semi"),
}
_SEMI_NUMBER = SemiNumberProtocol("semi")


def find_protocol(run: Run) -> Protocol:
    """Return the protocol of a run; ``semi`` with a target is the one for numbers."""
    return _SEMI_NUMBER if run.protocol == "semi" and run.target else PROTOCOLS[run.protocol]


def choose_targets(names: tuple[str, ...], graphs: GraphSet) -> tuple[str, ...]:
    """Return the requested targets, or all ten of QM9; raises if one does not exist."""
    from igsd.graphs.readers.qm9 import QM9_TARGETS

    if not graphs.target_names:
        raise DataError(f"Protocol qm9 predicts targets of graphs, but {graphs.name!r} has none.")
    lower = {name.lower(): name for name in graphs.target_names}
    asked = names or tuple(name for name in QM9_TARGETS if name in lower.values())
    for name in asked:
        if name.lower() not in lower:
            raise DataError(
                f"{graphs.name!r} has no target {name!r}. {nearest(name, graphs.target_names)}"
            )
    chosen = tuple(lower[name.lower()] for name in asked)
    if not chosen:
        raise DataError(
            f"{graphs.name!r} has none of QM9's ten properties. Name targets of its own: "
            f"{', '.join(graphs.target_names)}."
        )
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"The targets must have different names. Got {', '.join(names)}.")
    return chosen


def _number_head(estimator: Any) -> Any:
    """Return the model that predicts numbers from vectors: ridge regression, or its own."""
    head = getattr(estimator, "head", "svm")
    return "linear" if head == "svm" else head


def _rate_suffix(run: Run) -> str:
    from igsd.evaluation.semi import LABEL_RATE

    return "" if run.label_rate == LABEL_RATE else f"-{run.label_rate:g}"
