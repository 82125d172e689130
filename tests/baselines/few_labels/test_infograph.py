from __future__ import annotations

import copy

import torch

from igsd.baselines.few_labels.infograph import (
    InfoGraphConfig,
    InfoGraphNetwork,
    InfoGraphStarClassifier,
    InfoGraphStarConfig,
    InfoGraphStarNetwork,
)
from igsd.encoders.encoder import encode_with_nodes
from igsd.losses.contrastive import jsd
from tests.baselines.steps import label_step, two_classes
from tests.estimators.few_labels import few_graphs, small, some_classes


def test_the_loss_is_the_label_and_the_mutual_information_of_all_graphs() -> None:
    network, source = two_classes(
        InfoGraphNetwork, InfoGraphConfig, few_graphs(), information_weight=0.5
    )
    step = label_step(source)
    losses = network.losses(step)
    information = network.local_global(step, *encode_with_nodes(network.encoder, step.batch))
    outputs = network.outputs(step)[:4]
    entropy = torch.nn.functional.cross_entropy(outputs, step.labels.targets)
    torch.testing.assert_close(losses["supervised"], entropy)
    torch.testing.assert_close(losses["information"], information)
    torch.testing.assert_close(losses["total"], entropy + 0.5 * information)
    assert not network.takes_counts  # each node is compared with the graphs


def test_the_two_encoders_of_infograph_star_begin_apart() -> None:
    graphs = few_graphs()
    model = small(InfoGraphStarClassifier, epochs=0).fit(graphs, some_classes(graphs))
    supervised, other = model.network_.encoder, model.network_.unsupervised
    assert not torch.equal(supervised.layers[0].first.weight, other.layers[0].first.weight)


def test_the_unsupervised_encoder_is_taught_by_information_alone() -> None:
    graphs = few_graphs()
    model = small(InfoGraphStarClassifier, epochs=0, information_weight=0.0, transfer_weight=0.0)
    start = copy.deepcopy(model.fit(graphs, some_classes(graphs)).network_.unsupervised)
    model.set_params(epochs=2).fit(graphs, some_classes(graphs))
    for a, b in zip(start.parameters(), model.network_.unsupervised.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_parts_of_the_loss_count_by_their_weights() -> None:
    weights = {"information_weight": 0.5, "transfer_weight": 2.0}
    network, source = two_classes(
        InfoGraphStarNetwork, InfoGraphStarConfig, few_graphs(), **weights
    )
    step = label_step(source)
    losses = network.losses(step)
    expected = losses["supervised"] + 0.5 * losses["information"] + 2.0 * losses["transfer"]
    torch.testing.assert_close(losses["total"], expected)
    h, (nodes, other) = (
        network.encoder(step.batch),
        encode_with_nodes(network.unsupervised, step.batch),
    )
    scores = network.of_supervised(h) @ network.of_unsupervised(other).T
    entropy = torch.nn.functional.cross_entropy(network.head(h)[:4], step.labels.targets)
    torch.testing.assert_close(losses["supervised"], entropy)
    torch.testing.assert_close(losses["information"], network.local_global(step, nodes, other))
    torch.testing.assert_close(losses["transfer"], jsd(scores, torch.eye(8, dtype=torch.bool)))
