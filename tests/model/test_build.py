from __future__ import annotations

import pytest
import torch
from torch import nn

from igsd.config import Config
from igsd.encoders.heads import MLPHead
from igsd.errors import ConfigError
from igsd.graphs.features import FeatureMap
from igsd.model.build import build_model
from tests.small_graphs import TINY, make_batch, make_graphs

GRAPHS = make_graphs()
IN_DIM = FeatureMap.fit(GRAPHS).dim


@pytest.mark.parametrize("projector", [True, False])
@pytest.mark.parametrize("predictor", [True, False])
def test_heads_can_be_switched_off(projector: bool, predictor: bool) -> None:
    model = build_model(Config(**TINY, projector=projector, predictor=predictor), IN_DIM)
    batch = make_batch(GRAPHS)
    outputs = model(batch, [batch])[0]
    width = 8 if projector else model.student.encoder.out_dim
    assert outputs.p.shape == outputs.z.shape == (10, width)
    assert isinstance(model.student.projector, MLPHead) == projector
    assert isinstance(model.student.predictor, MLPHead) == predictor


def test_without_heads_the_student_predicts_its_representation() -> None:
    model = build_model(Config(**TINY, projector=False, predictor=False), IN_DIM).eval()
    batch = make_batch(GRAPHS)
    assert torch.equal(model.student(batch), model.student.encoder(batch))


@pytest.mark.parametrize("norm", [True, False])
def test_batch_norm_follows_its_two_settings(norm: bool) -> None:
    model = build_model(Config(**TINY, encoder_batch_norm=norm, head_batch_norm=not norm), IN_DIM)

    def has_norm(module: nn.Module) -> bool:
        return any(isinstance(m, nn.BatchNorm1d) for m in module.modules())

    assert has_norm(model.student.encoder) == norm
    assert has_norm(model.student.projector) == has_norm(model.student.predictor) == (not norm)


def test_own_encoder_is_copied() -> None:
    own = nn.Linear(1, 1)
    own.out_dim = 4
    model = build_model(Config(**TINY), 1, own)
    assert model.student.encoder is not own
    assert torch.equal(model.student.encoder.weight, own.weight)
    assert model.student.projector[0].in_features == 4


@pytest.mark.parametrize("width", [None, 0, 2.5, "8"])
def test_own_encoder_must_say_its_width(width: object) -> None:
    own = nn.Linear(1, 1)
    own.out_dim = width
    with pytest.raises(ConfigError, match=f"out_dim={width!r}"):
        build_model(Config(**TINY), 1, own)


def test_unknown_readout_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'readout'.*'median'"):
        build_model(Config(**TINY, readout="median"), IN_DIM)
