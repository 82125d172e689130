from __future__ import annotations

import torch

from igsd.baselines.learned_config import LearnedConfig
from igsd.baselines.learned_network import LearnedNetwork, build_projector
from igsd.encoders.encoder import GNNEncoder
from igsd.model.build import build_encoder
from tests.small_graphs import make_batch, make_graphs


def test_the_embedding_is_the_encoders_unless_a_method_says_otherwise() -> None:
    batch = make_batch(make_graphs(4))
    config = LearnedConfig(num_layers=1, hidden_dim=4)
    network = LearnedNetwork(4)
    network.encoder = build_encoder(config, batch.x.shape[1]).eval()
    assert isinstance(network.encoder, GNNEncoder)
    assert torch.equal(network.embed(batch), network.encoder(batch))
    network.after_step()


def test_the_projector_has_the_configured_widths() -> None:
    config = LearnedConfig(head_hidden_dim=6, head_dim=3)
    assert build_projector(config, 5)(torch.zeros(4, 5)).shape == (4, 3)
