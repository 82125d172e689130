from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd import open_data
from igsd.baselines.few_labels.gin import GINRegressor
from igsd.estimators.predictions import given_columns, prediction_columns
from igsd.estimators.predictor import MoleculeRegressor
from tests.small_graphs import make_graphs


def test_what_the_data_says_itself() -> None:
    graphs = replace(
        make_graphs(3, classes=True),
        targets=np.array([[0.5, 1.5], [np.nan, 2.5], [3.5, np.nan]]),
        target_names=("logP", "logS"),
    )
    one = {"labels": {"source": "logP", "task": "numbers"}}
    assert given_columns(one, graphs, "X") == {"given": [0.5, None, 3.5]}
    both = {"labels": {"source": "logP,logS", "task": "numbers"}}
    assert given_columns(both, graphs, "X")["given_logS"] == [1.5, 2.5, None]
    classes = {"labels": {"source": "class", "task": "classes"}}
    assert given_columns(classes, graphs, "X") == {"given": ["-1", "1", "-1"]}
    assert given_columns(one, make_graphs(3), "X") == {}
    assert given_columns({}, graphs, "X") == {}


def test_a_file_of_labels_speaks_of_the_graphs_of_the_training_alone(tmp_path: Path) -> None:
    graphs, file = make_graphs(3, classes=True), tmp_path / "class.txt"
    file.write_text("no\n\nyes\n")
    metrics = {"labels": {"source": str(file), "names": ["class"], "task": "classes"}}
    metrics["data"] = {"checksum": graphs.checksum}
    assert given_columns(metrics, graphs, "X") == {"given": ["no", None, "yes"]}
    assert given_columns(metrics, graphs[[0, 2, 1]], "X") == {}
    file.unlink()
    assert given_columns(metrics, graphs, "X") == {}


@pytest.mark.parametrize("name", ["distance", "is_far", "given"])
def test_a_target_called_like_another_column(name: str) -> None:
    """The other column once replaced the prediction."""
    pytest.importorskip("rdkit")
    smiles = ["C" * n + "O" for n in range(1, 13)]
    model = MoleculeRegressor().fit(smiles, np.arange(90.0, 102.0), target_names=[name])
    graphs = open_data(smiles)
    columns = prediction_columns(model, graphs)
    assert columns[f"predicted_{name}"] == model.predict(graphs).reshape(-1).tolist()
    assert name != "distance" or columns["distance"] == [0.0] * len(smiles)


def test_targets_called_like_the_titles_of_others() -> None:
    """The predictions of ``num_low`` were replaced by those of ``predicted_num_low``."""
    names = ["num", "num_low", "predicted_num_low"]
    graphs = make_graphs(8)
    y = np.random.default_rng(0).normal(size=(8, 3))
    model = GINRegressor(epochs=1, label_batch_size=4, hidden_dim=4, random_state=0)
    columns = prediction_columns(model.fit(graphs, y, target_names=names), graphs)
    expected = model.predict(graphs)
    titles = ["num", "predicted_predicted_num_low", "predicted_num_low"]
    np.testing.assert_array_equal(np.transpose([columns[title] for title in titles]), expected)
