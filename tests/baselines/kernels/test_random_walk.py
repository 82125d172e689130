from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from igsd.baselines.kernels.paths import RandomWalkKernel
from igsd.errors import IGSDWarning
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.limits import MemoryLimitError, limits
from tests.reference.grakel_graphs import adjacency_matrices
from tests.small_graphs import make_graphs

pytestmark = pytest.mark.filterwarnings("ignore:.*count as equal")


def product_walks(graphs: GraphSet, steps: int, decay: float) -> np.ndarray:
    """Return the kernel by powers of the adjacency matrix of each direct product."""
    matrices = adjacency_matrices(graphs)
    bounds = list(zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True))
    labels = graphs.node_labels if graphs.node_labels is not None else np.zeros(graphs.num_nodes)
    K = np.zeros((len(graphs), len(graphs)))
    for g, A in enumerate(matrices):
        for h, B in enumerate(matrices):
            own, other = labels[slice(*bounds[g])], labels[slice(*bounds[h])]
            nodes = np.flatnonzero((own[:, None] == other).ravel())
            product = np.kron(A, B)[np.ix_(nodes, nodes)]
            power = np.eye(len(nodes))
            for k in range(steps + 1):
                K[g, h] += decay**k * power.sum()
                power = power @ product
    return K


@pytest.mark.parametrize("labels", [True, False])
def test_equals_the_direct_product(labels: bool) -> None:
    graphs = make_graphs(6, seed=1, labels=labels)
    kernel = RandomWalkKernel(steps=4, decay=0.2, normalise=False).fit(graphs)
    np.testing.assert_allclose(kernel.kernel(graphs), product_walks(graphs, 4, 0.2), rtol=1e-12)


def test_equals_grakel() -> None:
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(12, seed=1, labels=False)
    kernel = RandomWalkKernel(decay=0.02, steps=60, normalise=False).fit(graphs)
    theirs = grakel.RandomWalk(lamda=0.02, method_type="baseline").fit_transform(
        [[A] for A in adjacency_matrices(graphs)]
    )
    np.testing.assert_allclose(kernel.kernel(graphs), theirs, rtol=1e-9)


def test_a_denser_graph_than_any_of_fit() -> None:
    thin = from_edges([3], np.array([0]), np.array([1]))
    edges = np.array([(u, v) for u in range(40) for v in range(u)])
    clique = from_edges([40], edges[:, 0], edges[:, 1])
    kernel = RandomWalkKernel().fit(thin)
    assert np.isfinite(kernel.kernel(clique, thin)).all()
    assert np.isfinite(kernel.transform(clique)).all()


def test_too_many_walks() -> None:
    graphs = make_graphs(20)
    with limits(memory_gib=1e-4), pytest.raises(MemoryLimitError, match=r"^OMR: \d+ walks of"):
        RandomWalkKernel(steps=20).fit(graphs)


def test_without_labels_it_says_that_nodes_are_alike() -> None:
    with pytest.warns(IGSDWarning, match="all nodes count as equal"):
        kernel = RandomWalkKernel().fit([nx.path_graph(3), nx.cycle_graph(4)])
    assert kernel.notes_ == ("'graphs' has no node labels: all nodes count as equal.",)
