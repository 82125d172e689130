from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import igsd
from igsd.baselines.registry import configure, method, name_of, setting_names
from igsd.errors import ConfigError, IGSDWarning, StorageError, TrainingError
from igsd.experiments import scoring
from igsd.graphs.graphset import GraphSet
from igsd.processes import run_measured
from tests.own_parts import Write, write_module
from tests.small_graphs import make_graphs

__all__ = ["write_module"]

MODULE = '''
import numpy as np

class Sizes:
    """Numbers of nodes and edges, to a power."""

    def __init__(self, power: float = 1, log=False, scale=None):
        self.power, self.log = power, log

    def fit(self, graphs, y=None):
        self.kind_, self.mean_ = type(graphs).__name__, np.array([graphs.num_nodes / len(graphs)])
        self.has_labels_ = graphs.classes is not None
        return self

    def transform(self, graphs):
        counts = np.stack([graphs.node_counts(), graphs.edge_counts()], axis=1) / self.mean_
        return counts**self.power

class Seeded(Sizes):
    def __init__(self, random_state=None):
        self.random_state, self.power = random_state, 1.0

class Networks:
    takes = "networkx"

    def fit(self, graphs, y):  # no default
        self.first_ = len(graphs[0])
        return self

    def transform(self, graphs):
        return [[len(g), g.number_of_edges()] for g in graphs]

class Kernel(Sizes):
    def kernel(self, X, Y=None):
        a = self.transform(X)
        return a @ (a if Y is None else self.transform(Y)).T

class Crooked(Sizes):
    def kernel(self, X, Y=None):
        return np.arange(float(len(X) ** 2)).reshape(len(X), -1)

class Fails(Sizes):
    def transform(self, graphs):
        raise ValueError("no luck")

class Makes(Sizes):
    def __init__(self):
        raise OSError("no disk")

class NaN(Sizes):
    def transform(self, graphs):
        return np.full((len(graphs), 2), np.nan)

class Huge(Sizes):
    def transform(self, graphs):
        return np.full((len(graphs), 2), 1e300)

class Short(Sizes):
    def transform(self, graphs):
        return [[1.0, 2.0]]

class Flat(Sizes):
    def transform(self, graphs):
        return [1.0] * len(graphs)

class Texts(Sizes):
    def transform(self, graphs):
        return [["a"]] * len(graphs)

class Keeps(Sizes):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.rule_ = lambda x: x
        return self

class Needs(Sizes):
    def __init__(self, depth):
        self.depth = depth

class NoTransform:
    def fit(self, graphs): return self

class Takes(Sizes):
    takes = "matrices"

def function(graphs): return graphs
'''


@pytest.fixture(autouse=True)
def mine(write_module: Write) -> Path:
    return write_module("mine", MODULE)


@pytest.fixture
def graphs() -> GraphSet:
    return make_graphs(8, classes=True)


def test_a_class_with_fit_and_transform_is_a_method(graphs: GraphSet) -> None:
    model = igsd.make_method("mine:Sizes", power=2)
    vectors = model.fit_transform(graphs)
    check_is_fitted(model)
    expected = (np.stack([graphs.node_counts(), graphs.edge_counts()], 1) / model.model_.mean_) ** 2
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32
    assert model.model_.kind_ == "GraphSet"
    assert not model.model_.has_labels_
    assert model.get_feature_names_out().tolist() == ["sizes0", "sizes1"]
    assert name_of(model) == "mine:Sizes"
    np.testing.assert_array_equal(clone(model).fit_transform(graphs), vectors)


def test_a_class_stands_for_its_name(graphs: GraphSet, write_module: Write) -> None:
    expected = igsd.make_method("mine:Sizes").fit_transform(graphs)
    own = sys.modules["mine"].Sizes
    np.testing.assert_array_equal(igsd.make_method(own).fit_transform(graphs), expected)
    write_module("leaves", "import sys\nsys.exit(5)\n")
    with pytest.raises(ConfigError, match=r"'leaves:X' cannot be imported: SystemExit"):
        igsd.make_method("leaves:X")


def test_parameters_with_plain_defaults_are_settings() -> None:
    assert setting_names("mine:Sizes") == ["power", "log"]
    config = configure("mine:Sizes", "molecules", {"power": 3, "log": True})
    assert (config.power, config.log) == (3.0, True)
    assert config.own_class == "mine:Sizes"
    assert config.own_parameters == '{"scale": "None"}'
    assert len(config.own_source) == 64
    with pytest.raises(ConfigError, match=r"has no setting 'powr'. Did you mean 'power'"):
        configure("mine:Sizes", "molecules", {"powr": 3})
    with pytest.raises(ConfigError, match=r"power.*must be a number"):
        configure("mine:Sizes", "molecules", {"power": "x"})
    with pytest.raises(ConfigError, match=r"has no parameter 'depth'"):
        igsd.make_method("mine:Sizes", depth=3)


def test_a_changed_file_is_another_method(write_module: Write) -> None:
    before = configure("mine:Sizes", "molecules").learned()
    write_module("mine", MODULE + "\n# changed\n")
    after = configure("mine:Sizes", "molecules").learned()
    assert {key for key in before if before[key] != after[key]} == {"own_source"}


def test_networkx_graphs_for_a_class_that_asks_for_them(graphs: GraphSet) -> None:
    model = igsd.make_method("mine:Networks")
    rows = model.fit_transform(graphs)
    assert rows[:, 0].tolist() == graphs.node_counts().tolist()
    assert model.model_.first_ == graphs.node_counts()[0]


def test_the_seed_of_a_run_reaches_the_class(graphs: GraphSet) -> None:
    assert method("mine:Seeded").stochastic
    assert not method("mine:Sizes").stochastic
    assert igsd.make_method("mine:Seeded", random_state=7).fit(graphs).model_.random_state == 7


def test_a_kernel_of_ones_own(graphs: GraphSet) -> None:
    model = igsd.make_method("mine:Kernel").fit(graphs)
    assert scoring.delivered(model, graphs, "nested").kernel == "precomputed"
    assert model.kernel(graphs).shape == (8, 8)
    assert model.kernel(graphs, graphs.take([0, 1])).shape == (8, 2)
    with pytest.raises(TrainingError, match=r"mine:Crooked.kernel: .* must be symmetric"):
        igsd.make_method("mine:Crooked").fit(graphs).kernel(graphs)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Fails", r"mine:Fails failed in transform: ValueError: no luck \(mine.py, line \d+\)"),
        ("Makes", r"mine:Makes failed in __init__: OSError: no disk"),
        ("NaN", r"result of mine:NaN.transform must be finite. Row 0, column 0"),
        ("Huge", r"result of mine:Huge.transform must be at most 1e\+150 in size"),
        ("Short", r"mine:Short.transform must return one row per graph.*shape \(1, 2\) for 8"),
        ("Flat", r"result of mine:Flat.transform must be a table"),
        ("Texts", r"result of mine:Texts.transform must be numbers"),
    ],
)
def test_what_a_class_does_wrong_is_said_in_a_sentence(
    graphs: GraphSet, name: str, message: str
) -> None:
    with pytest.raises(TrainingError, match=message):
        igsd.make_method(f"mine:{name}").fit_transform(graphs)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine:Needs", "needs a value for 'depth'.*a default"),
        ("mine:NoTransform", "'mine:NoTransform' is not a method: it has no transform"),
        ("mine:Takes", "takes of 'mine:Takes' must be 'graphset' or 'networkx'. Got 'matrices'"),
        ("mine:function", "must be a class with fit and transform. It is a function"),
        ("mine:Nothing", "mine has no 'Nothing'"),
        ("mine:", "There is no method 'mine:'.*named module:Class"),
    ],
)
def test_what_is_not_a_method(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        igsd.make_method(name)


def test_labels_are_not_learned() -> None:
    with pytest.raises(ConfigError, match="makes vectors and does not learn classes"):
        method("mine:Sizes", "classes")


def test_save_and_load(graphs: GraphSet, tmp_path: Path) -> None:
    model = igsd.make_method("mine:Sizes", power=2)
    vectors = model.fit_transform(graphs)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(type(model).load(tmp_path / "m").transform(graphs), vectors)
    with pytest.raises(StorageError, match=r"does not decide what is imported.*mine:Sizes"):
        igsd.load_model(tmp_path / "m")


def test_what_cannot_be_saved_is_named(graphs: GraphSet, tmp_path: Path) -> None:
    model = igsd.make_method("mine:Keeps").fit(graphs)
    with pytest.warns(IGSDWarning, match=r"rule_ \(function\) is neither"):
        model.save(tmp_path / "m")
    with pytest.raises(StorageError, match=r"rule_ \(function\) could not be saved"):
        type(model).load(tmp_path / "m")


def test_a_method_that_a_package_offers(
    write_module: Write, graphs: GraphSet, tmp_path: Path
) -> None:
    write_module("offers", MODULE, {"methods": "my-sizes = offers:Sizes"})
    model = igsd.make_method("my-sizes")
    vectors = model.fit_transform(graphs)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(igsd.load_model(tmp_path / "m").transform(graphs), vectors)
    with pytest.raises(ConfigError, match="Did you mean 'my-sizes'"):
        igsd.make_method("my-size")


def test_pickled_for_other_processes(graphs: GraphSet) -> None:
    model = igsd.make_method("mine:Sizes", power=2)
    vectors = model.fit_transform(graphs)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(graphs), vectors)


@pytest.mark.slow
def test_in_a_process_of_its_own(graphs: GraphSet) -> None:
    config = configure("mine:Sizes", "molecules", {"power": 2})
    arguments = (graphs, "mine:Sizes", config, "nested")
    measured = run_measured(scoring.represent, *arguments, modules=method("mine:Sizes").modules())
    expected = igsd.make_method("mine:Sizes", power=2).fit_transform(graphs)
    np.testing.assert_array_equal(measured.value[0].values, expected)


AGES = """
class Ages:
    takes = "networkx"

    def fit(self, graphs, y=None):
        return self

    def transform(self, graphs):
        return [[sum(age for _, age in g.nodes(data="age", default=0.0)), len(g)] for g in graphs]

class Table(Ages):
    takes = "graphset"

    def transform(self, graphs):
        ages = graphs.partial_node_attributes[:, graphs.partial_node_names.index("age")]
        sums = np.bincount(graphs.graph_of_node(), np.nan_to_num(ages))
        return np.stack([sums, graphs.node_counts()], axis=1)
"""


@pytest.mark.parametrize("name", ["Ages", "Table"])
def test_attributes_that_some_nodes_lack_are_handed_over(write_module: Write, name: str) -> None:
    write_module("ages", "import numpy as np\n" + AGES)
    graphs = [nx.path_graph(n) for n in range(3, 7)]
    for n, graph in enumerate(graphs):
        graph.nodes[1]["age"] = float(n)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IGSDWarning)
        vectors = igsd.make_method(f"ages:{name}").fit_transform(graphs)
    assert vectors.tolist() == [[0, 3], [1, 4], [2, 5], [3, 6]]


def test_attributes_that_are_left_out_are_named(write_module: Write) -> None:
    write_module("ages", "import numpy as np\n" + AGES)
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "2020-01-01", 1: "2021-01-01", 2: "2022-01-01"}, "born")
    said = r"ages:Ages does not get everything of 'graphs': node attribute 'born' not used: dates"
    with pytest.warns(IGSDWarning, match=said):
        igsd.make_method("ages:Ages").fit([graph, graph])
