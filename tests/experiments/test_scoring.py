from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.baselines.registry import build, configure, make_method
from igsd.errors import DataError
from igsd.estimators import IGSD
from igsd.evaluation.cross_validation import cross_validate
from igsd.experiments.scoring import (
    ROW_ORDER,
    Scoring,
    Vectors,
    class_codes,
    has_many_twins,
    represent,
    score_seeds,
    source_vectors,
)
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs

SMALL = {"epochs": 1, "num_layers": 1, "hidden_dim": 4}


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    return make_graphs(8, classes=True)


def clear_vectors(graphs: GraphSet) -> np.ndarray:
    """Return vectors that give the class away."""
    noise = np.random.default_rng(0).normal(size=(len(graphs), 2))
    return np.asarray(graphs.classes)[:, None] * 20.0 + noise


def test_rows_of_a_seed(labelled: GraphSet) -> None:
    vectors = dict.fromkeys(("igsd", "untrained", "histogram"), Vectors(clear_vectors(labelled)))
    (scored,) = score_seeds(vectors, labelled, Scoring(), [3])
    assert tuple(method for method, _ in scored) == ROW_ORDER
    assert [result.mean for _, result in scored] == [1.0, 1.0, 1.0, 0.5]
    assert {result.seed for _, result in scored} == {3}


def test_paper_never_stands_alone(labelled: GraphSet) -> None:
    vectors = {"igsd": Vectors(clear_vectors(labelled))}
    (scored,) = score_seeds(vectors, labelled, Scoring("paper"), [0])
    assert [(method, result.protocol) for method, result in scored] == [
        ("igsd", "nested"),
        ("majority", "nested"),
        ("igsd", "paper"),
        ("majority", "paper"),
    ]


def test_twins_are_scored_before_the_rest(labelled: GraphSet) -> None:
    scoring = Scoring(twins=True)
    vectors = dict.fromkeys(("igsd", "histogram"), Vectors(clear_vectors(labelled)))
    (scored,) = score_seeds(vectors, labelled, scoring, [0])
    assert next(method for method, _ in scored) == "igsd, twins removed"
    assert len(scored) == 4


def test_other_methods_stand_before_the_floors(labelled: GraphSet) -> None:
    X = clear_vectors(labelled)
    vectors = {"histogram": Vectors(X), "wl": Vectors(X @ X.T, "precomputed"), "gcc": Vectors(X)}
    (scored,) = score_seeds(vectors, labelled, Scoring(twins=True), [0])
    assert [method for method, _ in scored] == [
        *("wl, twins removed", "gcc, twins removed"),
        *("wl", "gcc", "histogram", "majority"),
    ]
    # Alone, the histogram is what is scored, not a reference row beside it.
    (alone,) = score_seeds({"histogram": Vectors(X)}, labelled, Scoring(twins=True), [0])
    assert len(alone) == 3


def test_many_twins() -> None:
    graphs = make_graphs(120, seed=1)
    assert not has_many_twins(graphs.take(np.arange(10).repeat(12)))
    assert has_many_twins(graphs.take(np.arange(120).repeat(2)))


def test_what_cannot_be_scored(labelled: GraphSet) -> None:
    with pytest.raises(DataError, match="no class labels"):
        class_codes(labelled.without_labels())
    with pytest.raises(DataError, match="two classes"):
        class_codes(replace(labelled, classes=np.zeros(8, np.int64)))


def test_a_model_has_an_untrained_twin(tmp_path: Path, labelled: GraphSet) -> None:
    model = IGSD(**TINY, random_state=2).fit(labelled)
    model.save(tmp_path / "model.npy")  # any name is allowed, even one of embeddings
    vectors, notes = source_vectors(tmp_path / "model.npy", labelled, "nested")
    assert list(vectors) == ["histogram", "igsd", "untrained"]
    assert notes == []
    untrained = IGSD(**(TINY | {"epochs": 0}), random_state=2).fit_transform(labelled)
    assert np.array_equal(vectors["untrained"].values, untrained)
    assert np.array_equal(vectors["igsd"].values, model.transform(labelled))


def test_so_has_every_network_but_an_untrained_one(tmp_path: Path, labelled: GraphSet) -> None:
    model = make_method("infograph", **SMALL).fit(labelled)
    model.save(tmp_path / "infograph")
    vectors, notes = source_vectors(tmp_path / "infograph", labelled, "nested")
    assert (set(vectors), notes) == ({"infograph", "untrained", "histogram"}, [])
    assert not np.array_equal(vectors["infograph"].values, vectors["untrained"].values)
    make_method("untrained", **(SMALL | {"epochs": 0})).fit(labelled).save(tmp_path / "untrained")
    vectors, notes = source_vectors(tmp_path / "untrained", labelled, "nested")
    assert (set(vectors), notes) == ({"untrained", "histogram"}, [])


def test_embeddings_have_none(tmp_path: Path, labelled: GraphSet) -> None:
    np.save(tmp_path / "v.npy", np.ones((8, 2)))
    vectors, notes = source_vectors(tmp_path / "v.npy", labelled, "nested")
    assert list(vectors) == ["vectors", "histogram"]
    assert len(notes) == 1
    LabelDegreeHistogram().fit(labelled).save(tmp_path / "h")
    assert list(source_vectors(tmp_path / "h", labelled, "nested")[0]) == ["histogram"]


def test_a_kernel_gives_its_matrix(tmp_path: Path, labelled: GraphSet) -> None:
    model = make_method("wl").fit(labelled)
    model.save(tmp_path / "wl")
    vectors, notes = source_vectors(tmp_path / "wl", labelled, "nested")
    assert set(vectors) == {"wl", "histogram"}
    assert vectors["wl"].kernel == "precomputed"
    assert np.array_equal(vectors["wl"].values, model.kernel(labelled))
    assert notes == ["there is no untrained network to compare with"]
    scored = score_seeds(vectors, labelled, Scoring(), [0])[0]
    direct = cross_validate(model.kernel(labelled), labelled.classes, kernel="precomputed")
    assert dict(scored)["wl"].accuracies == direct.accuracies


def test_the_wrong_number_of_rows(tmp_path: Path, labelled: GraphSet) -> None:
    np.save(tmp_path / "v.npy", np.ones((7, 2)))
    with pytest.raises(DataError, match=r"7 vectors.*8 graphs"):
        source_vectors(tmp_path / "v.npy", labelled, "nested")


def test_every_seed_has_its_own_folds(labelled: GraphSet) -> None:
    vectors = {"histogram": Vectors(LabelDegreeHistogram().fit_transform(labelled))}
    per_seed = score_seeds(vectors, labelled, Scoring(standardise="no"), range(2))
    assert [scored[0][1].seed for scored in per_seed] == [0, 1]


def test_vectors_of_a_method(graphs: GraphSet) -> None:
    config = configure("graph2vec", "molecules", {"dim": 4, "epochs": 2, "min_count": 1})
    vectors, made = represent(graphs, "graph2vec", config, "nested")
    expected = build("graph2vec", config).fit(graphs).transform(graphs)
    np.testing.assert_array_equal(vectors.values, expected)
    assert set(made["seconds"]) == {"train", "embed"}
    assert (vectors.kernel, made["notes"], made["history"]) == ("rbf", [], [])
    assert made["cpu_seconds"] >= 0


def test_the_kernel_of_a_method(graphs: GraphSet) -> None:
    kernel, _ = represent(graphs, "wl", configure("wl", "molecules"), "nested")
    assert kernel.kernel == "precomputed"
    assert kernel.values.shape == (len(graphs), len(graphs))


def test_the_vectors_behind_a_kernel(graphs: GraphSet) -> None:
    config = configure("gckn", "molecules", {"num_anchors": 4})
    vectors, _ = represent(graphs, "gckn", config, "gckn")
    assert vectors.kernel == "linear"
    K = represent(graphs, "gckn", config, "nested")[0].values
    np.testing.assert_allclose(vectors.values @ vectors.values.T, K, atol=1e-5)


def test_degrees_in_place_of_labels_are_told() -> None:
    _, made = represent(make_graphs(labels=False), "wl", configure("wl", "social"), "nested")
    assert len(made["notes"]) == 1
    assert "node degrees are used" in made["notes"][0]


def test_losses_of_a_method_that_trains(graphs: GraphSet) -> None:
    changes = {"epochs": 2, "num_layers": 1, "hidden_dim": 4, "batch_size": 4}
    config = configure("infograph", "molecules", changes)
    _, made = represent(graphs, "infograph", config, "nested")
    assert [entry["epoch"] for entry in made["history"]] == [0, 1]
