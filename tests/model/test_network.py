from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from igsd.batches.distinct import DistinctBatch
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import GNNEncoder
from igsd.limits import MemoryLimitError
from igsd.model.igsd import IGSDModel
from igsd.model.network import Dims, Step, StepLabels, build_network
from igsd.settings.groups import View
from igsd.settings.igsd import Config
from igsd.views.source import Source
from tests.small_graphs import HOST, make_graphs

GRAPHS = make_graphs()
FEATURES = FeatureMap.fit(GRAPHS)


def test_a_step_holds_the_graphs_of_its_pools_in_order() -> None:
    source = Source(GRAPHS, FEATURES, HOST, view=View(), cache=False)
    step = Step(source, (np.array([4, 1]), np.array([], np.int64), np.array([7])))
    assert step.indices.tolist() == [4, 1, 7]
    assert torch.equal(step.batch.x, source.batch(np.array([4, 1, 7])).x)
    assert [view.num_graphs for view in step.views] == [3]
    assert step.batch is step.batch


def test_random_views_go_by_the_place_of_the_step() -> None:
    source = Source(GRAPHS, FEATURES, HOST, view=View(view="node-drop", drop_rate=0.5))
    pools = (np.arange(10),)
    sizes = [Step(source, pools, place).views[0].ptr.tolist() for place in ((0, 1), (0, 1), (1, 1))]
    assert sizes[0] == sizes[1] != sizes[2]


def test_equal_neighbourhoods_are_seen_once_where_the_encoder_can() -> None:
    step = Step(Source(GRAPHS, FEATURES, HOST), (np.arange(10),))
    encoder = GNNEncoder("gin", FEATURES.dim, 4, 2).eval()
    seen = step.seen_by(encoder)
    assert isinstance(seen, DistinctBatch)
    torch.testing.assert_close(encoder(seen), encoder(step.batch), rtol=1e-4, atol=1e-5)
    own = torch.nn.Linear(1, 1)
    assert step.seen_by(own) is step.batch


@pytest.mark.parametrize("with_pseudo", [True, False])
def test_the_supervised_loss_is_the_mean_over_both_pools(with_pseudo: bool) -> None:
    outputs = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    targets, pseudo = torch.tensor([0, 1, 1]), torch.tensor([1, 0])
    step = Step(
        Source(GRAPHS, FEATURES, HOST),
        (np.arange(3), np.arange(3, 5), np.arange(0)),
        labels=StepLabels(targets, pseudo, (30, 10), torch.zeros(2, 2)),
    )
    expected = cross_entropy(outputs[:3], targets)
    if with_pseudo:
        expected = 0.75 * expected + 0.25 * cross_entropy(outputs[3:], pseudo)
    torch.testing.assert_close(step.supervised(outputs, with_pseudo=with_pseudo), expected)


def test_a_network_that_does_not_fit_is_refused_before_it_is_built() -> None:
    settings = Config(num_layers=1000, hidden_dim=65_536)
    message = r"network of [\d,]+ weights needs .* smaller values than hidden_dim=65536, num_l"
    with pytest.raises(MemoryLimitError, match=message):
        build_network(IGSDModel, settings, Dims(FEATURES))


def test_counting_weights_leaves_the_random_state_alone() -> None:
    settings, networks = Config(num_layers=2, hidden_dim=4), []
    for build in (IGSDModel, lambda *given: build_network(IGSDModel, *given)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            networks.append(build(settings, Dims(FEATURES)).state_dict())
    assert all(torch.equal(networks[0][key], networks[1][key]) for key in networks[0])
