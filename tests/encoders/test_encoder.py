from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from igsd.batches.batch import Batch, Collator
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import GNNEncoder, encode_with_nodes, node_width
from igsd.errors import ConfigError
from igsd.graphs.build import from_edges
from tests.reference import encoders as reference
from tests.reference.adjacency import dense
from tests.small_graphs import (
    HOST,
    from_matrix,
    in_double,
    make_batch,
    make_graphs,
    odd_graphs,
    relabelled,
    weighted_matrix,
)

KINDS = ("gin", "gcn")
GRAPHS = make_graphs()


def make_encoder(kind: str, in_dim: int, **settings) -> GNNEncoder:
    """Return a small encoder in evaluation mode, its BatchNorm statistics not the initial ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = GNNEncoder(kind, in_dim, settings.pop("hidden_dim", 8), 2, **settings)
        for module in encoder.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.running_mean.normal_()
                module.running_var.uniform_(0.5, 2.0)
                nn.init.uniform_(module.weight, 0.5, 2.0)
                nn.init.normal_(module.bias)
    return encoder.eval()


def weighted_batch(n: int = 6) -> tuple[Batch, np.ndarray]:
    """Return a one-graph batch under a weighted view with a full diagonal, and its matrix."""
    matrix = weighted_matrix(n) + np.eye(n)
    graph = from_edges([n], np.array([0]), np.array([1]))
    features = FeatureMap.fit(graph).transform(graph)
    collator = Collator(graph.node_ptr, features, HOST)
    view = collator.operator(from_matrix(matrix, weighted=True), graph.node_ptr, diagonal=True)
    batch = collator.batch(np.array([0]), graph.adjacency)
    return batch.with_adjacency(view), matrix


@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_plain_loop(kind: str, batch_norm: bool) -> None:
    batch = in_double(make_batch(GRAPHS))
    encoder = make_encoder(kind, batch.x.shape[1], batch_norm=batch_norm).double()
    A, x, ptr = dense(batch), batch.x.numpy(), batch.ptr.tolist()
    expected = [
        reference.encode(encoder, x[a:b], A[a:b, a:b], weighted=False)
        for a, b in itertools.pairwise(ptr)
    ]
    result = encoder(batch).detach().numpy()
    # GCN takes its degrees in float32.
    np.testing.assert_allclose(result, np.array(expected), rtol=1e-5, atol=1e-6)
    if kind == "gin":
        np.testing.assert_allclose(result, np.array(expected), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_honoured(kind: str) -> None:
    batch, matrix = weighted_batch()
    batch = in_double(batch)
    encoder = make_encoder(kind, batch.x.shape[1]).double()
    expected = reference.encode(encoder, batch.x.numpy(), matrix, weighted=True)
    np.testing.assert_allclose(encoder(batch)[0].detach().numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_scaling_one_weight_changes_the_result(kind: str) -> None:
    batch, matrix = weighted_batch()
    encoder = make_encoder(kind, batch.x.shape[1])
    changed = matrix.copy()
    changed[0, 0] *= 3
    collator = Collator(
        np.array([0, 6]), FeatureMap(("constant",)).transform(GRAPHS.take([0])), HOST
    )
    other = batch.with_adjacency(
        collator.operator(from_matrix(changed, weighted=True), np.array([0, 6]), diagonal=True)
    )
    assert not torch.allclose(encoder(batch), encoder(other))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_odd_graphs_are_finite(kind: str, training: bool) -> None:
    batch = make_batch(odd_graphs())
    encoder = make_encoder(kind, batch.x.shape[1], readout="sum+mean+max").train(training)
    h = encoder(batch)
    h.sum().backward()
    assert torch.isfinite(h).all()
    assert all(torch.isfinite(p.grad).all() for p in encoder.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_of_edgeless_graphs_is_finite(kind: str) -> None:
    batch = make_batch(odd_graphs(), [0, 1, 0])
    assert torch.isfinite(make_encoder(kind, batch.x.shape[1])(batch)).all()


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_nodes_does_not_count(kind: str, readout: str) -> None:
    batch, other = make_batch(GRAPHS), make_batch(relabelled(GRAPHS))
    assert not torch.equal(batch.x, other.x)
    encoder = make_encoder(kind, batch.x.shape[1], readout=readout).double()
    torch.testing.assert_close(encoder(in_double(batch)), encoder(in_double(other)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_rest_of_the_batch_does_not_count_in_evaluation(kind: str) -> None:
    together = make_batch(GRAPHS)
    encoder = make_encoder(kind, together.x.shape[1])
    h = encoder(together)
    for g in range(len(GRAPHS)):
        alone = encoder(make_batch(GRAPHS, [g]))
        torch.testing.assert_close(alone[0], h[g])


@pytest.mark.parametrize(("readout", "times"), [("sum", 1), ("mean+max", 2), ("sum+mean+max", 3)])
@pytest.mark.parametrize("concat_layers", [True, False])
def test_width(readout: str, times: int, concat_layers: bool) -> None:
    batch = make_batch(GRAPHS)
    encoder = make_encoder("gin", batch.x.shape[1], readout=readout, concat_layers=concat_layers)
    assert encoder.out_dim == 8 * times * (2 if concat_layers else 1)
    assert encoder(batch).shape == (10, encoder.out_dim)


def test_last_layer_alone_is_the_end_of_all_layers() -> None:
    batch = make_batch(GRAPHS)
    every = make_encoder("gin", batch.x.shape[1])
    last = make_encoder("gin", batch.x.shape[1], concat_layers=False)
    assert torch.equal(every(batch)[:, 8:], last(batch))


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_takes_a_gradient(kind: str) -> None:
    batch = make_batch(GRAPHS)
    encoder = make_encoder(kind, batch.x.shape[1]).train()
    # A weighted sum: the plain sum of BatchNorm's output has no gradient.
    h = encoder(batch)
    (h * torch.randn(h.shape, generator=torch.Generator().manual_seed(0))).sum().backward()
    assert all(p.grad is not None for p in encoder.parameters())
    assert any(p.grad.abs().sum() > 0 for p in encoder.layers[0].parameters())


def test_tells_apart_what_the_degrees_tell_apart() -> None:
    path = from_edges([4], np.array([0, 1, 2]), np.array([1, 2, 3]))
    star = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
    encoder = make_encoder("gin", 1)
    a, b = (encoder(make_batch(graph, nodes="constant")) for graph in (path, star))
    assert not torch.allclose(a, b)


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'gins'.*'gin'"):
        GNNEncoder("gins", 3, 8, 2)


@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("readout", ["sum", "mean+max"])
def test_the_graphs_are_the_encoders_own(concat: bool, readout: str) -> None:
    batch = make_batch(make_graphs(5))
    encoder = GNNEncoder(
        "gin", batch.x.shape[1], 6, 2, batch_norm=False, readout=readout, concat_layers=concat
    )
    nodes, graphs = encode_with_nodes(encoder, batch)
    torch.testing.assert_close(graphs, encoder(batch))
    assert nodes.shape == (len(batch.x), node_width(encoder))
    if readout == "sum":
        sums = torch.zeros(5, nodes.shape[1]).index_add(0, batch.batch, nodes)
        torch.testing.assert_close(sums, graphs)


def test_an_encoder_of_ones_own() -> None:
    class Own(nn.Module):
        node_dim = 3

        def with_nodes(self, batch):
            return "nodes", "graphs"

    assert node_width(Own()) == 3
    assert encode_with_nodes(Own(), None) == ("nodes", "graphs")
    with pytest.raises(ConfigError, match=r"Linear.*with_nodes"):
        node_width(nn.Linear(2, 2))
