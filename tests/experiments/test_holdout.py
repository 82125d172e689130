from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.evaluation.metrics import CLASS_METRICS
from igsd.experiments.holdout import labels_of, predict
from igsd.experiments.records import read_record, record_fault
from igsd.experiments.run import DONE, MISSING, Options, Run
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.smiles import from_smiles
from tests.small_graphs import TINY, make_graphs

RINGS = ("C1CC1", "C1CCC1", "C1CCCC1", "c1ccccc1", "c1ccncc1", "C1CCNCC1", "c1ccoc1", "C1CCOC1")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def graphs() -> GraphSet:
    made = make_graphs(40, classes=True, name="toy")
    codes = np.array(made.classes)
    codes[:4] = -1
    return replace(made, classes=codes)


@pytest.fixture(scope="module")
def molecules() -> GraphSet:
    pytest.importorskip("rdkit")
    names = [f"{'C' * (1 + i % 5)}{RINGS[i % len(RINGS)]}" for i in range(40)]
    made = from_smiles(names, name="toy")
    heavy = made.node_counts().astype(float)
    return replace(made, targets=heavy[:, None], target_names=("heavy",))


def run_of(kind: str, method: str, **fields: Any) -> Run:
    run = Run(kind, "toy", method, "molecules", 0, **{"num_splits": 2} | fields)
    return replace(run, fixed=tuple(run.config().known(TINY).items()))


def test_one_record_holds_all_splits(graphs: GraphSet, tmp_path: Path) -> None:
    run = run_of("random", "histogram", train_labels=(6, 0))
    run.rules.check(run, graphs)
    options = Options(tmp_path)
    record = run.execute(graphs, options)
    assert record["status"] == "ok", record["error"]
    assert record_fault(dict(record)) is None
    assert [row["labels"] for row in record["rows"]] == [6, 0]
    for row in record["rows"]:
        assert row["splits"] == [0, 1]
        assert tuple(row["metrics"]) == CLASS_METRICS
        assert all(len(values) == 2 for values in row["metrics"].values())
        assert np.array(row["calibration"])[0].sum() == 14  # seven graphs in each test part
    first = re.match(r"\d+", record["test_parts"]["0"])
    assert first is not None
    assert int(first[0]) >= 4  # graphs without a class are not tested
    assert run.path(tmp_path).relative_to(tmp_path).as_posix() == "random/toy/histogram/seed-0.json"
    assert run.state(graphs, options)[0] == DONE
    assert not list(tmp_path.rglob("*.checkpoint"))


def test_a_record_grows(graphs: GraphSet, tmp_path: Path) -> None:
    options = Options(tmp_path)
    run = run_of("random", "histogram", train_labels=(6,))
    first = run.execute(graphs, options)
    more = replace(run, num_splits=3, train_labels=(6, 12))
    assert more.state(graphs, options)[0] == MISSING
    grown = more.execute(graphs, options)
    assert more.state(graphs, options)[0] == run.state(graphs, options)[0] == DONE
    old, new = first["rows"][0]["metrics"], grown["rows"][0]["metrics"]
    assert new["roc_auc"][:2] == old["roc_auc"]
    fresh = more.execute(graphs, Options())
    assert [row["metrics"] for row in fresh["rows"]] == [row["metrics"] for row in grown["rows"]]
    stored = read_record(more.path(tmp_path))
    assert stored is not None
    assert list(stored["test_parts"]) == ["0", "1", "2"]


def test_an_interrupted_run_continues(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd.experiments import holdout

    run, options = run_of("random", "histogram", num_splits=3), Options(tmp_path)
    calls, scores = [], holdout.Subject.scores

    def counted(self: Any, parts: Any, count: int, split: int) -> Any:
        calls.append(split)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return scores(self, parts, count, split)

    monkeypatch.setattr(holdout.Subject, "scores", counted)
    with pytest.raises(KeyboardInterrupt):
        run.execute(graphs, options)
    assert len(list(tmp_path.rglob("*.checkpoint"))) == 1
    record = run.execute(graphs, options)
    assert (calls, record["rows"][0]["splits"]) == ([0, 1, 2, 2], [0, 1, 2])
    assert not list(tmp_path.rglob("*.checkpoint"))


def test_vectors_are_made_once(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd.baselines.references.histogram import LabelDegreeHistogram

    fits, fit = [], LabelDegreeHistogram.fit
    monkeypatch.setattr(
        LabelDegreeHistogram, "fit", lambda self, X, y=None: (fits.append(1), fit(self, X))[1]
    )
    first = run_of("random", "histogram").execute(graphs, Options())
    again = run_of("random", "histogram").execute(graphs, Options())
    run_of("random", "histogram-forest").execute(graphs, Options())  # the same vectors
    assert len(fits) == 1
    assert first["rows"] == again["rows"]
    (cached,) = (tmp_path / "cache" / "vectors").iterdir()
    cached.write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="made again"):
        assert run_of("random", "histogram").execute(graphs, Options())["rows"] == first["rows"]


@pytest.mark.parametrize("kind", ["random", "scaffold"])
@pytest.mark.parametrize("method", ["morgan", "morgan-forest", "morgan-svm", "majority"])
def test_numbers_of_molecules(kind: str, method: str, molecules: GraphSet) -> None:
    run = run_of(kind, method, numbers=True)
    run.rules.check(run, molecules)
    record = run.execute(molecules, Options())
    assert record["status"] == "ok", record["error"]
    (row,) = record["rows"]
    assert list(row["metrics"]) == ["mae", "rmse"]
    assert "calibration" not in row
    assert all(value is not None and value < 3 for value in row["metrics"]["mae"])


def test_several_targets_are_averaged(molecules: GraphSet) -> None:
    heavy = np.asarray(molecules.targets)[:, 0]
    values = np.stack([heavy > 6, heavy > 8], axis=1).astype(float)
    values[::9, 1] = np.nan
    several = replace(molecules, targets=values, target_names=("a", "b"))
    record = run_of("random", "morgan").execute(several, Options())
    (row,) = record["rows"]
    means = np.mean([row["by_target"][name] for name in ("a", "b")], axis=0)
    np.testing.assert_allclose(row["metrics"]["roc_auc"], means, atol=1e-5)
    one = run_of("random", "morgan", target="a").execute(several, Options())
    assert "by_target" not in one["rows"][0]
    mixed = replace(several, targets=np.stack([values[:, 0], heavy], axis=1))
    with pytest.raises(DataError, match="all classes or all numbers"):
        labels_of(mixed)


@pytest.mark.parametrize("method", ["gin", "igsd-supcon"])
def test_methods_that_learn_from_labels(method: str, graphs: GraphSet) -> None:
    run = run_of("random", method, train_labels=(8,), num_splits=1)
    run.rules.check(run, graphs)
    record = run.execute(graphs, Options())
    assert record["status"] == "ok", record["error"]
    assert record["rows"][0]["metrics"]["roc_auc"][0] is not None


def test_a_network_for_numbers(molecules: GraphSet) -> None:
    run = run_of("random", "gin", train_labels=(8,), num_splits=1, numbers=True)
    record = run.execute(molecules, Options())
    assert record["status"] == "ok", record["error"]
    assert record["rows"][0]["metrics"]["mae"][0] is not None


def test_what_cannot_be_scored(graphs: GraphSet, molecules: GraphSet) -> None:
    run = run_of("scaffold", "histogram")
    with pytest.raises(DataError, match=r"needs the SMILES .* Use --splits random"):
        run.rules.check(run, graphs)
    run = run_of("random", "histogram", train_labels=(500,))
    with pytest.raises(DataError, match="fewer than the 500"):
        run.rules.check(run, graphs)
    with pytest.raises(DataError, match=r"neither classes nor targets.*--labels COLUMN"):
        labels_of(graphs.without_labels())
    with pytest.raises(DataError, match=r"no target 'heavi'.*'heavy'"):
        labels_of(molecules, "heavi")
    run = run_of("random", "histogram", numbers=False)
    with pytest.raises(ConfigError, match="not those of this run"):
        run.rules.check(run, molecules)


def test_predictions_without_anything_to_learn() -> None:
    y, rows = np.array([0.0, 0, 0, 1, 1, 1]), np.arange(6)
    X = np.arange(12.0).reshape(6, 2)
    empty = np.zeros((6, 0))
    np.testing.assert_allclose(
        predict(empty, y, rows[:4], rows[4:], 2, "linear"), [[0.75, 0.25]] * 2
    )
    np.testing.assert_allclose(predict(X, y, rows[:3], rows[4:], 2, "linear"), [[1, 0]] * 2)
    np.testing.assert_allclose(predict(empty, y, rows[:4], rows[4:], 0, "linear"), [0.25] * 2)
    far = predict(
        np.array([[0.0], [1.0], [1e6]]), np.array([0.0, 1, 0]), rows[:2], rows[2:3], 0, "linear"
    )
    assert far[0] <= 2.0
