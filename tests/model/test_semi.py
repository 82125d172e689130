from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from igsd.batches.features import FeatureMap
from igsd.model.igsd import OutputHead, SemiModel, mix
from igsd.model.network import Dims, Step, StepLabels
from igsd.settings.igsd import SemiConfig, SemiRegressionConfig
from igsd.views.source import Source
from tests.reference import losses as reference
from tests.small_graphs import HOST, TINY, make_graphs

GRAPHS = make_graphs(12)
FEATURES = FeatureMap.fit(GRAPHS)
LABELS = torch.tensor([0, 1, 0, 1, 0])
PLAIN = {"encoder_batch_norm": False, "head_batch_norm": False, "head_norm": False}


def build(num_outputs: int = 2, **changes: Any) -> SemiModel:
    """Return a small untrained model, in training mode, without BatchNorm."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return SemiModel(SemiConfig(**(TINY | PLAIN | changes)), Dims(FEATURES, num_outputs))


def graphs_of(*pools: np.ndarray, labels: StepLabels | None = None) -> Step:
    """Return a step with these graphs and their PPR views."""
    source = Source(GRAPHS, FEATURES, HOST, view=SemiConfig(), cache=False)
    return Step(source, pools, labels=labels)


def step_of(num_pseudo: int = 0) -> Step:
    """Return a step with all five labelled graphs, some pseudo-labels, and four others."""
    pseudo = torch.arange(num_pseudo) % 2
    counts = torch.stack([LABELS.bincount(), torch.bincount(pseudo, minlength=2)])
    labels = StepLabels(LABELS, pseudo, (5, num_pseudo), counts)
    pools = np.arange(5), np.arange(5, 5 + num_pseudo), np.arange(8, 12)
    return graphs_of(*pools, labels=labels)


class TestOutputs:
    def test_they_come_from_the_mixed_representations(self) -> None:
        model, step = build(3, mix_weight=0.3).eval(), graphs_of(np.arange(6))
        for weights in model.igsd.teacher.parameters():
            weights.mul_(0.5)
        student = model.igsd.student.encoder(step.batch)
        mixed = mix(student, model.igsd.teacher.encoder(step.batch), 0.3)
        torch.testing.assert_close(model.outputs(step), model.head(mixed))
        torch.testing.assert_close(model.embed(step), mixed)
        assert model.outputs(step).shape == (6, 3)
        assert model.out_dim == student.shape[1]

    def test_without_views_the_student_predicts_alone(self) -> None:
        model, step = build(3, supcon_weight=0.0).eval(), graphs_of(np.arange(6))
        for weights in model.igsd.teacher.parameters():
            weights.mul_(0.5)
        student = model.igsd.student.encoder(step.batch)
        torch.testing.assert_close(model.outputs(step), model.head(student))


def expected_parts(model: SemiModel, num_pseudo: int) -> tuple[float, float]:
    """Return (Eq. InfoNCE over all graphs, Eq. supcon over the labelled), by plain loops."""
    step = step_of(num_pseudo)
    (outputs,) = model.igsd.compare(step.batch, step.views)
    p, p_view, z, z_view = (rows.detach().double().tolist() for rows in outputs)
    infonce = reference.infonce(reference.consistency(p, p_view, z, z_view), 0.2)
    count = 5 + num_pseudo
    labels = [*LABELS.tolist(), *step.labels.pseudo.tolist()]
    columns = [rows[:count] for rows in (p, p_view, z, z_view)]
    pulled = reference.supcon(columns[0], [columns[1]], columns[2], [columns[3]], labels)
    return infonce, pulled / count


def entropy_of(model: SemiModel, labels: torch.Tensor) -> float:
    """Return the cross entropy of the student's outputs of the first graphs."""
    batch = graphs_of(np.arange(len(labels))).batch
    return cross_entropy(model.head(model.igsd.student.encoder(batch)), labels).item()


class TestLosses:
    @pytest.mark.parametrize("num_pseudo", [0, 3])
    def test_the_parts_of_eq_semi(self, num_pseudo: int) -> None:
        model = build(self_weight=0.5, supcon_weight=2.0)
        losses = model(step_of(num_pseudo))
        infonce, pulled = expected_parts(model, num_pseudo)
        entropy = entropy_of(model, LABELS)
        assert losses["supervised"].item() == pytest.approx(entropy, rel=1e-5)
        assert losses["selfsup"].item() == pytest.approx(infonce, rel=1e-5)
        assert losses["supcon"].item() == pytest.approx(pulled, rel=1e-5)
        total = entropy + 0.5 * infonce + 2.0 * pulled
        assert losses["total"].item() == pytest.approx(total, rel=1e-5)

    def test_pseudo_labels_may_feed_cross_entropy(self) -> None:
        model, step = build(pseudo_labels_for="cross-entropy"), step_of(3)
        losses = model(step)
        expected = entropy_of(model, torch.cat([LABELS, step.labels.pseudo]))
        assert losses["supervised"].item() == pytest.approx(expected, rel=1e-5)
        # Eq. supcon then keeps to the true labels.
        _, pulled = expected_parts(model, 0)
        assert losses["supcon"].item() == pytest.approx(pulled, rel=1e-5)

    def test_parts_without_a_weight_are_not_computed(self) -> None:
        model = build(self_weight=0.0, supcon_weight=0.0)
        step = step_of()
        assert set(model(step)) == {"supervised", "total"}
        assert "views" not in vars(step)  # a cached property: nobody has asked for them
        assert not model.uses_unlabelled
        assert not model.needs_views
        assert build(self_weight=0.1).uses_unlabelled
        assert build(supcon_weight=0.1).needs_views

    def test_numbers_have_no_supcon(self) -> None:
        model = SemiModel(SemiRegressionConfig(**TINY), Dims(FEATURES, 1))
        labels = StepLabels(
            torch.arange(5.0).unsqueeze(1), torch.zeros(0), (5, 0), torch.zeros(2, 0)
        )
        step = graphs_of(np.arange(5), np.arange(0), np.arange(8, 12), labels=labels)
        assert set(model(step)) == {"supervised", "selfsup", "total"}

    def test_a_step_without_labels_says_so(self) -> None:
        with pytest.raises(TypeError, match="no labels"):
            build()(graphs_of(np.arange(5), np.arange(0), np.arange(8, 12)))


def test_the_teacher_follows_and_takes_no_gradient() -> None:
    model = build(ema_decay=0.75)
    model(step_of())["total"].backward()
    assert all(p.grad is None and not p.requires_grad for p in model.igsd.teacher.parameters())
    student = model.igsd.student.encoder.layers[0].first.weight
    teacher = model.igsd.teacher.encoder.layers[0].first.weight
    with torch.no_grad():
        student += 1.0
    before = teacher.clone()
    model.after_step()
    torch.testing.assert_close(teacher, 0.75 * before + 0.25 * student)


def test_the_output_layer_sees_columns_of_one_scale() -> None:
    head = OutputHead(3, 2, SemiConfig())
    torch.nn.init.eye_(head[-1].weight)
    torch.nn.init.zeros_(head[-1].bias)
    rows = torch.tensor([[1.0, 1e6, 3.0], [3.0, 5e6, 3.0]])
    torch.testing.assert_close(head(rows), torch.tensor([[-1.0, -1.0], [1.0, 1.0]]))
    assert torch.isfinite(head(rows[:1])).all()
    assert not any(
        isinstance(part, torch.nn.BatchNorm1d)
        for part in OutputHead(3, 2, SemiConfig(head_norm=False))
    )


def test_one_step_is_enough_for_the_statistics_of_the_columns() -> None:
    head = OutputHead(2, 2, SemiConfig())
    rows = torch.tensor([[100.0, -7.0], [104.0, -3.0], [96.0, -5.0]])
    head(rows)
    norm = head[0]
    torch.testing.assert_close(norm.running_mean, rows.mean(dim=0))
    torch.testing.assert_close(norm.running_var, rows.var(dim=0))
    for _ in range(20):
        head(rows)
    assert norm.momentum == 0.1
