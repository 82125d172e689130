"""One contract for every estimator, and what is true of IGSD alone."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_checks as checks
from torch import Tensor, nn

from igsd import IGSD
from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.config import Config
from igsd.errors import ConfigError, DataError, IGSDWarning, StorageError
from igsd.graphs.batch import Batch
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from tests.small_graphs import TINY, make_graphs, odd_graphs

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "IGSD": lambda: IGSD(**(TINY | {"epochs": 1})),
    "IGSD gcn both": lambda: IGSD(
        **(TINY | {"epochs": 1, "encoder": "gcn", "embed_views": "both", "readout": "mean+max"})
    ),
    "untrained": lambda: IGSD(**(TINY | {"epochs": 0})),
    "histogram": lambda: LabelDegreeHistogram(degree_cap=5),
}
"""Every estimator of the package, as small as it gets. A new one is a line here."""

SKLEARN_CHECKS = [
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_get_params_invariance,
    checks.check_set_params,
    checks.check_estimator_repr,
    checks.check_estimator_cloneable,
    checks.check_estimator_tags_renamed,
    checks.check_valid_tag_types,
    checks.check_mixin_order,
    checks.check_do_not_raise_errors_in_init_or_set_params,
    checks.check_estimators_unfitted,
]


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS)
def fitted(request: pytest.FixtureRequest, graphs: GraphSet) -> Any:
    """An estimator fitted once; a test must leave it as it is."""
    return request.param().fit(graphs)


def networkx_graphs(num_graphs: int = 12) -> list[nx.Graph]:
    """Return rings and stars in turn, with labels on the nodes."""
    made = []
    for i in range(num_graphs):
        graph = nx.cycle_graph(4 + i % 3) if i % 2 else nx.star_graph(3 + i % 4)
        nx.set_node_attributes(graph, {v: "CN"[v % 2] for v in graph}, "label")
        made.append(graph)
    return made


class TestContract:
    @pytest.mark.parametrize("check", SKLEARN_CHECKS, ids=lambda check: check.__name__)
    def test_checks_of_sklearn(self, estimator: BaseEstimator, check: Callable) -> None:
        check(type(estimator).__name__, estimator)

    def test_fit_returns_self_and_changes_no_parameter(
        self, estimator: Any, graphs: GraphSet
    ) -> None:
        before = dict(estimator.get_params())
        assert estimator.fit(graphs) is estimator
        assert estimator.get_params() == before

    def test_one_finite_float32_row_per_graph(self, fitted: Any, graphs: GraphSet) -> None:
        vectors = fitted.transform(graphs)
        assert vectors.shape == (len(graphs), fitted.n_features_out_)
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()

    def test_same_seed_twice(self, estimator: Any, graphs: GraphSet) -> None:
        first = clone(estimator).fit_transform(graphs)
        np.testing.assert_array_equal(first, clone(estimator).fit_transform(graphs))
        np.testing.assert_array_equal(first, estimator.fit(graphs).transform(graphs))

    def test_fitting_again_forgets_the_first_time(self, estimator: Any, graphs: GraphSet) -> None:
        expected = clone(estimator).fit_transform(graphs)
        estimator.fit(make_graphs(seed=5))
        np.testing.assert_array_equal(estimator.fit_transform(graphs), expected)

    def test_labels_are_never_read(self, estimator: Any, graphs: GraphSet) -> None:
        with_classes = make_graphs(classes=True)
        expected = clone(estimator).fit_transform(graphs)
        found = clone(estimator).fit(with_classes, with_classes.classes).transform(with_classes)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(
            clone(estimator).fit(graphs, object()).transform(graphs), found
        )

    def test_the_graphs_are_left_as_they_were(self, estimator: Any) -> None:
        graphs = make_graphs(classes=True)
        before = make_graphs(classes=True).checksum
        estimator.fit(graphs).transform(graphs)
        assert graphs.checksum == before

    def test_a_row_does_not_depend_on_the_others(self, fitted: Any, graphs: GraphSet) -> None:
        vectors = fitted.transform(graphs)
        alone = np.concatenate([fitted.transform(graphs.take([g])) for g in range(len(graphs))])
        np.testing.assert_allclose(alone, vectors, rtol=1e-4, atol=1e-5)

    def test_odd_graphs(self, estimator: Any, odd: GraphSet) -> None:
        assert np.isfinite(clone(estimator).fit_transform(odd)).all()
        labelled = make_graphs(labels=False)
        assert np.isfinite(estimator.fit(labelled).transform(odd)).all()

    def test_transform_before_fit(self, estimator: Any, graphs: GraphSet, tmp_path: Path) -> None:
        for use in (
            lambda: estimator.transform(graphs),
            lambda: estimator.save(tmp_path / "m"),
            lambda: estimator.get_feature_names_out(),
        ):
            with pytest.raises(NotFittedError):
                use()
        assert list(tmp_path.iterdir()) == []

    def test_names_of_the_columns(self, fitted: Any, graphs: GraphSet) -> None:
        vectors = fitted.transform(graphs)
        names = fitted.get_feature_names_out()
        assert len(set(names)) == len(names) == vectors.shape[1]

    def test_unseen_node_labels(self, fitted: Any, graphs: GraphSet) -> None:
        new = make_graphs(seed=3, node_label_names=("Br", "C", "Cl"))
        with pytest.warns(IGSDWarning, match=r"has not seen \(Br, Cl\): they count as no label"):
            assert np.isfinite(fitted.transform(new)).all()

    def test_labels_missing_where_there_were_some(self, fitted: Any, graphs: GraphSet) -> None:
        with pytest.raises(DataError, match="'plain' has none"):
            fitted.transform(make_graphs(labels=False, name="plain"))

    @pytest.mark.parametrize(
        "wrong", [[], None, 3, np.eye(3), [1, 2], "CCO", {"a": 1}, [nx.Graph()]], ids=range(8)
    )
    def test_things_that_are_no_graphs(self, fitted: Any, wrong: Any) -> None:
        with pytest.raises(DataError):
            clone(fitted).fit(wrong)
        with pytest.raises(DataError):
            fitted.transform(wrong)

    def test_numbers_that_are_not_finite(self, estimator: Any) -> None:
        bad = [nx.path_graph(3), nx.path_graph(2)]
        for graph in bad:
            nx.set_node_attributes(graph, 1.0, "charge")
        bad[1].nodes[0]["charge"] = float("nan")
        with pytest.raises(DataError, match="node 0 of graph 1"):
            estimator.fit(bad)

    def test_networkx_graphs_in_a_pipeline(self, estimator: Any) -> None:
        graphs = networkx_graphs()
        classes = np.arange(12) % 2
        pipeline = make_pipeline(estimator, StandardScaler(), SVC())
        assert pipeline.fit(graphs, classes).predict(graphs).shape == (12,)
        assert clone(pipeline).get_params()

    def test_cross_validation_over_a_list(self, estimator: Any) -> None:
        pipeline = make_pipeline(estimator, StandardScaler(), SVC())
        scores = cross_val_score(
            pipeline, networkx_graphs(), np.arange(12) % 2, cv=2, error_score="raise"
        )
        assert np.isfinite(scores).all()

    def test_cross_validation_over_a_set(self, estimator: Any) -> None:
        graphs = make_graphs(12, classes=True)
        pipeline = make_pipeline(estimator, SVC())
        scores = cross_val_score(pipeline, graphs, graphs.classes, cv=3, error_score="raise")
        assert np.isfinite(scores).all()
        name = f"{type(estimator).__name__.lower()}__degree_cap"
        search = GridSearchCV(pipeline, {name: [2, 3]}, cv=2, error_score="raise")
        assert search.fit(graphs, graphs.classes).predict(graphs[:2]).shape == (2,)


class TestFiles:
    @pytest.mark.parametrize("name", ["model", "model.pkl", "a b.tar.gz", ".hidden", "modèle"])
    def test_exactly_the_path_that_was_given(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path, name: str
    ) -> None:
        fitted.save(tmp_path / name)
        assert [path.name for path in tmp_path.iterdir()] == [name]

    def test_loaded_transform_is_bit_equal(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        new = make_graphs(seed=9)
        fitted.save(str(tmp_path / "m"))
        loaded = type(fitted).load(str(tmp_path / "m"))
        np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
        assert loaded.get_params() == fitted.get_params()
        assert list(loaded.get_feature_names_out()) == list(fitted.get_feature_names_out())

    def test_saved_again_gives_the_same_file(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        fitted.save(tmp_path / "a")
        type(fitted).load(tmp_path / "a").save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_loaded_can_be_fitted_again(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        vectors = fitted.transform(graphs)
        fitted.save(tmp_path / "m")
        loaded = type(fitted).load(tmp_path / "m")
        np.testing.assert_array_equal(loaded.fit_transform(graphs), vectors)

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

    @pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.999])
    def test_truncated(self, fitted: Any, graphs: GraphSet, tmp_path: Path, share: float) -> None:
        path = tmp_path / "m"
        fitted.save(path)
        data = path.read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(StorageError):
            type(fitted).load(path)

    @pytest.mark.parametrize(
        "content", [b"", b"hello", b"\x00" * 100, pickle.dumps({"a": 1}), pickle.dumps([], 0)]
    )
    def test_foreign_files(self, fitted: Any, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "m").write_bytes(content)
        with pytest.raises(StorageError, match="m"):
            type(fitted).load(tmp_path / "m")

    def test_missing_file_and_folder(self, fitted: Any, tmp_path: Path) -> None:
        for path in (tmp_path / "nothing", tmp_path):
            with pytest.raises(StorageError):
                type(fitted).load(path)

    def test_another_kind_of_file(self, fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
        graphs.save(tmp_path / "g")
        with pytest.raises(StorageError, match="model was expected"):
            type(fitted).load(tmp_path / "g")

    def test_a_run_folder_stands_for_its_model(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        fitted.save(tmp_path / "run" / "model.safetensors")
        loaded = type(fitted).load(str(tmp_path / "run"))
        np.testing.assert_array_equal(loaded.transform(graphs), fitted.transform(graphs))

    def test_every_key_of_the_header_is_needed(self, fitted: Any, tmp_path: Path) -> None:
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

    def test_another_version(self, fitted: Any, graphs: GraphSet, tmp_path: Path) -> None:
        fitted.save(tmp_path / "m")
        arrays, header = read_arrays(tmp_path / "m", "model")
        copies = {name: np.array(array) for name, array in arrays.items()}
        write_arrays(tmp_path / "m", copies, header | {"version": 99})
        with pytest.raises(StorageError, match="format 99"):
            type(fitted).load(tmp_path / "m")

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
        with pytest.raises(StorageError, match="no LabelDegreeHistogram"):
            LabelDegreeHistogram.load(tmp_path / "m")

    def test_a_folder_is_no_place_for_a_model(
        self, fitted: Any, graphs: GraphSet, tmp_path: Path
    ) -> None:
        with pytest.raises(StorageError, match="folder"):
            fitted.save(tmp_path)


class MeanEncoder(nn.Module):
    """An encoder of one's own: a linear map of the mean over nodes and neighbours."""

    def __init__(self, in_dim: int, out_dim: int = 5) -> None:
        super().__init__()
        self.out_dim = out_dim
        self.linear = nn.Linear(in_dim, out_dim)

    def forward(self, batch: Batch) -> Tensor:
        x = batch.x + batch.adjacency.multiply(batch.x)
        sums = x.new_zeros(batch.num_graphs, x.shape[1]).index_add(0, batch.batch, x)
        return self.linear(sums / (batch.ptr[1:] - batch.ptr[:-1]).unsqueeze(1))


def width_of(graphs: GraphSet) -> int:
    """Return the width of the node features that IGSD chooses."""
    return IGSD(**(TINY | {"epochs": 0})).fit(graphs).features_.dim


class TestOwnEncoder:
    @pytest.fixture
    def encoder(self, graphs: GraphSet) -> MeanEncoder:
        return MeanEncoder(width_of(graphs))

    def test_fit_transform_save_load(
        self, graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path
    ) -> None:
        before = encoder.linear.weight.clone()
        model = IGSD(**TINY, encoder=encoder)
        vectors = model.fit_transform(graphs)
        assert vectors.shape == (len(graphs), 5)
        assert torch.equal(encoder.linear.weight, before)  # a copy was trained
        model.save(tmp_path / "m")
        loaded = IGSD.load(tmp_path / "m", encoder=MeanEncoder(width_of(graphs)))
        np.testing.assert_array_equal(loaded.transform(graphs), vectors)

    def test_load_asks_for_it_by_name(
        self, graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path
    ) -> None:
        IGSD(**TINY, encoder=encoder).fit(graphs).save(tmp_path / "m")
        with pytest.raises(ConfigError, match=r"MeanEncoder.*encoder="):
            IGSD.load(tmp_path / "m")

    def test_the_wrong_one_is_refused(
        self, graphs: GraphSet, encoder: MeanEncoder, tmp_path: Path
    ) -> None:
        IGSD(**TINY, encoder=encoder).fit(graphs).save(tmp_path / "own")
        IGSD(**TINY).fit(graphs).save(tmp_path / "gin")
        other = MeanEncoder(width_of(graphs), out_dim=7)
        for path in (tmp_path / "own", tmp_path / "gin"):
            with pytest.raises(ConfigError, match="do not fit the given MeanEncoder"):
                IGSD.load(path, encoder=other)

    def test_clone_and_pipeline(self, graphs: GraphSet, encoder: MeanEncoder) -> None:
        model = clone(IGSD(**TINY, encoder=encoder))
        np.testing.assert_array_equal(
            model.fit_transform(graphs), IGSD(**TINY, encoder=encoder).fit_transform(graphs)
        )

    def test_width_must_be_said(self, graphs: GraphSet) -> None:
        with pytest.raises(ConfigError, match="out_dim"):
            IGSD(**TINY, encoder=nn.Linear(2, 2)).fit(graphs)

    def test_a_module_of_pytorch_geometric(self, graphs: GraphSet, tmp_path: Path) -> None:
        geometric = pytest.importorskip("torch_geometric.nn", reason="needs igsd[pyg]")

        class Convolution(nn.Module):
            out_dim = 6

            def __init__(self, in_dim: int) -> None:
                super().__init__()
                self.layer = geometric.GraphConv(in_dim, 6)

            def forward(self, batch: Batch) -> Tensor:
                h = self.layer(batch.x, batch.edge_index, batch.edge_weight).relu()
                return geometric.global_mean_pool(h, batch.batch, batch.num_graphs)

        model = IGSD(**TINY, encoder=Convolution(width_of(graphs)))
        vectors = model.fit_transform(graphs)
        assert vectors.shape == (10, 6)
        model.save(tmp_path / "m")
        loaded = IGSD.load(tmp_path / "m", encoder=Convolution(width_of(graphs)))
        np.testing.assert_array_equal(loaded.transform(graphs), vectors)


class TestIGSD:
    def test_wrong_settings_are_told_at_fit(self, graphs: GraphSet) -> None:
        model = IGSD(**(TINY | {"epochs": -1}))
        with pytest.raises(ConfigError, match=r"'epochs'.*at least 0.*-1"):
            model.fit(graphs)

    @pytest.mark.parametrize("seed", ["0", 1.5, -1])
    def test_random_state_is_called_by_its_own_name(self, graphs: GraphSet, seed: Any) -> None:
        with pytest.raises(ConfigError, match="'random_state'"):
            IGSD(**TINY, random_state=seed).fit(graphs)

    @pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
    def test_random_state_may_be_a_source_of_seeds(
        self, graphs: GraphSet, kind: Any, tmp_path: Path
    ) -> None:
        source = kind(3)
        model = IGSD(**TINY, random_state=source).fit(graphs)
        vectors = model.transform(graphs)
        seed = model.config_.seed
        assert model.config().seed == seed
        np.testing.assert_array_equal(
            IGSD(**TINY, random_state=kind(3)).fit_transform(graphs), vectors
        )
        np.testing.assert_array_equal(
            IGSD(**TINY, random_state=seed).fit_transform(graphs), vectors
        )
        assert model.fit(graphs).config_.seed != seed
        model.save(tmp_path / "m")
        assert IGSD.load(tmp_path / "m").random_state == model.config_.seed

    def test_without_a_random_state_each_fit_is_new(self, graphs: GraphSet) -> None:
        model = IGSD(**(TINY | {"epochs": 0}), random_state=None)
        first = model.fit(graphs).config_.seed
        assert model.fit(graphs).config_.seed != first
        assert model.get_params()["random_state"] is None

    def test_bad_smiles_are_named_by_place_and_text(self) -> None:
        pytest.importorskip("rdkit", reason="needs igsd[chem]")
        strings = ["CCO", "CCN", "c1ccccc1"]
        model = IGSD(**TINY).fit(strings)
        for use in (model.fit, model.transform, model.fit_transform):
            with pytest.raises(DataError, match=r"1 of the 4 strings .*\n  row 1: 'nope'"):
                use(["CCO", "nope", *strings[1:]])

    def test_numpy_scalars_of_a_parameter_grid(self, graphs: GraphSet) -> None:
        model = IGSD(**TINY).set_params(hidden_dim=np.int64(4), temperature=np.float64(0.5))
        assert np.isfinite(model.fit_transform(graphs)).all()

    def test_from_config(self) -> None:
        config = Config(epochs=3, seed=4, encoder="gcn")
        model = IGSD.from_config(config, verbose=True)
        assert model.config() == config
        assert model.random_state == 4
        assert model.verbose

    def test_made_under_a_debugger(self) -> None:
        # A debugger reads the variables of every frame, and so changes what locals() returned.
        def trace(frame: Any, event: str, argument: Any) -> Any:
            frame.f_locals  # noqa: B018
            return trace

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            model = IGSD(epochs=3)
        finally:
            sys.settrace(previous)
        assert set(vars(model)) == set(model.get_params())

    def test_one_graph(self, graphs: GraphSet) -> None:
        with pytest.raises(DataError, match="at least 2"):
            IGSD(**TINY).fit(graphs.take([0]))
        assert IGSD(**TINY).fit(graphs).transform(graphs.take([0])).shape[0] == 1

    def test_history(self, graphs: GraphSet) -> None:
        assert len(IGSD(**TINY).fit(graphs).history_) == TINY["epochs"]

    @pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
    def test_mix_is_linear_in_its_weight(self, graphs: GraphSet, weight: float) -> None:
        model = IGSD(**(TINY | {"ema_decay": 0.5})).fit(graphs)
        teacher = model.set_params(mix_weight=0.0).transform(graphs)
        student = model.set_params(mix_weight=1.0).transform(graphs)
        found = model.set_params(mix_weight=weight).transform(graphs)
        assert not np.allclose(student, teacher)
        expected = weight * student + (1 - weight) * teacher
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_checkpoint_of_a_finished_fit_is_used(self, graphs: GraphSet, tmp_path: Path) -> None:
        first = IGSD(**TINY, checkpoint=tmp_path / "c").fit_transform(graphs)
        again = IGSD(**TINY, checkpoint=str(tmp_path / "c")).fit_transform(graphs)
        np.testing.assert_array_equal(first, again)

    def test_smiles(self) -> None:
        pytest.importorskip("rdkit", reason="needs igsd[chem]")
        vectors = IGSD(**TINY).fit_transform(["CCO", "CCN", "c1ccccc1", "C"])
        assert np.isfinite(vectors).all()

    def test_attributes_alone(self) -> None:
        plain = make_graphs(labels=False, attributes=3)
        model = IGSD(**TINY).fit(plain)
        assert model.features_.parts == ("attributes",)
        assert np.isfinite(model.transform(plain)).all()

    def test_disjoint_edges_only(self) -> None:
        pairs = from_edges([2] * 6, np.arange(0, 12, 2), np.arange(1, 12, 2))
        assert np.isfinite(IGSD(**TINY).fit_transform(pairs)).all()
        assert np.isfinite(IGSD(**TINY).fit(pairs).transform(odd_graphs())).all()
