from __future__ import annotations

from pathlib import Path

import pytest

from igsd.cli.run_files import training_metrics, write_run_files
from igsd.config import Config
from igsd.estimators import IGSD
from igsd.experiments.run_folder import RunFolder
from igsd.experiments.trained import Trained, train_model
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY


@pytest.fixture(scope="module")
def made(graphs: GraphSet) -> Trained:
    return train_model(graphs, Config(**TINY))


def test_model_vectors_history_and_picture(tmp_path: Path, graphs: GraphSet, made: Trained) -> None:
    folder = RunFolder(tmp_path)
    write_run_files(folder, made, graphs)
    names = {"model.safetensors", "embeddings.npy", "history.csv", "embedding.png"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (folder / "embedding.png").read_bytes().startswith(b"\x89PNG")


def test_metrics(graphs: GraphSet, made: Trained) -> None:
    metrics = training_metrics(made)
    assert (metrics["seed"], metrics["epochs"]) == (0, 2)
    assert metrics["final_loss"] == made.model.history_[-1]["total"]
    assert metrics["embedding_dim"] == made.vectors.shape[1]
    untrained = train_model(graphs, Config(**(TINY | {"epochs": 0})))
    assert isinstance(untrained.model, IGSD)
    assert training_metrics(untrained)["final_loss"] is None
