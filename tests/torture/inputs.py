"""Odd input in Python: the right result or an error of igsd, never that of a library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.small_graphs import TINY, make_graphs
from tests.torture.attack import Attack, Batch, Row, fault_of_error


def _model(**changes: Any) -> Any:
    import igsd

    return igsd.IGSD(**(TINY | {"epochs": 1} | changes))


def _classifier(**changes: Any) -> Any:
    import igsd

    return igsd.IGSDClassifier(**(TINY | {"epochs": 1, "pretraining_epochs": 0} | changes))


def _path(*edges: tuple[Any, Any], **attributes: Any) -> Any:
    import networkx as nx

    graph = nx.Graph()
    graph.add_node(0, **attributes)
    graph.add_edges_from(edges)
    return graph


def _pyg(**columns: Any) -> Any:
    import torch
    from torch_geometric.data import Data

    columns = {"edge_index": [[0, 1], [1, 0]], "x": [[1.0], [2.0]]} | columns
    return Data(**{key: torch.tensor(value) for key, value in columns.items()})


def _from_edges(**columns: Any) -> Any:
    from igsd.graphs.build import from_edges

    plain = {"counts": [2, 2], "source": np.array([0, 2]), "target": np.array([1, 3])} | columns
    return from_edges(plain.pop("counts"), plain.pop("source"), plain.pop("target"), **plain)


def _fits(graphs: Any) -> Any:
    return _model().fit(graphs).transform(graphs)


def _learns(labels: Any, **changes: Any) -> Any:
    graphs = make_graphs(10)
    return _classifier(**changes).fit(graphs, labels).predict(graphs)


INF = float("inf")
GRAPHS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a number": lambda: 7,
    "a text": lambda: "MUTAG",
    "bytes": lambda: b"MUTAG",
    "an empty list": list,
    "an empty array": lambda: np.empty(0),
    "a matrix": lambda: np.eye(4),
    "objects": lambda: np.array([object()] * 3),
    "a dictionary": lambda: {"a": make_graphs()},
    "mixed kinds": lambda: [make_graphs()[0], "CCO"],
    "one graph": lambda: make_graphs(1),
    "a generator": lambda: (make_graphs()[i] for i in range(4)),
    "a list in a list": lambda: [[make_graphs()[0]]],
    "a graph without nodes": lambda: [__import__("networkx").Graph()],
    "a directed graph": lambda: [__import__("networkx").DiGraph([(0, 1)])] * 4,
    "several edges": lambda: [__import__("networkx").MultiGraph([(0, 1), (0, 1)])] * 4,
    "loops": lambda: [_path((0, 0), (0, 1))] * 4,
    "odd node names": lambda: [_path((0, ("a", 1)), (0, None is None))] * 4,
    "nan as a node": lambda: [_path((0, float("nan")))] * 4,
    "attributes of odd types": lambda: [_path((0, 1), label=object())] * 4,
    "infinite attributes": lambda: [_path((0, 1), x=INF)] * 4,
    "lists as attributes": lambda: [_path((0, 1), x=[1, [2]])] * 4,
    "SMILES that are none": lambda: ["CCO", "not a molecule"],
    "empty SMILES": lambda: ["", ""],
    "SMILES and NUL": lambda: ["C\0C", "CC"],
    "very long SMILES": lambda: ["C" * 5000, "CC"],
    "PyG: edges out of range": lambda: [_pyg(edge_index=[[0, 9], [9, 0]])] * 3,
    "PyG: negative edges": lambda: [_pyg(edge_index=[[0, -1], [-1, 0]])] * 3,
    "PyG: three rows of edges": lambda: [_pyg(edge_index=[[0], [1], [0]])] * 3,
    "PyG: fractions as edges": lambda: [_pyg(edge_index=[[0.5], [1.0]])] * 3,
    "PyG: nan": lambda: [_pyg(x=[[float("nan")], [1.0]])] * 3,
    "PyG: 1e300": lambda: [_pyg(x=[[1e300], [1.0]])] * 3,
    "PyG: widths that differ": lambda: [_pyg(), _pyg(x=[[1.0, 2.0], [1.0, 2.0]])],
    "PyG: text": lambda: [_pyg(), 3],
    "edges between graphs": lambda: _from_edges(target=np.array([1, 0])),
    "edges out of range": lambda: _from_edges(target=np.array([1, 2**40])),
    "no counts": lambda: _from_edges(counts=[]),
    "negative counts": lambda: _from_edges(counts=[-2, 6]),
    "huge counts": lambda: _from_edges(counts=[2**62, 2]),
    "infinite node attributes": lambda: _from_edges(node_attributes=np.full((4, 1), INF)),
    "labels of another length": lambda: _from_edges(node_labels=np.zeros(3, np.int32)),
    "unknown columns": lambda: _from_edges(nonsense=1),
}
LABELS: dict[str, Any] = {
    "None": None,
    "too few": [0, 1],
    "one class": [1] * 10,
    "all missing": [None] * 10,
    "all nan": [float("nan")] * 10,
    "infinite": [INF] * 5 + [0.0] * 5,
    "mixed types": [0, "a", None, 2.5, True, "b", 0, 0, 1, 1],
    "uint64": np.array([2**63, 2**63 + 1] * 5, np.uint64),
    "complex numbers": np.array([1j, 2] * 5),
    "dates": np.array(["2020-01-01", "2021-01-01"] * 5, "datetime64[D]"),
    "two columns": np.zeros((10, 2)),
    "objects": [object() for _ in range(10)],
    "lists": [[0], [1]] * 5,
    "bytes": [b"a", b"b"] * 5,
    "very long texts": ["a" * 10**5, "b"] * 5,
    "a class per graph": list(range(10)),
    "huge integers": [10**30, 1] * 5,
    "booleans": [True, False] * 5,
}
SETTINGS: dict[str, Any] = {
    "epochs": (-1, 0, 1.5, "2", None, INF, True),
    "hidden_dim": (0, -4, 2.5, "8", None),
    "batch_size": (0, 1, -1, None, float("nan")),
    "learning_rate": (0.0, -1.0, float("nan"), INF, "1", None),
    "temperature": (0.0, -1.0, float("nan")),
    "encoder": ("none", "", None, 3),
    "view": ("", None, 3, ["ppr"]),
    "random_state": (-1, 2**70, "0", 1.5, None, np.random.default_rng(0)),
    "device": ("nowhere", 3),
    "nonsense": (1,),
}


def _fault_of(work: Callable[[], Any]) -> str | None:
    """Return a fault unless the work gives finite numbers or an error of igsd."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = work()
        except Exception as error:
            from sklearn.exceptions import NotFittedError

            if isinstance(error, NotFittedError) or "unexpected keyword" in str(error):
                return None
            return fault_of_error(error)
    is_numbers = isinstance(found, np.ndarray) and found.dtype.kind == "f"
    return "vectors that are not finite" if is_numbers and not np.isfinite(found).all() else None


def fits_graphs(name: str) -> str | None:
    """Return the fault of fitting odd graphs; runs in a batch."""
    return _fault_of(lambda: _fits(GRAPHS[name]()))


def transforms_graphs(name: str) -> str | None:
    """Return the fault of embedding odd graphs with a fitted model."""
    model = _model().fit(make_graphs(10))
    return _fault_of(lambda: model.transform(GRAPHS[name]()))


def learns_labels(name: str) -> str | None:
    """Return the fault of learning odd labels."""
    return _fault_of(lambda: _learns(LABELS[name]))


def takes_setting(key: str, place: int) -> str | None:
    """Return the fault of an odd setting."""
    return _fault_of(lambda: _model(**{key: SETTINGS[key][place]}).fit_transform(make_graphs(10)))


def rows(attack: Attack) -> Iterator[Row]:
    """Yield one row for graphs, labels and settings."""
    row, step = Row("odd input in Python"), attack.amount(2, 1)
    with Batch(attack.place("inputs")) as batch:
        for name in list(GRAPHS)[::step]:
            row.count(batch.run(fits_graphs, name), f"fit, {name}")
            row.count(batch.run(transforms_graphs, name), f"transform, {name}")
        for name in LABELS:
            row.count(batch.run(learns_labels, name), f"labels, {name}")
        for key, values in SETTINGS.items():
            for place, value in enumerate(values):
                row.count(batch.run(takes_setting, key, place), f"{key}={value!r}")
    yield row
