from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.load_model import load_model, note_on_vectors
from igsd.baselines.registry import make_method
from igsd.config import Config
from igsd.errors import IGSDError, StorageError
from igsd.estimators import IGSD, IGSDClassifier
from igsd.experiments.run_folder import RunFolder
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from tests.small_graphs import TINY

LEARNED = {"epochs": 1, "num_layers": 1, "hidden_dim": 4}


def test_any_estimator_from_a_file_or_a_run_folder(tmp_path: Path, graphs: GraphSet) -> None:
    (tmp_path / "run").mkdir()
    for model, path in (
        (IGSD(**(TINY | {"epochs": 0})), tmp_path / "run" / "model.safetensors"),
        (LabelDegreeHistogram(), tmp_path / "any name"),
        (make_method("wl"), tmp_path / "wl"),
        (make_method("infograph", **LEARNED), tmp_path / "infograph"),
        (IGSDClassifier(**LEARNED), tmp_path / "classifier"),
    ):
        model.fit(graphs, [0, 1] * (len(graphs) // 2)).save(path)
        loaded = load_model(path.parent if path.suffix else path)
        assert type(loaded) is type(model)
        assert np.array_equal(loaded.transform(graphs), model.transform(graphs))


def test_a_kernel_without_vectors_says_so(graphs: GraphSet) -> None:
    assert note_on_vectors(make_method("wl")) is None
    assert note_on_vectors(make_method("graph2vec")) is None
    assert "similarity to one graph of its training" in str(note_on_vectors(make_method("mlg")))


def test_weights_that_do_not_fit_their_settings(tmp_path: Path, graphs: GraphSet) -> None:
    IGSD(**(TINY | {"epochs": 0})).fit(graphs).save(tmp_path / "model")
    arrays, header = read_arrays(tmp_path / "model", "model")
    write_arrays(tmp_path / "odd", dict(list(arrays.items())[:-1]), header)
    with pytest.raises(IGSDError, match=r"do not fit|damaged"):
        load_model(tmp_path / "odd")
    del header["features"]
    write_arrays(tmp_path / "odd", arrays, header)
    with pytest.raises(StorageError, match="damaged"):
        load_model(tmp_path / "odd")


def test_folders_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="without a model"):
        load_model(tmp_path)
    RunFolder(tmp_path / "run").create({}, Config())
    with pytest.raises(StorageError, match=r"not finished.*--resume"):
        load_model(tmp_path / "run")
    with pytest.raises(StorageError, match="no model at"):
        load_model(tmp_path / "nothing")
