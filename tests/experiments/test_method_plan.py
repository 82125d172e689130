from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.baselines.measured import Measured
from igsd.errors import ConfigError, DataError, StorageError, TrainingError
from igsd.evaluation.nested import nested
from igsd.experiments import method_plan
from igsd.experiments.method_plan import plan_method
from igsd.experiments.records import scored_of
from igsd.experiments.scoring import Scoring
from igsd.graphs.graphset import GraphSet
from tests.experiments.method_stand_in import Made, in_process, labelled, plan

__all__ = ["in_process", "labelled"]


def test_a_record_says_everything(tmp_path: Path, labelled: GraphSet, in_process: Made) -> None:
    record = plan(labelled, records=tmp_path, memory_gib=2.0).run(1)
    path = tmp_path / "nested" / "toy" / "wl" / "seed-1.json"
    assert json.loads(path.read_text()) == json.loads(json.dumps(record))
    assert (record["status"], record["method"], record["recipe"]) == ("ok", "wl", "molecules")
    assert record["seed"] == record["config"]["seed"] == 1
    assert record["limits"] == {"seconds": 86400.0, "memory_gib": 2.0}
    assert set(record["seconds"]) == {"train", "embed", "processor", "evaluate"}
    assert (record["peak_memory_mib"], record["features"]) == (3.0, 8)
    assert record["protocol"]["kernel"] == "precomputed"
    assert [row["method"] for row in record["rows"]] == ["wl", "majority"]


def test_the_folds_are_those_of_everything_else(labelled: GraphSet, in_process: Made) -> None:
    record = plan(labelled, "histogram").run(2)
    from igsd.baselines.histogram import LabelDegreeHistogram

    vectors = LabelDegreeHistogram().fit_transform(labelled)
    direct = nested(vectors, labelled.classes, seed=2, standardise="no")
    assert dict(scored_of(record))["histogram"] == direct
    assert record["protocol"] == Scoring(standardise="no").settings()


def test_classes_never_reach_a_method(labelled: GraphSet, monkeypatch: Any) -> None:
    def run(function: Any, graphs: GraphSet, *others: Any, **limited: Any) -> Measured:
        assert graphs.classes is None
        raise TrainingError("enough")

    monkeypatch.setattr(method_plan, "run_measured", run)
    assert plan(labelled).run(0)["error"] == "enough"


def test_a_full_disk_is_no_result_of_the_method(
    tmp_path: Path, labelled: GraphSet, monkeypatch: Any
) -> None:
    def run(*_: Any, **limited: Any) -> Measured:
        raise StorageError("No space left on device.")

    monkeypatch.setattr(method_plan, "run_measured", run)
    with pytest.raises(StorageError, match="No space"):
        plan(labelled, records=tmp_path).run(0)
    assert not list(tmp_path.rglob("*.json"))


def test_other_settings_have_a_name(labelled: GraphSet) -> None:
    assert plan(labelled, changes={"iterations": 5}).name == "wl"
    assert plan(labelled, changes={"iterations": 2}).name == "wl+iterations-2"
    # Where it is learned makes no other vectors.
    changes = {"epochs": 3, "accelerator": "cpu"}
    assert plan(labelled, "infograph", changes=changes).name == "infograph+epochs-3"


def test_another_recipe_than_the_fitting_one_has_a_name(labelled: GraphSet) -> None:
    """A comparison under another recipe found its places taken."""

    def name(method: str, recipe: str, **changes: Any) -> str:
        return plan_method(labelled, method, Scoring(), recipe=recipe, changes=changes).name

    assert name("infograph", "molecules") == "infograph"
    assert name("infograph", "social", epochs=3) == "infograph+recipe-social+epochs-3"
    # A kernel has no use for a recipe.
    assert name("wl", "social") == "wl"


def test_a_run_of_igsd_has_one_place(tmp_path: Path, labelled: GraphSet) -> None:
    """What `igsd compare` had run stood as not run in the tables of `igsd reproduce`."""

    def folder(recipe: str, **changes: Any) -> str:
        made = plan(labelled, "igsd", changes=changes, records=tmp_path, recipe=recipe)
        path = made.path_of(0)
        assert path is not None
        return path.parent.name

    assert folder("molecules") == "molecules"
    assert folder("paper") == "paper"
    assert folder("molecules", view="edge-drop") == "molecules+view-edge-drop"
    assert plan(labelled, "igsd").name == "igsd"


def test_time_is_limited_too(labelled: GraphSet, in_process: Made) -> None:
    record = plan(labelled, "graphlet", seconds=1e-9).run(0)
    assert (record["status"], record["word"]) == ("limit", "> limit")


def test_a_graph_too_large_for_a_quadratic_method(in_process: Made) -> None:
    path = np.arange(99_999)
    from igsd.graphs.build import from_edges

    sizes = [100_000, *[1] * 7]
    large = from_edges(sizes, path, path + 1, classes=np.arange(8) % 2, class_names=(0, 1))
    record = plan(large, "shortest-path", memory_gib=8.0).run(0)
    assert (record["status"], record["word"]) == ("limit", "OMR")
    assert "needs 558.8 GiB, and the memory limit is 8.0 GiB" in record["error"]


def test_nothing_is_run_in_vain(tmp_path: Path, labelled: GraphSet) -> None:
    with pytest.raises(DataError, match="no class labels"):
        plan(labelled.without_labels())
    with pytest.raises(ConfigError, match=r"no method 'w1'"):
        plan(labelled, "w1")
    with pytest.raises(ConfigError, match="'wl' has no setting 'epochs'"):
        plan(labelled, changes={"epochs": 2})
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="for records"):
        plan(labelled, records=tmp_path / "file" / "results")


@pytest.mark.slow
def test_in_a_process_of_its_own(labelled: GraphSet) -> None:
    record = plan(labelled).run(0)
    assert record["status"] == "ok"
    assert record["peak_memory_mib"] > 20
    tight = plan(labelled, memory_gib=0.001).run(0)
    assert (tight["status"], tight["word"]) == ("limit", "OMR")
