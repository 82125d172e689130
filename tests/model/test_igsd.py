from __future__ import annotations

import pytest
import torch

from igsd.config import Config
from igsd.graphs.batch import Batch
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel, mix
from tests.small_graphs import TINY, make_batch, make_graphs


@pytest.fixture
def batch() -> Batch:
    return make_batch(make_graphs())


@pytest.fixture
def model(batch: Batch) -> IGSDModel:
    model = build_model(Config(**TINY), batch.x.shape[1])
    with torch.no_grad():
        for parameter in model.student.parameters():
            parameter.add_(0.1)  # so that student and teacher differ
    return model.eval()


def test_mix_by_hand() -> None:
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -2.0])
    assert mix(a, b, 0.25).tolist() == [2.5, -1.0]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_embedding_mixes_both_encoders(model: IGSDModel, batch: Batch, weight: float) -> None:
    student, teacher = model.student.encoder(batch), model.teacher.encoder(batch)
    expected = weight * student + (1 - weight) * teacher
    embedding = model.embed(batch, weight)
    torch.testing.assert_close(embedding, expected)
    assert not embedding.requires_grad


def test_each_view_has_its_outputs(model: IGSDModel, batch: Batch) -> None:
    other = batch.with_adjacency(batch.adjacency)
    first, second = model(batch, [batch, other])
    torch.testing.assert_close(first.p, first.p_view)
    assert first.p is second.p  # graphs are encoded once, whatever the number of views
    assert first.z is second.z
    torch.testing.assert_close(first.z, model.teacher(batch))
    torch.testing.assert_close(first.p, model.student(batch))
