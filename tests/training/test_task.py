from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from igsd.batches.batch import chunks
from igsd.batches.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel
from igsd.model.network import Dims, Network, Step
from igsd.settings.igsd import Config, SemiConfig
from igsd.training import task as training_task
from igsd.training.task import (
    LabelModule,
    Task,
    TrainingLabels,
    epoch_batches,
    learning_rate_at,
    predict_outputs,
)
from igsd.views.source import Source
from tests.reference import losses as reference
from tests.small_graphs import HOST, make_graphs
from tests.training.runs import tiny

ONE_PROCESS: Any = SimpleNamespace(global_rank=0, world_size=1)


def test_classes() -> None:
    labels = TrainingLabels(np.array([1, -1, 0, -1]), 2)
    assert labels.are_classes
    assert labels.labelled.tolist() == [0, 2]
    assert labels.unlabelled.tolist() == [1, 3]


def test_a_graph_with_one_of_its_numbers_has_a_label() -> None:
    nan = np.nan
    labels = TrainingLabels(np.array([[1, nan], [nan, nan], [2, 3]], np.float32), 2)
    assert not labels.are_classes
    assert labels.labelled.tolist() == [0, 2]


def test_checksum() -> None:
    a, b = TrainingLabels(np.array([0, 1, -1]), 2), TrainingLabels(np.array([0, 1, 1]), 2)
    assert a.checksum == TrainingLabels(np.array([0, 1, -1]), 2).checksum != b.checksum


class TestWithoutLabels:
    def task(self, graphs: GraphSet) -> Task:
        features, settings = FeatureMap.fit(graphs), tiny(seed=3, temperature=0.7, ema_decay=0.5)
        model = IGSDModel(settings, Dims(features))
        source = Source(graphs, features, HOST, view=settings, seed=3, cache=False)
        optimizer = SimpleNamespace(param_groups=[])
        return Task(model, model, optimizer, source, settings, ONE_PROCESS)

    def test_the_loss_of_a_step_equals_the_plain_loop(self, graphs: GraphSet) -> None:
        task = self.task(graphs)
        task.module.eval()
        step = Step(task.source, [epoch_batches(len(graphs), 4, 3, 1)[2]])
        outputs = task.network.compare(step.batch, step.views)[0]
        table = reference.consistency(*(part.tolist() for part in outputs))
        losses = task.losses(1, 2)
        assert set(losses) == {"total"}
        assert losses["total"].item() == pytest.approx(reference.infonce(table, 0.7), rel=1e-4)

    def test_number_of_steps(self, graphs: GraphSet) -> None:
        assert self.task(graphs).num_steps(0) == 3

    def test_the_teacher_follows_after_a_step(self, graphs: GraphSet) -> None:
        task = self.task(graphs)
        with torch.no_grad():
            for parameter in task.network.student.parameters():
                parameter.add_(1.0)
        before = [p.clone() for p in task.network.teacher.parameters()]
        task.after_step()
        for now, old in zip(task.network.teacher.parameters(), before, strict=True):
            torch.testing.assert_close(now, old + 0.5)


GRAPHS = make_graphs(12)
CODES = np.array([0, 1] * 3 + [-1] * 6)
ROUNDS = {"self_training_start": 1, "self_training_rounds": 1, "self_training_threshold": 0.9}


class SureNetwork(Network):
    """Says with certainty that every graph is of class 1, and keeps the steps it is fed."""

    def __init__(self) -> None:
        super().__init__(SemiConfig(), Dims(FeatureMap.fit(GRAPHS), 2))
        self.steps: list[Step] = []

    def outputs(self, step: Step) -> Tensor:
        """Return the logits [B, 2]."""
        return torch.tensor([[-9.0, 9.0]]).repeat(len(step.indices), 1)

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return a loss of nothing."""
        self.steps.append(step)
        return {"total": torch.zeros(())}


class TestWithLabels:
    def task(self, values: np.ndarray = CODES, **changes: Any) -> tuple[Task, list[Step]]:
        config = SemiConfig(**({"epochs": 4, "label_batch_size": 3, "batch_size": 4} | changes))
        source = Source(GRAPHS, FeatureMap.fit(GRAPHS), HOST)
        optimizer = SimpleNamespace(param_groups=[{"share": 1.0}, {"share": 0.5}])
        labels = TrainingLabels(values, 2 if values.ndim == 1 else values.shape[1])
        network = SureNetwork()
        module = LabelModule(network, len(GRAPHS))
        task = Task(module, module, optimizer, source, config, ONE_PROCESS, labels)
        return task, network.steps

    def test_an_epoch_is_one_pass_over_the_labelled_graphs(self) -> None:
        task, steps = self.task(self_training=False)
        assert task.num_steps(0) == 2
        for number in range(2):
            task.losses(0, number)
        assert [step.place for step in steps] == [(0, 0), (0, 1)]
        seen = np.concatenate([step.pools[0] for step in steps])
        assert sorted(seen.tolist()) == list(range(6))
        for step in steps:
            labelled, _, unlabelled = step.pools
            assert step.labels.targets.tolist() == CODES[labelled].tolist()
            assert len(unlabelled) > 0
            assert (unlabelled >= 6).all()
            assert step.labels.pool_sizes == (6, 0)
            assert step.labels.class_counts.tolist() == [[3, 3], [0, 0]]

    def test_a_network_that_has_no_use_for_unlabelled_graphs_gets_none(self) -> None:
        task, steps = self.task(self_training=False)
        task.network.uses_unlabelled = False
        task.losses(0, 0)
        assert [len(pool) for pool in steps[0].pools] == [3, 0, 0]

    def test_a_round_gives_labels_once_and_to_graphs_without_one(self) -> None:
        task, steps = self.task(**ROUNDS, self_training_share=1.0)
        store = task.module.pseudo
        task.losses(0, 0)
        assert len(store.graphs) == 0
        task.losses(task.starts[0], 0)
        given = store.graphs
        assert len(given) > 0
        assert (given >= 6).all()
        labels, (_, pseudo, unlabelled) = steps[-1].labels, steps[-1].pools
        assert labels.pool_sizes == (6, len(given))
        assert set(pseudo) <= set(given)
        assert labels.pseudo.unique().tolist() == [1]
        assert labels.class_counts.tolist() == [[3, 3], [0, len(given)]]
        assert not set(unlabelled) & set(given)
        task.losses(task.starts[0], 1)
        assert np.array_equal(store.graphs, given)

    def test_numbers_have_no_classes_to_count(self) -> None:
        values = np.where(np.arange(12) < 6, 1.5, np.nan)[:, None].astype(np.float32)
        task, steps = self.task(values, self_training=False)
        task.losses(0, 0)
        assert steps[0].labels.class_counts.shape == (2, 0)
        assert steps[0].labels.targets.shape == (3, 1)

    def test_the_step_size_halves_and_groups_have_their_share(self) -> None:
        task, _ = self.task(self_training=False, learning_rate=0.8, halve_every=2)
        found = []
        for epoch in range(4):
            task.losses(epoch, 0)
            found.append([group["lr"] for group in task.optimizer.param_groups])
        assert np.allclose(found, [[0.8, 0.4], [0.8, 0.4], [0.4, 0.2], [0.4, 0.2]])

    def test_the_step_size_follows_the_steps_of_an_epoch(self) -> None:
        task, _ = self.task(self_training=False, learning_rate=0.8, warmup_epochs=2, halve_every=0)
        rates = []
        for epoch in range(3):
            for step in range(2):
                task.losses(epoch, step)
                rates.append(task.optimizer.param_groups[0]["lr"])
        assert rates == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.8, 0.8])


class TestLearningRate:
    def rates(self, num_steps: int = 4, **changes: Any) -> list[float]:
        """Return the step size of every step of ten epochs."""
        settings = Config(epochs=10, learning_rate=0.1, **changes)
        places = [(epoch, step) for epoch in range(10) for step in range(num_steps)]
        return [
            learning_rate_at(settings, epoch, epoch + (step + 0.5) / num_steps)
            for epoch, step in places
        ]

    def test_constant(self) -> None:
        assert self.rates() == [0.1] * 40

    def test_halving(self) -> None:
        assert self.rates(1, halve_every=4) == pytest.approx([0.1] * 4 + [0.05] * 4 + [0.025] * 2)
        # Every step of an epoch has the same.
        assert self.rates(4, halve_every=4)[::4] == self.rates(1, halve_every=4)

    def test_warm_up_rises_in_equal_steps_and_stays(self) -> None:
        rates = self.rates(warmup_epochs=2)
        assert rates[:8] == pytest.approx([0.1 * (step + 0.5) / 8 for step in range(8)])
        assert rates[8:] == [0.1] * 32

    def test_cosine_falls_to_nothing(self) -> None:
        rates = self.rates(schedule="cosine")
        expected = [0.05 * (1 + math.cos(math.pi * (step + 0.5) / 40)) for step in range(40)]
        assert rates == pytest.approx(expected)
        assert all(a > b > 0 for a, b in itertools.pairwise(rates))
        assert rates[0] == pytest.approx(0.1, rel=0.01)
        assert (rates[19] + rates[20]) / 2 == pytest.approx(0.05)
        assert rates[-1] < 1e-3

    def test_cosine_begins_when_the_warm_up_is_over(self) -> None:
        rates = self.rates(schedule="cosine", warmup_epochs=2)
        assert rates[:8] == self.rates(warmup_epochs=2)[:8]
        expected = [0.05 * (1 + math.cos(math.pi * (step + 0.5) / 32)) for step in range(32)]
        assert rates[8:] == pytest.approx(expected)

    def test_a_warm_up_as_long_as_the_training(self) -> None:
        rates = self.rates(schedule="cosine", warmup_epochs=20)
        assert all(0 < a < b for a, b in itertools.pairwise(rates))


class SumNetwork(Network):
    """Two outputs of each graph, behind dropout and BatchNorm."""

    def __init__(self, in_dim: int) -> None:
        super().__init__(SemiConfig(), Dims(FeatureMap.fit(GRAPHS), 2))
        self.layers = nn.Sequential(nn.BatchNorm1d(in_dim), nn.Dropout(0.5), nn.Linear(in_dim, 2))

    def outputs(self, step: Step) -> Tensor:
        """Return a linear map of the sums over nodes."""
        batch = step.batch
        sums = batch.x.new_zeros(batch.num_graphs, batch.x.shape[1])
        return self.layers(sums.index_add(0, batch.batch, batch.x))


class TestPredictOutputs:
    @pytest.fixture
    def source(self) -> Source:
        return Source(GRAPHS, FeatureMap.fit(GRAPHS), HOST)

    def test_rows_in_the_order_asked_for_whatever_the_chunks(
        self, source: Source, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        network = SumNetwork(source.features.dim)
        whole = predict_outputs(network, source, np.arange(12))
        assert whole.shape == (12, 2)
        assert not whole.requires_grad
        monkeypatch.setattr(training_task, "chunks", lambda ptr: chunks(ptr, 9))
        order = np.array([7, 0, 3, 9, 9])
        torch.testing.assert_close(predict_outputs(network, source, order), whole[order])

    @pytest.mark.parametrize("mode", [True, False])
    def test_the_network_comes_back_as_it_was(self, source: Source, mode: bool) -> None:
        network = SumNetwork(source.features.dim).train(mode)
        before = {name: value.clone() for name, value in network.state_dict().items()}
        first = predict_outputs(network, source, np.arange(10))
        assert torch.equal(predict_outputs(network, source, np.arange(10)), first)
        assert network.training == mode
        after = network.state_dict()
        assert all(torch.equal(value, before[name]) for name, value in after.items())

    def test_a_failure_does_not_leave_it_in_another_mode(self, source: Source) -> None:
        network = SumNetwork(1)
        with pytest.raises(RuntimeError):
            predict_outputs(network, source, np.arange(3))
        assert network.training
