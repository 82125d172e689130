from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from igsd.baselines.gcc import GCC
from igsd.baselines.gcc_egos import EgoSource
from igsd.graphs.graphset import GraphSet
from tests.reference.losses import infonce
from tests.small_graphs import HOST, TINY

SETTINGS = {key: TINY[key] for key in ("num_layers", "hidden_dim", "head_dim")}


def test_the_loss_is_infonce_over_batch_and_queue(graphs: GraphSet) -> None:
    model = GCC(**SETTINGS, epochs=0, queue_size=5, temperature=0.3).fit(graphs)
    network = model.network_
    queries, keys = EgoSource(graphs, model.config_, HOST).step(np.arange(4), (0, 0))
    with torch.no_grad():
        q = normalize(network.head(network.encoder(queries)), dim=1)
        k = normalize(network.key_head(network.key_encoder(keys)), dim=1)
        table = -q @ torch.cat([k, network.queue.keys]).T
        expected = infonce(table.tolist(), 0.3)
        assert network(queries, keys).item() == pytest.approx(expected, rel=1e-4)
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
    first, second = (GCC(**SETTINGS, epochs=1).fit_transform(x) for x in (graphs, plain))
    np.testing.assert_array_equal(first, second)
