from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from igsd.config_semi import SemiConfig, SemiRegressionConfig
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.training.graph_source import GraphSource
from igsd.training.label_batches import LabelBatch
from igsd.training.label_task import LabelStep
from igsd.training.semi_supervised import SemiSupervisedIGSD, SemiSupervisedObjective
from tests.reference import losses as reference
from tests.small_graphs import HOST, TINY, make_graphs

LABELS = torch.tensor([0, 1, 0, 1, 0])


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(12)


def step_of(num_pseudo: int = 0) -> LabelStep:
    """Return a step with all five labelled graphs, some pseudo-labels, and four others."""
    pseudo = torch.arange(num_pseudo) % 2
    counts = torch.stack([LABELS.bincount(), torch.bincount(pseudo, minlength=2)])
    return LabelStep(
        graphs=LabelBatch(np.arange(5), np.arange(5, 5 + num_pseudo), np.arange(8, 12)),
        targets=LABELS,
        pseudo=pseudo,
        pool_sizes=(5, num_pseudo),
        class_counts=counts,
        epoch=0,
        step=0,
    )


def objective(graphs: GraphSet, **changes: Any) -> SemiSupervisedObjective:
    plain = {"encoder_batch_norm": False, "head_batch_norm": False, "head_norm": False}
    settings = TINY | plain | changes
    config = SemiConfig(**settings)
    features = FeatureMap.fit(graphs)
    method = SemiSupervisedIGSD()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = method.build(config, features.dim, 2)
    source = GraphSource(graphs, features, HOST, view=method.view(config), cache=False)
    return SemiSupervisedObjective(config, network, network, source)


def expected_parts(made: SemiSupervisedObjective, num_pseudo: int) -> tuple[Any, Any]:
    """Return (Eq. InfoNCE over all graphs, Eq. supcon over the labelled), by plain loops."""
    step = step_of(num_pseudo)
    everyone = np.concatenate(step.graphs)
    batch, views = made.source.with_views(everyone, (0, 0))
    _, (outputs,) = made.network(batch, views, 5)
    p, p_view, z, z_view = (rows.detach().double().tolist() for rows in outputs)
    infonce = reference.infonce(reference.consistency(p, p_view, z, z_view), 0.2)
    count = 5 + num_pseudo
    labels = [*LABELS.tolist(), *step.pseudo.tolist()]
    columns = [rows[:count] for rows in (p, p_view, z, z_view)]
    pulled = reference.supcon(columns[0], [columns[1]], columns[2], [columns[3]], labels)
    return infonce, pulled / count


@pytest.mark.parametrize("num_pseudo", [0, 3])
def test_the_parts_of_eq_semi(graphs: GraphSet, num_pseudo: int) -> None:
    made = objective(graphs, self_weight=0.5, supcon_weight=2.0)
    losses = made.losses(step_of(num_pseudo))
    infonce, pulled = expected_parts(made, num_pseudo)
    outputs = made.network.outputs(made.source.batch(np.arange(5)))
    entropy = torch.nn.functional.cross_entropy(outputs, LABELS).item()
    assert losses["supervised"].item() == pytest.approx(entropy, rel=1e-5)
    assert losses["selfsup"].item() == pytest.approx(infonce, rel=1e-5)
    assert losses["supcon"].item() == pytest.approx(pulled, rel=1e-5)
    total = entropy + 0.5 * infonce + 2.0 * pulled
    assert losses["total"].item() == pytest.approx(total, rel=1e-5)


def test_pseudo_labels_may_feed_cross_entropy(graphs: GraphSet) -> None:
    made = objective(graphs, pseudo_labels_for="cross-entropy")
    step = step_of(3)
    outputs = made.network.outputs(made.source.batch(np.arange(8)))
    labels = torch.cat([LABELS, step.pseudo])
    expected = torch.nn.functional.cross_entropy(outputs, labels)
    losses = made.losses(step)
    assert losses["supervised"].item() == pytest.approx(expected.item(), rel=1e-5)
    # Eq. supcon then keeps to the true labels.
    _, pulled = expected_parts(made, 0)
    assert losses["supcon"].item() == pytest.approx(pulled, rel=1e-5)


def test_parts_without_a_weight_are_not_computed(graphs: GraphSet) -> None:
    made = objective(graphs, self_weight=0.0, supcon_weight=0.0)
    assert set(made.losses(step_of())) == {"supervised", "total"}
    assert SemiSupervisedIGSD.view(made.config) is None
    assert not made.uses_unlabelled
    assert objective(graphs, self_weight=0.1).uses_unlabelled


def test_the_teacher_follows(graphs: GraphSet) -> None:
    made = objective(graphs, ema_decay=0.75)
    student = made.network.igsd.student.encoder.layers[0].first.weight
    teacher = made.network.igsd.teacher.encoder.layers[0].first.weight
    with torch.no_grad():
        student += 1.0
    before = teacher.clone()
    made.after_step()
    torch.testing.assert_close(teacher, 0.75 * before + 0.25 * student)


def test_numbers_have_no_supcon(graphs: GraphSet) -> None:
    config = SemiRegressionConfig(**TINY)
    features = FeatureMap.fit(graphs)
    network = SemiSupervisedIGSD.build(config, features.dim, 1)
    source = GraphSource(graphs, features, HOST, view=SemiSupervisedIGSD.view(config), cache=False)
    made = SemiSupervisedObjective(config, network, network, source)
    numbers = torch.arange(5.0).unsqueeze(1)
    step = LabelStep(
        step_of().graphs, numbers, torch.zeros(0), (5, 0), torch.zeros(2, 0), epoch=0, step=0
    )
    assert set(made.losses(step)) == {"supervised", "selfsup", "total"}
