from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.registry import make_method
from igsd.errors import DataError
from igsd.estimators import IGSD
from igsd.evaluation.nested import nested
from igsd.experiments.score_model import score_seeds, source_vectors
from igsd.experiments.scoring import Scoring
from igsd.experiments.vectors import KernelMatrix
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs

SMALL = {"epochs": 1, "num_layers": 1, "hidden_dim": 4}


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    return make_graphs(8, classes=True)


def test_a_model_has_an_untrained_twin(tmp_path: Path, labelled: GraphSet) -> None:
    model = IGSD(**TINY, random_state=2).fit(labelled)
    model.save(tmp_path / "model.npy")  # any name is allowed, even one of embeddings
    vectors, notes = source_vectors(tmp_path / "model.npy", labelled, "nested")
    assert list(vectors) == ["histogram", "igsd", "untrained"]
    assert notes == []
    untrained = IGSD(**(TINY | {"epochs": 0}), random_state=2).fit_transform(labelled)
    assert np.array_equal(vectors["untrained"], untrained)
    assert np.array_equal(vectors["igsd"], model.transform(labelled))


def test_so_has_every_network_but_an_untrained_one(tmp_path: Path, labelled: GraphSet) -> None:
    model = make_method("infograph", **SMALL).fit(labelled)
    model.save(tmp_path / "infograph")
    vectors, notes = source_vectors(tmp_path / "infograph", labelled, "nested")
    assert (set(vectors), notes) == ({"infograph", "untrained", "histogram"}, [])
    assert not np.array_equal(vectors["infograph"], vectors["untrained"])
    make_method("untrained", **(SMALL | {"epochs": 0})).fit(labelled).save(tmp_path / "untrained")
    vectors, notes = source_vectors(tmp_path / "untrained", labelled, "nested")
    assert (set(vectors), notes) == ({"untrained", "histogram"}, [])


def test_embeddings_have_none(tmp_path: Path, labelled: GraphSet) -> None:
    np.save(tmp_path / "v.npy", np.ones((8, 2)))
    vectors, notes = source_vectors(tmp_path / "v.npy", labelled, "nested")
    assert list(vectors) == ["igsd", "histogram"]
    assert len(notes) == 1
    LabelDegreeHistogram().fit(labelled).save(tmp_path / "h")
    assert list(source_vectors(tmp_path / "h", labelled, "nested")[0]) == ["histogram"]


def test_a_kernel_gives_its_matrix(tmp_path: Path, labelled: GraphSet) -> None:
    model = make_method("wl").fit(labelled)
    model.save(tmp_path / "wl")
    vectors, notes = source_vectors(tmp_path / "wl", labelled, "nested")
    assert set(vectors) == {"wl", "histogram"}
    assert isinstance(vectors["wl"], KernelMatrix)
    assert np.array_equal(vectors["wl"].values, model.kernel(labelled))
    assert notes == ["there is no untrained network to compare with"]
    scored = score_seeds(vectors, labelled, Scoring(), 1)[0]
    direct = nested(model.kernel(labelled), labelled.classes, kernel="precomputed")
    assert dict(scored)["wl"].accuracies == direct.accuracies


def test_the_wrong_number_of_rows(tmp_path: Path, labelled: GraphSet) -> None:
    np.save(tmp_path / "v.npy", np.ones((7, 2)))
    with pytest.raises(DataError, match=r"7 embeddings.*8 graphs"):
        source_vectors(tmp_path / "v.npy", labelled, "nested")


def test_every_seed_has_its_own_folds(labelled: GraphSet) -> None:
    vectors = {"histogram": LabelDegreeHistogram().fit_transform(labelled)}
    per_seed = score_seeds(vectors, labelled, Scoring(standardise="no"), 2)
    assert [scored[0][1].seed for scored in per_seed] == [0, 1]
