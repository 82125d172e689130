from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import igsd
from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.errors import ConfigError, DataError, StorageError
from igsd.evaluation.inputs import check_codes, check_features, check_groups, check_kernel
from tests.small_graphs import make_graphs


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, -1, 1, 0], "1 of 5 have none .the first is graph 2.*protocol semi"),
        ([1, 1, 1], "at least two classes"),
        ([0, 0, 0, 4], "every class needs at least 3 graphs.*Class 4 has 1"),
        ([0, 0, 0, 4, 4], "Class 4 has 2"),
        ([0, 0, 4, 4], "Class 0 has 2, 4 has 2"),
        ([0.0, 1.0], "integers"),
        ([[0, 1]], "one for each graph"),
    ],
)
def test_labels_that_cannot_be_scored(y, words):
    with pytest.raises(DataError, match=words):
        check_codes(np.array(y))


def test_classes_are_called_by_their_names():
    # Messages once named the code, which the user has never seen.
    y, names = np.array([0, 0, 0, 1, 1]), ("inactive", "active")
    with pytest.raises(DataError, match=r"Class 'active' has 2\. Leave the graphs"):
        check_codes(y, names=names)
    with pytest.raises(DataError, match="same label, 'inactive'"):
        check_codes(y[:3], names=names)


def test_gaps_where_they_may_be():
    y = np.array([0, -1, 0, 1, 0, 1, 1])
    assert check_codes(y, gaps=True).tolist() == y.tolist()
    with pytest.raises(DataError, match="Class 1 has 2"):
        check_codes(y[:-1], gaps=True)


def test_number_of_labels():
    with pytest.raises(DataError, match="Got 4 codes for 5 graphs"):
        check_codes(np.array([0, 0, 1, 1]), 5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_must_be_finite(value):
    X = np.zeros((4, 3))
    X[2, 1] = value
    with pytest.raises(DataError, match="Row 2, column 1"):
        check_features(X)


@pytest.mark.parametrize("X", [np.zeros((0, 3)), np.zeros(4), [["a", "b"]], np.zeros((3, 0))])
def test_features_must_be_a_table_of_numbers(X):
    with pytest.raises(DataError, match="features X must be"):
        check_features(X)


def test_kernel_must_be_square_and_symmetric():
    with pytest.raises(DataError, match="square"):
        check_kernel(np.zeros((3, 2)))
    with pytest.raises(DataError, match="symmetric"):
        check_kernel(np.array([[1.0, 0.5], [0.2, 1.0]]))


def test_groups_one_for_each_graph():
    with pytest.raises(DataError, match="3 integers"):
        check_groups([0, 1], 3)


@pytest.mark.parametrize("kind", ["path", "object"])
def test_a_model_by_its_path(tmp_path: Path, kind: str) -> None:
    """Its path as text raised AttributeError, although the command line takes one."""
    graphs = make_graphs(12, classes=True)
    model: Any = LabelDegreeHistogram().fit(graphs)
    model.save(tmp_path / "h")
    given = str(tmp_path / "h") if kind == "path" else model
    vectors = model.transform(graphs)
    near = igsd.neighbors(graphs, [0, 3], k=2, model=given)
    assert near[0].tolist() == igsd.neighbors(vectors, [0, 3], k=2)[0].tolist()
    assert igsd.outliers(graphs, k=2, model=given).graphs.tolist() == (
        igsd.outliers(vectors, k=2).graphs.tolist()
    )
    found = igsd.cluster(graphs, 2, model=given)
    assert found.labels.tolist() == igsd.cluster(vectors, 2).labels.tolist()
    assert np.array_equal(igsd.map(graphs, model=given).points, igsd.map(vectors).points)
    index = igsd.Index.build(graphs, tmp_path / "i", model=given)
    assert index.model == (given if kind == "path" else "")
    found_again = igsd.neighbors(index, graphs[:1], k=2, model=given)[0]
    assert found_again.tolist() == igsd.neighbors(vectors, vectors[:1], k=2)[0].tolist()


def test_what_is_no_model(tmp_path: Path) -> None:
    graphs = make_graphs(4)
    with pytest.raises(StorageError, match=r"There is no model at .*nothing"):
        igsd.cluster(graphs, 2, model=str(tmp_path / "nothing"))
    with pytest.raises(ConfigError, match=r"fitted estimator .* Got a dict"):
        igsd.neighbors(graphs, [0], model={})
    with pytest.raises(ConfigError, match="Got the class IGSD"):
        igsd.neighbors(graphs, [0], model=igsd.IGSD)
    with pytest.raises(ConfigError, match="first argument is a IGSD"):
        igsd.neighbors(igsd.IGSD(), [0])


def test_the_encoder_in_the_package_by_its_name() -> None:
    pytest.importorskip("rdkit")
    molecules = ["CCO", "CCN", "CCC", "c1ccccc1"]
    expected = igsd.neighbors(igsd.pretrained("molecules").transform(molecules), [0], k=3)
    assert igsd.neighbors(molecules, [0], k=3, model="molecules")[0].tolist() == (
        expected[0].tolist()
    )
