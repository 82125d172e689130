"""One contract for every estimator that gives vectors, whatever it is made of."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd import IGSD
from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.baselines.registry import METHODS, has_kernel, load_model, make_method, method_names
from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.files.arrays import read_arrays, write_arrays
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import open_data
from tests.estimators.contract import SKLEARN_CHECKS, networkx_graphs
from tests.small_graphs import TINY, make_graphs

SMALL: dict[str, dict[str, Any]] = {
    "graph2vec": {"dim": 8, "epochs": 5, "min_count": 1},
    "deep-graph-kernel": {"dim": 4},
    "mlg": {"levels": 2, "num_samples": 10, "dim": 4},
    "gckn": {"num_anchors": 6, "num_samples": 100},
    "gcn both": {"encoder": "gcn", "embed_views": "both", "readout": "mean+max"},
}
"""What makes a method small enough for a test; those that train get ``TINY`` too."""

NAMES = [*method_names(), "gcn both"]
"""Every method, and IGSD in another shape."""


def small(name: str) -> Any:
    """Return an unfitted estimator of the method, as small as it gets."""
    settings, method = SMALL.get(name, {}), name if name in METHODS else "igsd"
    config = METHODS[method].estimator().config_class
    if config.recipes is not None:
        tiny = TINY | {"epochs": 1} | METHODS[method].settings
        settings = config.known(tiny) | settings
    return make_method(method, **settings)


def knows_labels(fitted: Any) -> bool:
    """Return whether the columns that a method makes of node labels are fixed by its fit."""
    return bool(getattr(getattr(fitted, "features_", None), "label_names", ()))


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fitted(name: str, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    return small(name).fit(graphs)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    """Degrees in place of labels, and labels never seen, are said; one test looks at that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)
        yield


def test_checks_of_sklearn(name: str) -> None:
    for check in SKLEARN_CHECKS:
        estimator = small(name)
        check(type(estimator).__name__, estimator)


def test_one_finite_float32_row_per_graph(fitted: Any, graphs: GraphSet) -> None:
    vectors = fitted.transform(graphs)
    assert vectors.shape == (len(graphs), fitted.n_features_out_)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    names = fitted.get_feature_names_out()
    assert len(set(names)) == len(names) == vectors.shape[1]


def test_same_seed_same_numbers_and_labels_are_never_read(
    name: str, fitted: Any, graphs: GraphSet
) -> None:
    labelled = make_graphs(classes=True)
    before = labelled.checksum
    again = small(name)
    parameters = dict(again.get_params())
    assert again.fit(labelled, labelled.classes) is again
    np.testing.assert_array_equal(again.transform(labelled), fitted.transform(graphs))
    assert again.get_params() == parameters
    assert labelled.checksum == before
    np.testing.assert_array_equal(again.fit_transform(graphs, object()), fitted.transform(graphs))


def test_fitting_again_forgets_the_first_time(name: str, fitted: Any, graphs: GraphSet) -> None:
    again = small(name).fit(make_graphs(seed=5))
    np.testing.assert_array_equal(again.fit_transform(graphs), fitted.transform(graphs))


def test_a_method_that_is_not_stochastic_has_no_use_for_a_seed(
    name: str, fitted: Any, graphs: GraphSet
) -> None:
    if name not in METHODS or METHODS[name].stochastic:
        pytest.skip("is stochastic")
    other = small(name).set_params(random_state=7).fit(graphs)
    np.testing.assert_array_equal(other.transform(graphs), fitted.transform(graphs))


def test_a_row_does_not_depend_on_the_others(fitted: Any) -> None:
    new = make_graphs(4, seed=3)
    alone = np.concatenate([fitted.transform(new.take([g])) for g in range(len(new))])
    np.testing.assert_allclose(alone, fitted.transform(new), rtol=1e-4, atol=1e-5)


def test_odd_graphs_and_graphs_without_labels(name: str, odd: GraphSet) -> None:
    estimator = small(name)
    assert np.isfinite(estimator.fit_transform(odd)).all()
    estimator.fit(make_graphs(labels=False))
    assert np.isfinite(estimator.transform(odd)).all()


def test_unseen_and_missing_node_labels(fitted: Any) -> None:
    new = make_graphs(seed=3, node_label_names=("Br", "C", "Cl"))
    if not knows_labels(fitted):
        assert np.isfinite(fitted.transform(new)).all()
        return
    with pytest.warns(IGSDWarning, match=r"has not seen \(Br, Cl\): they count as no label"):
        assert np.isfinite(fitted.transform(new)).all()
    with pytest.raises(DataError, match="'plain' has none"):
        fitted.transform(make_graphs(labels=False, name="plain"))


def test_before_fit(name: str, graphs: GraphSet, tmp_path: Path) -> None:
    estimator = small(name)
    uses = [estimator.transform] + ([estimator.kernel] if has_kernel(estimator) else [])
    for use in uses:
        with pytest.raises(NotFittedError):
            use(graphs)
    with pytest.raises(NotFittedError):
        estimator.save(tmp_path / "m")
    with pytest.raises(NotFittedError):
        estimator.get_feature_names_out()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong", [[], None, 3, np.eye(3), [1, 2], "CCO", {"a": 1}, [nx.Graph()]], ids=range(8)
)
def test_things_that_are_no_graphs(fitted: Any, wrong: Any) -> None:
    for use in (clone(fitted).fit, fitted.transform):
        with pytest.raises(DataError):
            use(wrong)


def test_numbers_that_are_not_finite(name: str) -> None:
    bad = [nx.path_graph(3), nx.path_graph(2)]
    for graph in bad:
        nx.set_node_attributes(graph, 1.0, "charge")
    bad[1].nodes[0]["charge"] = float("nan")
    if "node_attributes" in small(name).get_params():
        with pytest.raises(DataError, match="node 0 of graph 1"):
            small(name).fit(bad)
    else:  # a number that is not used may be anything
        small(name).fit(bad)


def test_networkx_graphs_in_a_pipeline(name: str) -> None:
    pipeline = make_pipeline(small(name), StandardScaler(), SVC())
    graphs, classes = networkx_graphs(), np.arange(12) % 2
    assert pipeline.fit(graphs, classes).predict(graphs).shape == (12,)
    assert clone(pipeline).get_params()


@pytest.mark.parametrize("name", ["igsd", "histogram", "wl"])
def test_cross_validation_over_a_list_and_a_set(name: str) -> None:
    estimator, sets = small(name), make_graphs(12, classes=True)
    for graphs in (networkx_graphs(), sets):
        scores = cross_val_score(
            make_pipeline(estimator, SVC()), graphs, sets.classes, cv=2, error_score="raise"
        )
        assert np.isfinite(scores).all()
    pipeline = make_pipeline(estimator, SVC())
    seeds = {f"{type(estimator).__name__.lower()}__random_state": [2, 3]}
    search = GridSearchCV(pipeline, seeds, cv=2, error_score="raise")
    assert search.fit(sets, sets.classes).predict(sets[:2]).shape == (2,)


class TestFiles:
    @pytest.mark.parametrize("path", ["a model.pkl", "a b.tar.gz", ".hidden", "modèle"])
    def test_exactly_the_path_that_was_given(self, fitted: Any, tmp_path: Path, path: str) -> None:
        fitted.save(tmp_path / path)
        assert [file.name for file in tmp_path.iterdir()] == [path]

    def test_loaded_is_bit_equal_and_saves_the_same(self, fitted: Any, tmp_path: Path) -> None:
        new, path = make_graphs(seed=9), tmp_path / "run" / "model.safetensors"
        fitted.save(path)
        # A run folder stands for its model.
        for loaded in (type(fitted).load(str(path)), load_model(path), load_model(path.parent)):
            assert type(loaded) is type(fitted)
            np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
            assert loaded.config_ == fitted.config_
            assert list(loaded.get_feature_names_out()) == list(fitted.get_feature_names_out())
            if has_kernel(fitted):
                np.testing.assert_array_equal(loaded.kernel(new), fitted.kernel(new))
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
        vectors = fitted.transform(new)
        np.testing.assert_array_equal(loaded.fit(make_graphs()).transform(new), vectors)

    def test_how_molecules_were_standardised_is_kept(self, name: str, tmp_path: Path) -> None:
        """A model file lost it, and gave salts other vectors than its run folder, silently."""
        pytest.importorskip("rdkit")
        molecules = ["[Na+].CC(=O)[O-]", "CCO", "CCN", "CCC", "C[NH3+].[Cl-]", "C[N-]C", "CCF"]
        graphs, path = open_data(molecules, standardise=True), tmp_path / "model"
        fitted = small(name).fit(graphs)
        fitted.save(path)
        loaded = load_model(path)
        assert loaded.standardised_ == fitted.standardised_ == "neutral"
        np.testing.assert_array_equal(loaded.transform(molecules), fitted.transform(graphs))
        if has_kernel(fitted):
            expected = fitted.kernel(graphs[:2], graphs)
            np.testing.assert_array_equal(loaded.kernel(molecules[:2], molecules), expected)
        arrays, header = read_arrays(path, "model")
        copies = {key: np.array(array) for key, array in arrays.items()}
        write_arrays(path, copies, header | {"standardised": "thoroughly"})
        with pytest.raises(StorageError, match="another version: standardised must be one of"):
            load_model(path)
        assert fitted.fit(open_data(molecules)).standardised_ == ""

    def test_files_that_are_no_model_of_it(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        path = tmp_path / "m"
        fitted.save(path)
        whole = path.read_bytes()
        parts = [whole[: int(share * len(whole))] for share in (0.0, 0.05, 0.5, 0.999)]
        foreign = [b"hello", b"\x00" * 100, pickle.dumps({"a": 1}), pickle.dumps([], 0)]
        for content in (*parts, *foreign):
            path.write_bytes(content)
            with pytest.raises(StorageError, match="m"):
                type(fitted).load(path)
        graphs.save(path)
        with pytest.raises(StorageError, match="model was expected"):
            type(fitted).load(path)
        for place in (tmp_path / "nothing", tmp_path):
            with pytest.raises(StorageError):
                type(fitted).load(place)
        with pytest.raises(StorageError, match="folder"):
            fitted.save(tmp_path)

    def test_every_key_of_the_header_is_needed(self, fitted: Any, tmp_path: Path) -> None:
        # A missing one was once a raw KeyError.
        path = tmp_path / "m"
        fitted.save(path)
        arrays, header = read_arrays(path, "model")
        copies = {name: np.array(array) for name, array in arrays.items()}
        # Files of before encoders of one's own lack that key.
        for key in header.keys() - {"kind", "version", "estimator", "own_encoder"}:
            rest = {name: value for name, value in header.items() if name != key}
            write_arrays(path, copies, rest)
            with pytest.raises(StorageError, match=r"damaged.*is missing"):
                type(fitted).load(path)
        for change, message in (
            ({"features": 7, "state": 7}, "damaged"),
            ({"version": 99}, "format 99"),
            ({"estimator": "Unknown"}, "Unknown"),
        ):
            write_arrays(path, copies, header | change)
            with pytest.raises(StorageError, match=message):
                type(fitted).load(path)

    def test_features_of_different_lengths_are_refused(
        self, graphs: GraphSet, tmp_path: Path
    ) -> None:
        """Such a model, with true checksums, ended in a traceback of NumPy."""
        IGSD(**TINY).fit(graphs).save(tmp_path / "m")
        arrays, header = read_arrays(tmp_path / "m", "model")
        copies = {name: np.array(array) for name, array in arrays.items()}
        features = header["features"] | {"attribute_mean": [0.0, 1.0], "attribute_scale": []}
        write_arrays(tmp_path / "m", copies, header | {"features": features})
        with pytest.raises(StorageError, match=r"damaged.*different lengths"):
            IGSD.load(tmp_path / "m")

    def test_vectors_that_are_not_finite_are_not_returned(self, graphs: GraphSet) -> None:
        model = IGSD(**TINY).fit(graphs)
        with torch.no_grad():
            for weights in model.network_.parameters():
                weights.mul_(1e30)
        with pytest.raises(DataError, match=r"vector of graph 0 of .* is not finite"):
            model.transform(graphs)

    def test_settings_changed_after_fit_do_not_spoil_the_file(
        self, graphs: GraphSet, tmp_path: Path
    ) -> None:
        # The file once held the changed settings beside the old weights, and could not be loaded.
        model = IGSD(**TINY).fit(graphs)
        vectors = model.transform(graphs)
        model.set_params(hidden_dim=4, encoder="gcn", num_layers=1)
        model.save(tmp_path / "m")
        loaded = IGSD.load(tmp_path / "m")
        np.testing.assert_array_equal(loaded.transform(graphs), vectors)
        assert loaded.hidden_dim == TINY["hidden_dim"]

    def test_weights_that_are_missing(self, graphs: GraphSet, tmp_path: Path) -> None:
        IGSD(**TINY).fit(graphs).save(tmp_path / "m")
        arrays, header = read_arrays(tmp_path / "m", "model")
        some = {name: np.array(array) for name, array in list(arrays.items())[:-1]}
        write_arrays(tmp_path / "m", some, header)
        with pytest.raises(StorageError, match="damaged"):
            IGSD.load(tmp_path / "m")

    def test_the_model_of_another_estimator(self, graphs: GraphSet, tmp_path: Path) -> None:
        LabelDegreeHistogram().fit(graphs).save(tmp_path / "h")
        with pytest.raises(StorageError, match="LabelDegreeHistogram"):
            IGSD.load(tmp_path / "h")
        IGSD(**TINY).fit(graphs).save(tmp_path / "m")
        with pytest.raises(StorageError, match="not of LabelDegreeHistogram"):
            LabelDegreeHistogram.load(tmp_path / "m")


class TestKernels:
    @pytest.fixture(autouse=True)
    def _only_kernels(self, fitted: Any) -> None:
        if not has_kernel(fitted):
            pytest.skip("has features only")

    def test_symmetric_and_positive(self, fitted: Any, graphs: GraphSet) -> None:
        K = fitted.kernel(graphs)
        assert K.shape == (len(graphs), len(graphs))
        np.testing.assert_allclose(K, K.T, rtol=1e-10)
        # A graph in which a method finds nothing, e.g. no path at all, has 0 with every graph.
        empty = ~K.any(axis=1)
        np.testing.assert_allclose(np.diag(K), np.where(empty, 0.0, 1.0), rtol=1e-10)
        assert empty.mean() < 0.5
        assert np.linalg.eigvalsh(K).min() > -1e-9

    def test_rows_of_unseen_graphs_equal_the_full_matrix(self, fitted: Any) -> None:
        new = make_graphs(8, seed=4)
        K = fitted.kernel(new)
        rows = fitted.kernel(new.take([1, 5]), new)
        np.testing.assert_allclose(rows, K[[1, 5]], rtol=1e-9, atol=1e-12)

    def test_fitted_on_some_as_on_all(self, name: str, fitted: Any, graphs: GraphSet) -> None:
        if name in ("mlg", "gckn", "deep-graph-kernel"):
            pytest.skip("learns from the graphs of fit what two graphs are compared by")
        part = small(name).fit(graphs.take(range(5)))
        np.testing.assert_array_equal(part.kernel(graphs), fitted.kernel(graphs))

    def test_is_the_product_of_the_features(self, name: str, fitted: Any, graphs: GraphSet) -> None:
        if name == "mlg":
            pytest.skip("has no explicit map")
        vectors = fitted.transform(graphs).astype(np.float64)
        np.testing.assert_allclose(vectors @ vectors.T, fitted.kernel(graphs), atol=1e-6)
