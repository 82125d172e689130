from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from igsd.baselines.neural.gcc import GCC, EgoSource, GCCConfig, KeyQueue, structural_vectors
from igsd.graphs.graphset import GraphSet
from tests.baselines.steps import step_of
from tests.reference.losses import infonce
from tests.reference.views import dense
from tests.small_graphs import HOST, TINY, from_matrix, make_graphs, odd_graphs


def test_new_keys_take_the_place_of_the_oldest() -> None:
    queue = KeyQueue(5, 2)
    start = queue.keys.clone()
    torch.testing.assert_close(start.norm(dim=1), torch.ones(5))
    first, second = torch.full((3, 2), 1.0), torch.arange(8.0).view(4, 2)
    queue.push(first)
    torch.testing.assert_close(queue.keys, torch.cat([first, start[3:]]))
    queue.push(second)
    torch.testing.assert_close(queue.keys, torch.cat([second[2:], first[2:], second[:2]]))
    assert queue.place.item() == 2


def test_more_keys_than_places_leave_the_last() -> None:
    queue = KeyQueue(3, 1)
    queue.push(torch.arange(7.0).view(7, 1))
    assert sorted(queue.keys.flatten().tolist()) == [4.0, 5.0, 6.0]


def test_a_copy_of_the_state_goes_on_alike() -> None:
    queue, other = KeyQueue(4, 2), KeyQueue(4, 2)
    queue.push(torch.ones(3, 2))
    other.load_state_dict(queue.state_dict())
    for each in (queue, other):
        each.push(torch.zeros(2, 2))
    torch.testing.assert_close(queue.keys, other.keys)


def test_a_star() -> None:
    # Largest eigenvalue 1: the roots of the degrees.
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    vectors = structural_vectors(from_matrix(star, weighted=False), np.array([0, 4]), 1)
    np.testing.assert_allclose(vectors, 1.0)
    two = structural_vectors(from_matrix(star, weighted=False), np.array([0, 4]), 4)
    assert two.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(two, axis=1), 1.0, rtol=1e-6)


def test_equals_the_decomposition_of_each_graph() -> None:
    graphs = make_graphs()
    vectors = structural_vectors(graphs.adjacency, graphs.node_ptr, 5)
    for g in range(len(graphs)):
        A = dense(graphs.adjacency, graphs.node_ptr, g)
        scale = 1 / np.sqrt(np.maximum(A.sum(axis=1), 1))
        values, U = np.linalg.eigh(scale[:, None] * A * scale)
        own = vectors[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        width = min(5, len(A))
        expected = np.abs(U[:, np.argsort(-values)[:width]])
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert not own[:, width:].any()
        # Eigenvectors of one eigenvalue may be turned; the others must be the same.
        largest = np.sort(values)[::-1]
        apart = np.abs(largest[:, None] - largest) > 1e-6
        single = (apart | np.eye(len(A), dtype=bool)).all(axis=1)[:width]
        if single.all():
            np.testing.assert_allclose(own[:, :width], expected, atol=1e-5)


def test_does_not_depend_on_the_other_graphs() -> None:
    graphs = make_graphs()
    together = structural_vectors(graphs.adjacency, graphs.node_ptr, 4)
    for g in range(len(graphs)):
        one = graphs.take([g])
        alone = structural_vectors(one.adjacency, one.node_ptr, 4)
        np.testing.assert_array_equal(alone, together[graphs.node_ptr[g] : graphs.node_ptr[g + 1]])


def test_odd_graphs_are_finite() -> None:
    odd = odd_graphs()
    assert np.isfinite(structural_vectors(odd.adjacency, odd.node_ptr, 3)).all()


SETTINGS = {key: TINY[key] for key in ("num_layers", "hidden_dim", "head_dim")}


def test_both_subgraphs_hold_the_same_start(graphs: GraphSet) -> None:
    config = GCCConfig(walk_steps=6)
    indices = np.array([5, 2, 8])
    source = EgoSource(graphs, config, HOST)
    pairs = source.step(indices, (1, 0))
    for batch in pairs:
        assert batch.x.shape[1] == config.eigenvectors + config.degree_cap + 2
        is_start = batch.x[:, -1] == 1
        assert batch.batch[is_start].tolist() == [0, 1, 2]
        degrees = batch.x[:, config.eigenvectors : -1]
        assert degrees.sum(dim=1).tolist() == [1.0] * len(batch.x)
        expected = batch.adjacency.row_sums().clamp_max(config.degree_cap)
        assert degrees.argmax(dim=1).tolist() == expected.long().tolist()
    again = EgoSource(graphs, config, HOST).step(indices, (1, 0))
    assert torch.equal(pairs[0].x, again[0].x)


def test_pooled_egos_are_spread_over_the_graph(graphs: GraphSet) -> None:
    source = EgoSource(graphs, GCCConfig(), HOST)
    ((batch, ptr),) = source.pooled(4)
    sizes = np.minimum(graphs.node_counts(), 4)
    assert ptr.tolist() == [0, *np.cumsum(sizes).tolist()]
    assert batch.num_graphs == sizes.sum()


def test_the_loss_is_infonce_over_batch_and_queue(graphs: GraphSet) -> None:
    model = GCC(**SETTINGS, epochs=0, queue_size=5, temperature=0.3).fit(graphs)
    network = model.network_
    queries, keys = EgoSource(graphs, model.config_, HOST).step(np.arange(4), (0, 0))
    with torch.no_grad():
        q = normalize(network.head(network.encoder(queries)), dim=1)
        k = normalize(network.key_head(network.key_encoder(keys)), dim=1)
        table = -q @ torch.cat([k, network.queue.keys]).T
        expected = infonce(table.tolist(), 0.3)
        found = network.losses(step_of(model, graphs, 4))["total"]
        assert found.item() == pytest.approx(expected, rel=1e-4)
    network.after_step()
    torch.testing.assert_close(network.queue.keys[:4], k)


def test_the_encoder_of_keys_follows_without_a_gradient(graphs: GraphSet) -> None:
    network = GCC(**SETTINGS, epochs=0, ema_decay=0.9).fit(graphs).network_
    assert not any(p.requires_grad for p in network.key_encoder.parameters())
    start = [p.clone() for p in network.key_head.parameters()]
    with torch.no_grad():
        for parameter in network.head.parameters():
            parameter.add_(1.0)
    for _ in range(3):
        network.after_step()
    for before, after in zip(start, network.key_head.parameters(), strict=True):
        torch.testing.assert_close(after, before + 1 - 0.9**3)


def test_labels_of_nodes_do_not_count(graphs: GraphSet) -> None:
    plain = dataclasses.replace(graphs, node_labels=None, node_label_names=())
    first, second = (
        GCC(**SETTINGS, epochs=1, recipe=None).fit_transform(x) for x in (graphs, plain)
    )
    np.testing.assert_array_equal(first, second)
