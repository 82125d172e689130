from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError, StorageError
from igsd.evaluation import qm9
from igsd.evaluation.cross_validation import inner_score
from igsd.evaluation.qm9 import QM9Sizes
from igsd.evaluation.semi import semi_split
from igsd.experiments.protocols import PROTOCOLS, QM9Protocol, SemiProtocol, choose_targets
from igsd.experiments.records import Record, read_record
from igsd.experiments.run import DONE, OTHER, Options, Run
from igsd.experiments.trained import train_model
from igsd.graphs.graphset import GraphSet
from igsd.training.task import Task
from tests.experiments.method_stand_in import run_here
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY, make_graphs
from tests.small_molecules import make_molecules

SMALL = TINY | {"epochs": 2, "label_batch_size": 5, "edge_hidden_dim": 4, "pretraining_epochs": 0}
LABELLED = ("gin", "gin+self-training", "igsd-self", "igsd-supcon+self-training")


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(30, classes=True, name="toy")


@pytest.fixture(scope="module")
def sized() -> GraphSet:
    made = make_graphs(20, name="toy")
    values = np.append(made.node_counts()[:16] + 0.5, [np.nan] * 4)[:, None]
    return replace(made, targets=values, target_names=("size",))


@pytest.fixture
def molecules(monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    monkeypatch.setattr(qm9, "SIZES", QM9Sizes(10, 6, 6))
    made = make_molecules(30)
    sizes = made.node_counts().astype(float)
    targets = np.stack([sizes, sizes**2, -sizes], axis=1)
    return replace(made, targets=targets, target_names=("mu", "alpha", "r2"))


def run_of(protocol: str, method: str, **fields: Any) -> Run:
    """Return a run with small settings, as far as its method has them; ``changes``: others."""
    data, recipe = ("molecules", "qm9") if protocol == "qm9" else ("toy", "molecules")
    settings = SMALL | fields.pop("changes", {})
    run = Run(protocol, data, method, recipe, 0, **fields)
    return replace(run, fixed=tuple(run.config().known(settings).items()))


def semi(method: str = "gin", **changes: Any) -> Run:
    return run_of("semi", method, label_rate=0.2, changes=changes)


def both_seeds(run: Run, graphs: GraphSet, records: Path | None = None) -> Sequence[Record]:
    return [replace(run, seed=s).execute(graphs, Options(records)) for s in range(2)]


def test_records_of_both_protocols(graphs: GraphSet, tmp_path: Path) -> None:
    records = both_seeds(semi(), graphs, tmp_path)
    assert [record["status"] for record in records] == ["ok", "ok"]
    rows = [(row["method"], row["protocol"]) for row in records[0]["rows"]]
    assert rows[:2] == [("gin", "semi"), ("gin", "semi-paper")]
    assert [name for name, _ in rows[2:]] == ["untrained", "histogram", "majority"]
    curve = [entry["eval_accuracy"] for entry in records[0]["history"]]
    assert records[0]["rows"][0]["mean"] == curve[-1]
    assert records[0]["rows"][1]["mean"] == max(curve)
    assert records[0]["cpu_seconds"] > 0
    assert "pretraining" not in records[0]
    path = tmp_path / "semi-0.2" / "toy" / "gin" / "seed-1.json"
    assert read_record(path) == records[1]
    assert [file.name for file in path.parent.iterdir() if file.suffix != ".json"] == []
    assert semi().state(graphs, Options(tmp_path))[0] == DONE
    other = semi(hidden_dim=6)
    assert other.state(graphs, Options(tmp_path)) == (OTHER, "hidden_dim is 8 there and 6 here")


def test_epochs_before_the_labels_are_kept(graphs: GraphSet) -> None:
    record = semi("igsd-self", pretraining_epochs=2).execute(graphs, Options())
    assert [entry["epoch"] for entry in record["pretraining"]] == [0, 1]


def test_pseudo_labels_are_checked_if_the_class_is_known(graphs: GraphSet) -> None:
    codes = np.where(np.arange(30) % 3, np.arange(30) % 2, -1)
    gaps = replace(graphs, classes=codes)
    settings = {"epochs": 3, "self_training_start": 1, "self_training_threshold": 0.5}
    record = semi("gin+self-training", **settings).execute(gaps, Options())
    counts = record["pseudo_labels"]
    given, checked, right = (sum(counts[name]) for name in ("given", "checked", "right"))
    assert given > checked >= right
    assert record["rows"][0]["test_sizes"] == [2]  # type: ignore[typeddict-item]
    assert record["rows"][0]["train_sizes"] == [28]  # type: ignore[typeddict-item]


@pytest.mark.parametrize("method", ["histogram", "wl", "majority", "histogram-forest"])
def test_methods_without_labels_are_scored_by_their_vectors(graphs: GraphSet, method: str) -> None:
    record = run_of("semi", method, label_rate=0.3).execute(graphs, Options())
    assert record["status"] == "ok", record["error"]
    assert record["rows"][0]["method"] == method
    assert (record["rows"][0].get("roc_auc") is not None) == (method == "histogram-forest")


def test_references_are_methods(graphs: GraphSet) -> None:
    """The row that rides along is that of the method's own run."""
    rows = {row["method"]: row for row in semi().execute(graphs, Options())["rows"]}
    for name in ("histogram", "majority"):
        own = semi(name).execute(graphs, Options())["rows"][0]
        assert own == rows[name]


def test_a_number(sized: GraphSet, tmp_path: Path) -> None:
    run = run_of("semi", "gin", target="size", label_rate=0.5)
    record = run.execute(sized, Options(tmp_path))
    assert record["status"] == "ok", record["error"]
    assert [row["method"] for row in record["rows"]] == ["gin", "mean"]
    assert all(row["mae"] > 0 for row in record["rows"])
    assert record["num_labelled"] == 7
    assert run.path(tmp_path).relative_to(tmp_path).parts[0] == "semi-size-0.5"
    assert run.state(sized, Options(tmp_path))[0] == DONE
    (own, *_) = replace(run, method="histogram-svm", fixed=()).execute(sized, Options())["rows"]
    assert (own["method"], own["mae"] > 0) == ("histogram-svm", True)
    with pytest.raises(DataError, match=r"has no target 'siz'.*'size'"):
        run.rules.check(replace(run, target="siz"), sized)


def test_fingerprints_beside_molecules(sized: GraphSet) -> None:
    pytest.importorskip("rdkit")
    named = replace(sized, graph_names=tuple("C" * (1 + i) for i in range(20)))
    run = run_of("semi", "gin", target="size", label_rate=0.5)
    rows = run.execute(named, Options())["rows"]
    assert [row["method"] for row in rows] == ["gin", "mean", "morgan"]


@pytest.mark.parametrize("method", QM9Protocol.methods)
def test_the_budget_is_the_same_for_every_method(method: str) -> None:
    config = Run("qm9", "QM9", method, "qm9", 0).config()
    assert config.epochs * -(-5_000 // config.label_batch_size) >= 3_000
    assert (config.encoder, config.hidden_dim, config.label_batch_size) == ("mpnn", 64, 64)


def test_records_have_errors_units_and_references(molecules: GraphSet, tmp_path: Path) -> None:
    run = run_of("qm9", "igsd", target="mu,alpha")
    records = both_seeds(run, molecules, tmp_path)
    assert [record["status"] for record in records] == ["ok", "ok"]
    own, *others = records[0]["rows"]
    assert own["units"] == {"mu": "D", "alpha": "bohr^3"}
    assert set(own["mae"]) == set(own["validation_mae"]) == {"mu", "alpha"}
    assert [row["method"] for row in others] == ["untrained", "histogram", "mean"]
    assert records[0]["steps"] == 4
    assert (tmp_path / "qm9-mu+alpha" / "molecules" / "igsd" / "seed-1.json").is_file()
    # The mean of a target is the same whether it is learned alone or with others.
    (alone, _) = both_seeds(run_of("qm9", "igsd", target="alpha"), molecules)
    assert alone["rows"][-1]["mae"]["alpha"] == others[-1]["mae"]["alpha"]


@pytest.mark.parametrize("protocol", ["semi", "qm9"])
def test_an_interrupted_split_continues(
    graphs: GraphSet,
    molecules: GraphSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
) -> None:
    settings = {"epochs": 3, "self_training_start": 1, "self_training_threshold": 0.5}
    run = semi("igsd-supcon+self-training", **settings)
    data = graphs
    if protocol == "qm9":
        run, data = run_of("qm9", "igsd", target="mu"), molecules
    whole = run.execute(data, Options(tmp_path / "whole"))
    cut = Options(tmp_path / "cut")
    with monkeypatch.context() as patch:
        after_label_steps(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            run.execute(data, cut)
    (left,) = (tmp_path / "cut").rglob("*.checkpoint")
    left.with_name("seed-0.01234567.checkpoint").write_bytes(b"")  # of other settings
    resumed = run.execute(data, cut)
    assert not list((tmp_path / "cut").rglob("*.checkpoint"))
    assert (whole["history"], whole["rows"]) == (resumed["history"], resumed["rows"])
    assert whole.get("pseudo_labels") == resumed.get("pseudo_labels")


def test_a_failed_split_keeps_its_checkpoint_until_it_is_forced(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("no more memory")

    with monkeypatch.context() as patch:
        patch.setattr(Task, "losses", broken)
        record = semi().execute(graphs, Options(tmp_path))
    assert (record["status"], record["error"]) == ("failed", "RuntimeError: no more memory")
    left = semi().path(tmp_path).with_suffix(".01234567.checkpoint")
    left.write_bytes(b"")
    semi().execute(graphs, Options(tmp_path, force=True))
    assert not left.exists()


@pytest.mark.parametrize(
    "error", [StorageError("Cannot write."), OSError(errno.ENOSPC, "No space left")]
)
def test_what_would_end_every_split_is_raised(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def stop(*_: Any) -> None:
        raise error

    monkeypatch.setattr(SemiProtocol, "score", stop)
    with pytest.raises(type(error)):
        semi().execute(graphs, Options(tmp_path))
    assert not list(tmp_path.rglob("*.json"))


def test_limits_put_a_split_in_a_process_of_its_own(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd import processes

    seen: list[Any] = []

    def run(function: Any, *arguments: Any, **limits: Any) -> Any:
        seen.append(limits)
        return run_here(function, *arguments, **limits)

    monkeypatch.setattr(processes, "run_measured", run)
    record = semi().execute(graphs, Options(seconds=60.0))
    assert (record["status"], record["peak_memory_mib"]) == ("ok", 3.0)
    assert seen == [{"seconds": 60.0, "memory_gib": None}]


def test_bad_input(molecules: GraphSet, graphs: GraphSet) -> None:
    with pytest.raises(ConfigError, match=r"no method 'igst'.*supervised, .*igsd"):
        run_of("qm9", "igst")
    with pytest.raises(ConfigError, match="no setting 'temperature'"):
        Run("qm9", "", "supervised", "qm9", 0, (("temperature", 1.0),)).config()
    with pytest.raises(DataError, match="has no target 'mo'"):
        choose_targets(("mo",), molecules)
    with pytest.raises(ConfigError, match="different names"):
        choose_targets(("mu", "MU"), molecules)
    assert choose_targets((), molecules) == ("mu", "alpha", "r2")
    assert choose_targets(("R2",), molecules) == ("r2",)
    with pytest.raises(DataError, match="predicts targets of graphs, but 'molecules' has none"):
        choose_targets(("mu",), make_molecules())
    run = Run("gckn", "toy", "wl", "molecules", 0)
    with pytest.raises(ValueError, match="toy"):
        run.rules.check(run, graphs)


def test_too_few_molecules() -> None:
    made = make_molecules(30)
    small = replace(made, targets=np.ones((30, 1)), target_names=("mu",))
    run = Run("qm9", "molecules", "igsd", "qm9", 0, target="mu")
    with pytest.raises(DataError, match="30"):
        run.rules.check(run, small)


def test_trials_without_labels_are_scored_inside_training_parts() -> None:
    graphs = make_graphs(6, classes=True, name="toy")
    run = replace(run_of("tune-nested", "igsd"), seed=101)
    record = run.execute(graphs, Options())
    vectors = train_model(graphs, run.config()).vectors
    expected = inner_score(vectors, graphs.classes, 101, standardise="yes")
    assert record["score"] == pytest.approx(expected, abs=1e-12)


def test_trials_with_few_labels_stay_inside_the_training_part(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd.evaluation import semi as evaluation

    seen, real = [], evaluation.score_split

    def watched(estimator: Any, part: GraphSet, codes: Any, split: Any, seed: int) -> Any:
        seen.append((part.checksum, len(split.train) + len(split.test), seed))
        return real(estimator, part, codes, split, seed)

    monkeypatch.setattr(evaluation, "score_split", watched)
    run = run_of("tune-semi", "igsd-supcon+self-training", label_rate=0.3)
    record = replace(run, seed=101).execute(graphs, Options())
    train = semi_split(graphs.classes, 100, label_rate=0.3).train
    assert seen == [(graphs.take(train).checksum, len(train), 101)]
    assert 0 <= record["score"] <= 1


def test_trials_that_cannot_be_scored(graphs: GraphSet) -> None:
    one_class = replace(graphs, classes=np.zeros(30, np.int64))
    nested, few = run_of("tune-nested", "igsd"), run_of("tune-semi", "gin")
    for run in (nested, few):
        with pytest.raises(DataError, match="at least two classes"):
            run.rules.check(run, one_class)
    with pytest.raises(DataError, match="no class labels"):
        nested.rules.check(nested, make_graphs(6))
    with pytest.raises(ConfigError, match="Set epochs to 1"):
        few.rules.check(replace(few, fixed=(("epochs", 0),)), graphs)


def test_protocols_are_named_as_they_are_stored() -> None:
    assert all(name == protocol.name for name, protocol in PROTOCOLS.items())
