"""Every estimator that gives vectors in a file, and other files in its place."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd import IGSD
from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.errors import StorageError
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from tests.estimators.contract import ESTIMATORS
from tests.small_graphs import TINY, make_graphs


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS)
def fitted(request: pytest.FixtureRequest, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    return request.param().fit(graphs)


@pytest.mark.parametrize("name", ["model", "model.pkl", "a b.tar.gz", ".hidden", "modèle"])
def test_exactly_the_path_that_was_given(
    fitted: Any, graphs: GraphSet, tmp_path: Path, name: str
) -> None:
    fitted.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_loaded_transform_is_bit_equal(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    new = make_graphs(seed=9)
    fitted.save(str(tmp_path / "m"))
    loaded = type(fitted).load(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
    assert loaded.get_params() == fitted.get_params()
    assert list(loaded.get_feature_names_out()) == list(fitted.get_feature_names_out())


def test_saved_again_gives_the_same_file(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    fitted.save(tmp_path / "a")
    type(fitted).load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_loaded_can_be_fitted_again(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    vectors = fitted.transform(graphs)
    fitted.save(tmp_path / "m")
    loaded = type(fitted).load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.fit_transform(graphs), vectors)


def test_settings_changed_after_fit_do_not_spoil_the_file(graphs: GraphSet, tmp_path: Path) -> None:
    # The file once held the changed settings beside the old weights, and could not be loaded.
    model = IGSD(**TINY).fit(graphs)
    vectors = model.transform(graphs)
    model.set_params(hidden_dim=4, encoder="gcn", num_layers=1)
    model.save(tmp_path / "m")
    loaded = IGSD.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)
    assert loaded.hidden_dim == TINY["hidden_dim"]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.999])
def test_truncated(fitted: Any, graphs: GraphSet, tmp_path: Path, share: float) -> None:
    path = tmp_path / "m"
    fitted.save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StorageError):
        type(fitted).load(path)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x00" * 100, pickle.dumps({"a": 1}), pickle.dumps([], 0)]
)
def test_foreign_files(fitted: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(StorageError, match="m"):
        type(fitted).load(tmp_path / "m")


def test_missing_file_and_folder(fitted: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(StorageError):
            type(fitted).load(path)


def test_another_kind_of_file(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    graphs.save(tmp_path / "g")
    with pytest.raises(StorageError, match="model was expected"):
        type(fitted).load(tmp_path / "g")


def test_a_run_folder_stands_for_its_model(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    fitted.save(tmp_path / "run" / "model.safetensors")
    loaded = type(fitted).load(str(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.transform(graphs), fitted.transform(graphs))


def test_every_key_of_the_header_is_needed(fitted: Any, tmp_path: Path) -> None:
    # A missing one was once a raw KeyError.
    fitted.save(tmp_path / "m")
    arrays, header = read_arrays(tmp_path / "m", "model")
    copies = {name: np.array(array) for name, array in arrays.items()}
    for key in header.keys() - {"kind", "version", "estimator"}:
        rest = {name: value for name, value in header.items() if name != key}
        write_arrays(tmp_path / "m", copies, rest)
        with pytest.raises(StorageError, match=f"damaged.*'{key}' is missing"):
            type(fitted).load(tmp_path / "m")
    write_arrays(tmp_path / "m", copies, header | {"features": 7})
    with pytest.raises(StorageError, match="damaged"):
        type(fitted).load(tmp_path / "m")


def test_another_version(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m")
    arrays, header = read_arrays(tmp_path / "m", "model")
    copies = {name: np.array(array) for name, array in arrays.items()}
    write_arrays(tmp_path / "m", copies, header | {"version": 99})
    with pytest.raises(StorageError, match="format 99"):
        type(fitted).load(tmp_path / "m")


def test_weights_that_are_missing(graphs: GraphSet, tmp_path: Path) -> None:
    IGSD(**TINY).fit(graphs).save(tmp_path / "m")
    arrays, header = read_arrays(tmp_path / "m", "model")
    some = {name: np.array(array) for name, array in list(arrays.items())[:-1]}
    write_arrays(tmp_path / "m", some, header)
    with pytest.raises(StorageError, match="damaged"):
        IGSD.load(tmp_path / "m")


def test_the_model_of_another_estimator(graphs: GraphSet, tmp_path: Path) -> None:
    LabelDegreeHistogram().fit(graphs).save(tmp_path / "h")
    with pytest.raises(StorageError, match="LabelDegreeHistogram"):
        IGSD.load(tmp_path / "h")
    IGSD(**TINY).fit(graphs).save(tmp_path / "m")
    with pytest.raises(StorageError, match="not of LabelDegreeHistogram"):
        LabelDegreeHistogram.load(tmp_path / "m")


def test_a_folder_is_no_place_for_a_model(fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="folder"):
        fitted.save(tmp_path)
