from __future__ import annotations

import torch

from igsd.baselines.local_global import LocalGlobal
from igsd.losses.jsd import local_global_jsd


def test_nodes_and_graphs_pass_a_perceptron_each() -> None:
    torch.manual_seed(0)
    module = LocalGlobal(3, 5, 4)
    nodes, graphs = torch.randn(6, 3), torch.randn(2, 5)
    owner = torch.tensor([0, 0, 0, 1, 1, 1])
    expected = local_global_jsd(module.nodes(nodes), module.graphs(graphs), owner)
    assert torch.equal(module(nodes, graphs, owner), expected)


def test_nodes_that_fit_their_graph_have_a_smaller_loss() -> None:
    module = LocalGlobal(2, 2, 2)
    module.nodes = module.graphs = torch.nn.Identity()  # type: ignore[assignment]
    graphs = 4 * torch.eye(2)
    right, wrong = torch.tensor([0, 1]), torch.tensor([1, 0])
    assert module(graphs, graphs, right) < module(graphs, graphs, wrong)
