from __future__ import annotations

import numpy as np
import torch

from igsd.baselines.few_labels.gin import GINClassifier, SupervisedConfig, SupervisedNetwork
from igsd.model.network import Dims
from tests.baselines.steps import label_step, two_classes
from tests.estimators.few_labels import ROUNDS, few_graphs, small, some_classes


def test_gin_never_sees_an_unlabelled_graph() -> None:
    graphs = few_graphs()
    y = some_classes(graphs)
    labelled = np.arange(0, 12, 2)
    settings = {"node_features": "label"}  # nothing about a node that other graphs could change
    alone = small(GINClassifier, **settings).fit(graphs.take(labelled), [y[i] for i in labelled])
    both = small(GINClassifier, **settings).fit(graphs, y)
    # Batches are shuffles of positions, so only the order of the labelled graphs is the same.
    assert both.features_ == alone.features_
    np.testing.assert_allclose(both.predict_proba(graphs), alone.predict_proba(graphs), rtol=1e-3)


def test_guesses_of_gin_change_its_training() -> None:
    graphs = few_graphs()
    y = some_classes(graphs)
    plain = small(GINClassifier, epochs=3).fit(graphs, y)
    taught = small(GINClassifier, **ROUNDS).fit(graphs, y)
    assert len(taught.pseudo_labels_) == 6
    assert not np.allclose(plain.predict_proba(graphs), taught.predict_proba(graphs))


def test_the_loss_is_the_cross_entropy_of_both_kinds_of_labels() -> None:
    network, source = two_classes(SupervisedNetwork, SupervisedConfig, few_graphs())
    assert not network.uses_unlabelled
    step = label_step(source, num_pseudo=2)
    step.pools = step.pools[:2]  # as training feeds it
    logits = network.head(network.encoder(source.batch(np.arange(6))))
    labels = torch.cat([step.labels.targets, step.labels.pseudo])
    expected = torch.nn.functional.cross_entropy(logits, labels)
    torch.testing.assert_close(network.losses(step)["total"], expected)


def test_an_encoder_of_ones_own_is_copied() -> None:
    network, source = two_classes(SupervisedNetwork, SupervisedConfig, few_graphs())
    other = SupervisedNetwork(SupervisedConfig(), Dims(source.features, 3, network.encoder))
    assert other.encoder is not network.encoder
    assert (other.out_dim, other.head[-1].out_features) == (network.out_dim, 3)
