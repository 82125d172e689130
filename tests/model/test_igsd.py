from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel, MLPHead, Student, ema_update, mix
from igsd.model.network import Dims, Step
from igsd.settings.igsd import Config
from igsd.training.loop import trainable
from igsd.views.source import Source
from tests.small_graphs import HOST, TINY, make_batch, make_graphs


class SumEncoder(nn.Module):
    """The sum of a graph's node features."""

    def forward(self, batch: Batch) -> Tensor:
        return batch.x.new_zeros(batch.num_graphs, batch.x.shape[1]).index_add(
            0, batch.batch, batch.x
        )


class Times(nn.Module):
    """Multiplies by a number that is learned."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(factor))

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x


def test_encoder_then_projector_then_predictor(graphs: GraphSet) -> None:
    batch = make_batch(graphs)
    h = SumEncoder()(batch)
    student = Student(SumEncoder(), Times(2.0), Times(5.0))
    torch.testing.assert_close(student(batch), 10 * h)
    assert {name for name, _ in student.named_parameters()} == {
        "projector.factor",
        "predictor.factor",
    }


def test_heads_may_be_left_out(graphs: GraphSet) -> None:
    batch = make_batch(graphs)
    student = Student(SumEncoder(), nn.Identity(), nn.Identity())
    torch.testing.assert_close(student(batch), SumEncoder()(batch))


def test_the_gradient_reaches_every_part(graphs: GraphSet) -> None:
    student = Student(SumEncoder(), Times(2.0), Times(5.0))
    student(make_batch(graphs)).sum().backward()
    assert all(p.grad is not None and p.grad != 0 for p in student.parameters())


GRAPHS = make_graphs()
FEATURES = FeatureMap.fit(GRAPHS)


def build(encoder: nn.Module | None = None, **changes: object) -> IGSDModel:
    """Return a small untrained model, some settings changed."""
    return IGSDModel(Config(**(TINY | changes)), Dims(FEATURES, encoder=encoder))


def moved(model: IGSDModel) -> IGSDModel:
    """Return the model with a student that differs from its teacher."""
    with torch.no_grad():
        for parameter in model.student.parameters():
            parameter.add_(0.1)
    return model.eval()


@pytest.fixture
def batch() -> Batch:
    return make_batch(GRAPHS)


@pytest.fixture
def model() -> IGSDModel:
    return build()


def test_starts_as_the_student(model: IGSDModel, batch: Batch) -> None:
    student, teacher = model.student.state_dict(), model.teacher.state_dict()
    assert set(teacher) == {name for name in student if not name.startswith("predictor.")}
    assert all(torch.equal(teacher[name], student[name]) for name in teacher)
    assert all(
        a is not b
        for a, b in zip(model.teacher.parameters(), model.student.parameters(), strict=False)
    )


def test_takes_no_gradient(model: IGSDModel, batch: Batch) -> None:
    outputs = model.compare(batch, [batch])[0]
    assert not outputs.z.requires_grad
    assert not outputs.z_view.requires_grad
    assert outputs.p.requires_grad
    assert outputs.p_view.requires_grad
    (outputs.p - outputs.z).square().sum().backward()
    assert all(p.grad is None and not p.requires_grad for p in model.teacher.parameters())


def test_the_optimiser_never_holds_it(model: IGSDModel) -> None:
    teacher = {id(p) for p in model.teacher.parameters()}
    chosen = {id(p) for p in trainable(model)}
    assert chosen == {id(p) for p in model.student.parameters()}
    assert not chosen & teacher


@pytest.mark.parametrize(("decay", "steps"), [(0.9, 1), (0.99, 7), (0.0, 2), (1.0, 3)])
def test_closed_form_after_k_updates(decay: float, steps: int) -> None:
    # With a student that stands still: teacher_k = tau^k teacher_0 + (1 - tau^k) student.
    generator = torch.Generator().manual_seed(0)
    student, teacher = nn.Linear(3, 2).double(), nn.Linear(3, 2).double()
    with torch.no_grad():
        for parameter in (*student.parameters(), *teacher.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    start = copy.deepcopy(teacher)
    for _ in range(steps):
        ema_update(teacher, student, decay)
    for now, first, target in zip(
        teacher.parameters(), start.parameters(), student.parameters(), strict=True
    ):
        expected = decay**steps * first + (1 - decay**steps) * target
        torch.testing.assert_close(now, expected, rtol=1e-12, atol=1e-12)


def test_a_moving_student_is_averaged_with_falling_weights() -> None:
    student, teacher = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    nn.init.constant_(teacher.weight, 8.0)
    for value in (0.0, 4.0, 2.0):
        nn.init.constant_(student.weight, value)
        ema_update(teacher, student, 0.5)
    assert teacher.weight.item() == 8 / 8 + 0 / 8 + 4 / 4 + 2 / 2


def test_update_moves_encoder_and_projector_and_leaves_the_student(model: IGSDModel) -> None:
    with torch.no_grad():
        for parameter in model.student.parameters():
            parameter.add_(1.0)
    before = copy.deepcopy(model.student.state_dict())
    start = [p.clone() for p in model.teacher.parameters()]
    model.teacher.update(model.student, 0.75)
    for now, first in zip(model.teacher.parameters(), start, strict=True):
        torch.testing.assert_close(now, first + 0.25)
    assert all(torch.equal(v, before[k]) for k, v in model.student.state_dict().items())


def test_batch_norm_statistics_are_the_teachers_own(model: IGSDModel, batch: Batch) -> None:
    model.train()
    model.student(batch)
    fresh = {k: v.clone() for k, v in model.teacher.named_buffers()}
    assert not torch.equal(
        dict(model.student.named_buffers())["encoder.layers.0.norm.running_mean"],
        fresh["encoder.layers.0.norm.running_mean"],
    )
    model.teacher.update(model.student, 0.5)
    assert all(torch.equal(v, fresh[k]) for k, v in model.teacher.named_buffers())
    model.teacher(batch)
    assert all(not torch.equal(v, fresh[k]) for k, v in model.teacher.named_buffers())


def test_mix_by_hand() -> None:
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -2.0])
    assert mix(a, b, 0.25).tolist() == [2.5, -1.0]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_embedding_mixes_both_encoders(batch: Batch, weight: float) -> None:
    model = moved(build(mix_weight=weight))
    expected = weight * model.student.encoder(batch) + (1 - weight) * model.teacher.encoder(batch)
    step = Step(Source(GRAPHS, FEATURES, HOST), (np.arange(len(GRAPHS)),))
    torch.testing.assert_close(model.embed(step), expected)
    assert model.out_dim == expected.shape[1]


def test_embedding_of_graph_and_view_side_by_side(batch: Batch) -> None:
    model, config = moved(build(embed_views="both")), Config(embed_views="both")
    source = Source(GRAPHS, FEATURES, HOST, view=config, cache=False)
    step = Step(source, (np.arange(len(GRAPHS)),))
    found = model.embed(step)
    assert found.shape == (len(GRAPHS), model.out_dim)
    expected = torch.cat(
        [
            mix(model.student.encoder(seen), model.teacher.encoder(seen), 0.5)
            for seen in (batch, step.views[0])
        ],
        dim=1,
    )
    torch.testing.assert_close(found, expected)


def test_each_view_has_its_outputs(batch: Batch) -> None:
    model, other = moved(build()), batch.with_adjacency(batch.adjacency)
    first, second = model.compare(batch, [batch, other])
    torch.testing.assert_close(first.p, first.p_view)
    assert first.p is second.p  # graphs are encoded once, whatever the number of views
    assert first.z is second.z
    torch.testing.assert_close(first.z, model.teacher(batch))
    torch.testing.assert_close(first.p, model.student(batch))


@pytest.mark.parametrize("projector", [True, False])
@pytest.mark.parametrize("predictor", [True, False])
def test_heads_can_be_switched_off(projector: bool, predictor: bool) -> None:
    model = build(projector=projector, predictor=predictor)
    batch = make_batch(GRAPHS)
    outputs = model.compare(batch, [batch])[0]
    width = 8 if projector else model.student.encoder.out_dim
    assert outputs.p.shape == outputs.z.shape == (10, width)
    assert isinstance(model.student.projector, MLPHead) == projector
    assert isinstance(model.student.predictor, MLPHead) == predictor


def test_without_heads_the_student_predicts_its_representation() -> None:
    model = build(projector=False, predictor=False).eval()
    batch = make_batch(GRAPHS)
    assert torch.equal(model.student(batch), model.student.encoder(batch))


@pytest.mark.parametrize("norm", [True, False])
def test_batch_norm_follows_its_two_settings(norm: bool) -> None:
    model = build(encoder_batch_norm=norm, head_batch_norm=not norm)

    def has_norm(module: nn.Module) -> bool:
        return any(isinstance(m, nn.BatchNorm1d) for m in module.modules())

    assert has_norm(model.student.encoder) == norm
    assert has_norm(model.student.projector) == has_norm(model.student.predictor) == (not norm)


def test_own_encoder_is_copied() -> None:
    own = nn.Linear(1, 1)
    own.out_dim = 4
    model = build(own)
    assert model.student.encoder is not own
    assert torch.equal(model.student.encoder.weight, own.weight)
    assert model.student.projector[0].in_features == 4


@pytest.mark.parametrize("width", [None, 0, 2.5, "8"])
def test_own_encoder_must_say_its_width(width: object) -> None:
    own = nn.Linear(1, 1)
    own.out_dim = width
    with pytest.raises(ConfigError, match=f"out_dim={width!r}"):
        build(own)


def test_own_encoder_must_be_a_module() -> None:
    with pytest.raises(ConfigError, match=r"must be an nn.Module.*type Fraction instead"):
        build(lambda width: Fraction(width))


def test_unknown_readout_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'readout'.*'median'"):
        build(readout="median")
