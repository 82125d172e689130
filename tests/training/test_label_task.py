from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from igsd.config_semi import SemiConfig
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.training.graph_source import GraphSource
from igsd.training.label_batches import LabelBatch
from igsd.training.label_task import LabelModule, LabelStep, LabelTask
from igsd.training.labels import Labels
from tests.small_graphs import HOST, make_graphs

GRAPHS = make_graphs(12)
CODES = np.array([0, 1] * 3 + [-1] * 6)
ROUNDS = {"self_training_start": 1, "self_training_rounds": 1, "self_training_threshold": 0.9}


class SureNetwork(nn.Module):
    """Says with certainty that every graph is of class 1."""

    def outputs(self, batch: Batch) -> Tensor:
        """Return the logits [B, 2]."""
        return torch.tensor([[-9.0, 9.0]]).repeat(batch.num_graphs, 1)


class Watching:
    """An objective that keeps the steps it is asked for."""

    uses_unlabelled = True

    def __init__(self) -> None:
        self.steps: list[LabelStep] = []

    def losses(self, step: LabelStep) -> dict[str, Tensor]:
        self.steps.append(step)
        return {"total": torch.zeros(())}

    def after_step(self) -> None:
        """Do nothing."""


def task_of(values: np.ndarray = CODES, **changes: Any) -> tuple[LabelTask, Watching]:
    config = SemiConfig(**({"epochs": 4, "label_batch_size": 3, "batch_size": 4} | changes))
    source = GraphSource(GRAPHS, FeatureMap.fit(GRAPHS), HOST)
    one = nn.Parameter(torch.zeros(1))
    groups = [{"params": [one], "share": 1.0}, {"params": [nn.Parameter(one)], "share": 0.5}]
    optimizer = torch.optim.SGD(groups, lr=1.0)
    watching, labels = Watching(), Labels(values, 2 if values.ndim == 1 else values.shape[1])
    module = LabelModule(SureNetwork(), len(GRAPHS))
    return LabelTask(module, watching, labels, source, optimizer, config), watching


def test_an_epoch_is_one_pass_over_the_labelled_graphs() -> None:
    task, watching = task_of(self_training=False)
    assert task.num_steps(0) == 2
    for step in range(2):
        task.losses(0, step)
    seen = np.concatenate([step.graphs.labelled for step in watching.steps])
    assert sorted(seen.tolist()) == list(range(6))
    for step in watching.steps:
        assert step.targets.tolist() == CODES[step.graphs.labelled].tolist()
        assert (step.graphs.unlabelled >= 6).all()
        assert step.pool_sizes == (6, 0)
        assert step.class_counts.tolist() == [[3, 3], [0, 0]]


def test_a_round_gives_labels_once_and_to_graphs_without_one() -> None:
    task, watching = task_of(**ROUNDS, self_training_share=1.0)
    task.losses(0, 0)
    assert len(task.module.pseudo.graphs) == 0
    task.losses(task.starts[0], 0)
    given = task.module.pseudo.graphs
    assert len(given) > 0
    assert (given >= 6).all()
    step = watching.steps[-1]
    assert step.pool_sizes == (6, len(given))
    assert set(step.graphs.pseudo) <= set(given)
    assert step.pseudo.unique().tolist() == [1]
    assert not set(step.graphs.unlabelled) & set(given)
    task.losses(task.starts[0], 1)
    assert np.array_equal(task.module.pseudo.graphs, given)


def test_numbers_have_no_classes_to_count() -> None:
    values = np.where(np.arange(12) < 6, 1.5, np.nan)[:, None].astype(np.float32)
    task, watching = task_of(values, self_training=False)
    task.losses(0, 0)
    (step,) = watching.steps
    assert step.class_counts.shape == (2, 0)
    assert step.targets.shape == (3, 1)


def test_the_step_size_halves_and_groups_have_their_share() -> None:
    task, _ = task_of(self_training=False, learning_rate=0.8, halve_every=2)
    found = []
    for epoch in range(4):
        task.losses(epoch, 0)
        found.append([group["lr"] for group in task.optimizer.param_groups])
    assert np.allclose(found, [[0.8, 0.4], [0.8, 0.4], [0.4, 0.2], [0.4, 0.2]])


@pytest.mark.parametrize("with_pseudo", [True, False])
def test_the_supervised_loss_is_the_mean_over_both_pools(with_pseudo: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    outputs = torch.randn(5, 2, generator=generator)
    targets, pseudo = torch.tensor([0, 1, 1]), torch.tensor([1, 0])
    step = LabelStep(
        graphs=LabelBatch(np.arange(3), np.arange(3, 5), np.arange(0)),
        targets=targets,
        pseudo=pseudo,
        pool_sizes=(30, 10),
        class_counts=torch.zeros(2, 2),
        epoch=0,
        step=0,
    )
    entropy = torch.nn.functional.cross_entropy
    expected = entropy(outputs[:3], targets)
    if with_pseudo:
        expected = 0.75 * expected + 0.25 * entropy(outputs[3:], pseudo)
    torch.testing.assert_close(step.supervised(outputs, with_pseudo=with_pseudo), expected)
