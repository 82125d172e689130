from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from igsd.baselines.neural.two_views import GraphCLConfig, GraphCLNetwork
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import GNNEncoder
from igsd.errors import ConfigError, DataError, IGSDWarning, TrainingError
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel
from igsd.model.network import Dims
from igsd.settings.groups import RANDOM_VIEWS
from igsd.settings.igsd import Config, SemiConfig
from igsd.training.fit import Fitted, fit
from igsd.training.task import Task, TrainingLabels
from tests.interrupted import after_steps
from tests.small_graphs import TINY, make_graphs
from tests.small_molecules import make_molecules
from tests.training.runs import (
    DroppingEncoder,
    PowerCutError,
    assert_same_run,
    losses_of,
    tiny,
    train,
    train_with_labels,
)


@pytest.mark.parametrize("changes", [{}, {"view": "edge-drop", "encoder": "gcn"}])
def test_same_seed_twice_gives_the_same_bits(graphs: GraphSet, changes: dict) -> None:
    assert_same_run(train(graphs, changes), train(graphs, changes))


def test_random_numbers_in_the_encoder_come_from_the_seed(graphs: GraphSet) -> None:
    torch.manual_seed(5)
    encoder = DroppingEncoder(tiny_width(graphs))
    first = train(graphs, encoder=encoder)
    torch.manual_seed(6)
    assert_same_run(first, train(graphs, encoder=encoder))


def test_other_seeds_give_other_numbers(graphs: GraphSet) -> None:
    a, b = train(graphs, {"seed": 1}), train(graphs, {"seed": 2})
    assert a.history != b.history
    assert not torch.equal(
        next(a.network.student.parameters()), next(b.network.student.parameters())
    )


def test_the_callers_random_state_is_untouched(graphs: GraphSet) -> None:
    torch.manual_seed(123)
    np.random.seed(123)
    torch_before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()
    train(graphs)
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    assert (np.random.get_state()[1] == numpy_before).all()


def test_history_has_a_line_per_epoch(graphs: GraphSet) -> None:
    history = train(graphs, {"epochs": 3}).history
    assert [entry["epoch"] for entry in history] == [0.0, 1.0, 2.0]
    assert all(set(entry) == {"epoch", "total"} for entry in history)


@pytest.mark.parametrize("view", ["ppr", "heat", *RANDOM_VIEWS])
def test_the_loss_falls_on_a_tiny_set(graphs: GraphSet, view: str) -> None:
    # Hidden features leave most of a graph as it is: that loss begins near its end.
    share = 0.9 if view == "attribute-mask" else 0.8
    changes = {"epochs": 12, "view": view, "learning_rate": 1e-2, "temperature": 1.0}
    losses = losses_of(train(graphs, changes))
    assert losses[-1] < share * losses[0]


def test_overfits_four_graphs(graphs: GraphSet) -> None:
    changes = {"epochs": 60, "learning_rate": 1e-2, "temperature": 0.2, "ema_decay": 0.9}
    assert losses_of(train(graphs.take(range(4)), changes))[-1] < 0.1


def test_no_epochs_give_the_untrained_encoder(graphs: GraphSet) -> None:
    fitted = train(graphs, {"epochs": 0})
    assert fitted.history == []
    assert not fitted.network.training
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        fresh = IGSDModel(tiny(), Dims(fitted.features))
    expected = fresh.state_dict()
    assert all(torch.equal(v, expected[k]) for k, v in fitted.network.state_dict().items())


def test_training_starts_from_the_untrained_encoder_and_ends_in_evaluation(
    graphs: GraphSet,
) -> None:
    before, after = train(graphs, {"epochs": 0}).network, train(graphs, {"epochs": 1}).network
    assert not after.training
    moved = [
        not torch.equal(a, b)
        for a, b in zip(before.student.parameters(), after.student.parameters(), strict=True)
    ]
    assert any(moved)


def test_the_teacher_lags_behind_the_student(graphs: GraphSet) -> None:
    still = train(graphs, {"ema_decay": 1.0})
    start = train(graphs, {"epochs": 0})
    for a, b in zip(
        still.network.teacher.parameters(), start.network.teacher.parameters(), strict=True
    ):
        assert torch.equal(a, b)
    follows = train(graphs, {"ema_decay": 0.0}).network
    for a, b in zip(
        follows.teacher.encoder.parameters(), follows.student.encoder.parameters(), strict=True
    ):
        torch.testing.assert_close(a, b)


def test_classes_are_never_read() -> None:
    assert_same_run(train(make_graphs(classes=True)), train(make_graphs(classes=False)))


def test_one_graph_is_refused(graphs: GraphSet) -> None:
    with pytest.raises(DataError, match="at least 2"):
        train(graphs.take([0]))


@pytest.mark.parametrize("num_graphs", [2, 3, 5])
def test_few_graphs_in_small_batches(num_graphs: int) -> None:
    losses_of(train(make_graphs(num_graphs), {"batch_size": 2}))


def test_odd_graphs_train(odd: GraphSet) -> None:
    for view in ("ppr", *RANDOM_VIEWS):
        losses_of(train(odd, {"view": view}))


def test_loss_that_is_not_finite_says_where(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Task.losses

    def losses(task: Task, epoch: int, step: int) -> dict[str, torch.Tensor]:
        parts = original(task, epoch, step)
        return {"total": parts["total"] * (float("nan") if (epoch, step) == (1, 2) else 1.0)}

    monkeypatch.setattr(Task, "losses", losses)
    with pytest.raises(TrainingError, match=r"epoch 1, step 2.*nan.*learning_rate"):
        train(graphs)


@pytest.mark.parametrize(
    "changes", [{"accelerator": "abacus"}, {"accelerator": "mps-of-another-kind"}]
)
def test_a_device_that_is_not_there_is_refused(graphs: GraphSet, changes: dict) -> None:
    with pytest.raises(TrainingError, match="accelerator="):
        train(graphs, changes)


def test_half_precision_trains(graphs: GraphSet) -> None:
    losses_of(train(graphs, {"precision": "bf16-mixed"}))


def tiny_width(graphs: GraphSet) -> int:
    """Return the width of the node features of a default run."""
    return train(graphs, {"epochs": 0}).features.dim


ELSEWHERE = ("bond-types", "mpnn", "bf16-mixed", "16-mixed")
"""Values with tests of their own: for molecules, or for what a machine has."""


def other_choices() -> list[tuple[str, object]]:
    """Return every setting that is a switch or a list of names, with each value but its default."""
    values = []
    for entry in Config.settings():
        choices = (True, False) if entry.type is bool else entry.metadata["choices"] or ()
        values += [(entry.name, value) for value in choices if value != entry.default]
    values.remove(("directed", "both"))  # for graphs with a direction, and an encoder that sees it
    return [(name, value) for name, value in values if value not in ELSEWHERE]


@pytest.mark.parametrize(("name", "value"), other_choices())
def test_every_switch_trains(graphs: GraphSet, name: str, value: object) -> None:
    assert np.isfinite(
        losses_of(train(graphs, {"epochs": 1, "cache_views": False, name: value}))
    ).all()


@pytest.mark.parametrize("view", ["ppr", "bond-types", "edge-drop", "node-drop", "attribute-mask"])
@pytest.mark.parametrize("encoder", ["gin", "mpnn"])
def test_molecules_train_on_every_view(encoder: str, view: str) -> None:
    molecules = make_molecules(10)
    losses_of(train(molecules, {"encoder": encoder, "view": view, "epochs": 1}))


def test_a_molecule_without_one_of_its_bonds_is_no_view_of_mpnn() -> None:
    losses_of(train(make_molecules(10), {"encoder": "mpnn", "view": "subgraph", "epochs": 1}))
    with pytest.raises(ConfigError, match=r"view='edge-perturb'.*encoder='mpnn'.*'edge-drop'"):
        train(make_molecules(10), {"encoder": "mpnn", "view": "edge-perturb"})


@pytest.mark.parametrize("augmentations", ["ppr", "heat", "ppr+node-drop", "edge-drop+subgraph"])
def test_any_view_can_be_graphcls(graphs: GraphSet, augmentations: str) -> None:
    known = GraphCLConfig.known(TINY | {"epochs": 12, "learning_rate": 1e-2})
    config = GraphCLConfig(**known, augmentations=augmentations, temperature=1.0)
    runs = [fit(graphs, config, GraphCLNetwork, name="GraphCL") for _ in range(2)]
    assert_same_run(*runs)
    losses = losses_of(runs[0])
    assert losses[-1] < losses[0]


PRETRAINING: dict[str, Any] = {"epochs": 2, "pretraining_epochs": 2, "checkpoint_every": 1}


@pytest.fixture(scope="module")
def sixteen() -> GraphSet:
    """The graphs of the runs with labels."""
    return make_graphs(16)


@pytest.fixture(scope="module")
def fitted(sixteen: GraphSet) -> Fitted:
    """A run with labels."""
    return train_with_labels(sixteen)


@pytest.fixture(scope="module")
def pretrained(sixteen: GraphSet) -> Fitted:
    """A run with labels and self-distillation before them."""
    return train_with_labels(sixteen, PRETRAINING)


class TestWithLabels:
    def test_every_round_labels_what_is_left(self, fitted: Fitted) -> None:
        # Of two classes one always has half the probability: the first round labels them all.
        assert fitted.pseudo is not None
        assert fitted.pseudo.graphs.tolist() == list(range(1, 16, 2))
        assert set(fitted.pseudo.rounds.tolist()) == {1}
        assert (fitted.pseudo.confidence >= 0.5).all()

    @pytest.mark.parametrize(
        ("changes", "labels"),
        [
            ({"self_training": False}, {}),
            ({"self_training_start": 4}, {}),
            ({}, {"labels": TrainingLabels(np.arange(16) % 2, 2)}),
        ],
        ids=["off", "too late", "all have labels"],
    )
    def test_no_pseudo_labels(self, sixteen: GraphSet, changes: dict, labels: dict) -> None:
        fitted = train_with_labels(sixteen, changes, **labels)
        assert fitted.pseudo is not None
        assert len(fitted.pseudo) == 0

    def test_a_threshold_nothing_passes(self, sixteen: GraphSet) -> None:
        with pytest.warns(IGSDWarning, match=r"highest confidence seen was 0\.\d+.*threshold=1\.0"):
            fitted = train_with_labels(
                sixteen, {"self_training_threshold": 1.0, "learning_rate": 1e-6}
            )
        assert fitted.pseudo is not None
        assert len(fitted.pseudo) == 0
        assert len(fitted.history) == 4

    def test_labelling_leaves_the_statistics_alone(self, sixteen: GraphSet) -> None:
        # A round in which nothing passes must not change the training.
        off = train_with_labels(sixteen, {"self_training": False, "self_weight": 0.0})
        changes = {"self_training_threshold": 1.0, "self_training_start": 3, "self_weight": 0.0}
        with pytest.warns(IGSDWarning, match="no pseudo-label"):
            on = train_with_labels(sixteen, changes)
        assert on.history[:3] == off.history[:3]

    def test_the_callers_random_state_is_untouched(self, sixteen: GraphSet) -> None:
        torch.manual_seed(5)
        expected = torch.rand(2)
        torch.manual_seed(5)
        train_with_labels(sixteen)
        assert torch.equal(torch.rand(2), expected)

    def test_one_graph(self, sixteen: GraphSet) -> None:
        with pytest.raises(DataError, match="at least 2"):
            train_with_labels(sixteen.take([0]), labels=TrainingLabels(np.zeros(1, np.int64), 2))

    def test_every_process_needs_a_labelled_graph(self, sixteen: GraphSet) -> None:
        with pytest.raises(ConfigError, match="label_batch_size must be at least devices"):
            train_with_labels(sixteen, {"devices": 3, "label_batch_size": 2})

    def test_the_teacher_takes_no_gradient(self, fitted: Fitted) -> None:
        teacher = fitted.network.igsd.teacher
        assert all(not p.requires_grad and p.grad is None for p in teacher.parameters())

    def test_the_encoder_may_take_smaller_steps_than_the_output_layer(
        self, sixteen: GraphSet
    ) -> None:
        start, slow, fast = (
            train_with_labels(
                sixteen,
                {"epochs": epochs, "encoder_rate": rate, "halve_every": 0, "ema_decay": 0.9},
            ).network
            for epochs, rate in ((0, 1.0), (1, 1e-6), (1, 1.0))
        )

        def moved(network: Any, part: str) -> float:
            pairs = zip(
                getattr(start, part).parameters(), getattr(network, part).parameters(), strict=True
            )
            return max(float((a - b).detach().abs().max()) for a, b in pairs)

        assert moved(slow, "igsd") < 1e-4 < moved(fast, "igsd")
        assert min(moved(slow, "head"), moved(fast, "head")) > 1e-4

    def test_a_limit_of_steps(self, sixteen: GraphSet) -> None:
        # Eight labels in batches of four: two steps an epoch.
        changes = {"epochs": 8, "label_batch_size": 4, "self_training_start": 4, "halve_every": 4}
        whole = train_with_labels(sixteen, changes | {"most_steps": 16})
        assert len(whole.history) == 8
        short = train_with_labels(sixteen, changes | {"most_steps": 7})
        same = {"epochs": 4, "self_training_start": 2, "halve_every": 2}
        assert_same_run(short, train_with_labels(sixteen, changes | same))
        assert len(short.history) == 4


class TestPretraining:
    """Self-distillation before the first label."""

    def test_its_losses_are_those_of_igsd(self, sixteen: GraphSet, pretrained: Fitted) -> None:
        config = SemiConfig(**TINY)
        alone = fit(sixteen, config, IGSDModel, name="igsd")
        assert pretrained.before == alone.history
        assert len(pretrained.before) == 2

    def test_the_labels_begin_with_its_weights(self, sixteen: GraphSet) -> None:
        # Steps too small to move a weight: what comes out is what the labels began with.
        changes = PRETRAINING | {"epochs": 1, "encoder_rate": 1e-30, "ema_decay": 1.0}
        found = train_with_labels(sixteen, changes).network.igsd
        alone = fit(sixteen, SemiConfig(**TINY, ema_decay=1.0), IGSDModel, name="igsd").network
        expected = dict(alone.named_parameters())
        for name, value in found.named_parameters():
            torch.testing.assert_close(value, expected[name])

    def test_subtrees_may_be_targets_of_it(self, sixteen: GraphSet, pretrained: Fitted) -> None:
        changes = PRETRAINING | {"subtree_weight": 1.0, "infonce_weight": 0.1}
        found = train_with_labels(sixteen, changes)
        assert set(found.before[0]) == {"epoch", "infonce", "subtrees", "total"}
        # The layer that predicts them is dropped before the first label.
        names = dict(pretrained.network.named_parameters())
        assert dict(found.network.named_parameters()).keys() == names.keys()
        assert found.history != pretrained.history
        assert "subtrees" not in found.history[0]

    def test_it_changes_where_the_labels_begin(self, sixteen: GraphSet, pretrained: Fitted) -> None:
        without = train_with_labels(sixteen, PRETRAINING | {"pretraining_epochs": 0})
        assert pretrained.history != without.history
        assert len(pretrained.history) == len(without.history) == 2
        assert without.before == []

    def test_its_bar_has_a_name_of_its_own(
        self, sixteen: GraphSet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Two bars were called training, and the first said nothing of labels."""
        train_with_labels(sixteen, PRETRAINING, verbose=True)
        titles = [line.split(":")[0] for line in capsys.readouterr().err.splitlines()]
        assert titles == ["pretraining"] * 2 + ["training"] * 2

    def test_an_encoder_of_ones_own_is_trained_too(self, sixteen: GraphSet) -> None:
        own = GNNEncoder("gcn", FeatureMap.fit(sixteen, "degree").dim, 5, 1)
        changes = PRETRAINING | {"node_features": "degree"}
        assert train_with_labels(sixteen, changes, encoder=own).network.out_dim == 5

    def test_it_goes_on_after_a_crash_and_leaves_nothing(
        self,
        sixteen: GraphSet,
        pretrained: Fitted,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def power_cut() -> None:
            raise PowerCutError

        path = tmp_path / "run.checkpoint"
        with monkeypatch.context() as patch:
            after_steps(patch, 4, power_cut)
            with pytest.raises(PowerCutError):
                train_with_labels(sixteen, PRETRAINING, checkpoint=path)
        assert [file.name for file in tmp_path.iterdir()] == ["run.checkpoint.pretraining"]
        assert_same_run(train_with_labels(sixteen, PRETRAINING, checkpoint=path), pretrained)
        assert not (tmp_path / "run.checkpoint.pretraining").exists()

    def test_its_losses_are_kept_when_training_stops_after_it(
        self,
        sixteen: GraphSet,
        pretrained: Fitted,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """They were lost: a run showed nothing of the epochs before its labels."""
        path = tmp_path / "c"
        with monkeypatch.context() as patch:
            after_steps(patch, 2, with_labels=True)
            with pytest.raises(KeyboardInterrupt):
                train_with_labels(sixteen, PRETRAINING, checkpoint=path)
        # Once from the middle, once from the end, when the pretraining's own checkpoint is gone.
        for _ in range(2):
            resumed = train_with_labels(sixteen, PRETRAINING, checkpoint=path)
            assert resumed.before == pretrained.before


GEOMETRY = PRETRAINING | {"pretraining_targets": "geometry", "node_features": "label"}


class TestPretrainingByTargets:
    def test_it_learns_what_follows_from_molecules(self) -> None:
        """An epoch is one pass over all graphs, and the labels take no part in it."""
        molecules = make_molecules(16)
        longer = GEOMETRY | {"pretraining_epochs": 20, "epochs": 1}
        first = train_with_labels(molecules, longer)
        assert set(first.before[0]) == {"epoch", "supervised", "total"}
        losses = [entry["total"] for entry in first.before]
        assert losses[-1] < 0.8 * losses[0]
        others = train_with_labels(molecules, longer, labels=TrainingLabels(np.arange(16) % 2, 2))
        assert others.before == first.before
        assert others.history != first.history

    def test_the_labels_begin_with_its_weights(self) -> None:
        molecules, small = make_molecules(16), {"epochs": 1, "encoder_rate": 1e-30}
        by_targets, by_views, none = (
            train_with_labels(molecules, GEOMETRY | small | changes).network.igsd.student.encoder
            for changes in ({}, {"pretraining_targets": "none"}, {"pretraining_epochs": 0})
        )
        for other in (by_views, none):
            pairs = zip(by_targets.parameters(), other.parameters(), strict=True)
            assert not all(torch.equal(a, b) for a, b in pairs)

    def test_it_goes_on_after_a_crash(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        molecules, path = make_molecules(16), tmp_path / "c"
        whole = train_with_labels(molecules, GEOMETRY)
        with monkeypatch.context() as patch:
            after_steps(patch, 3, with_labels=True)
            with pytest.raises(KeyboardInterrupt):
                train_with_labels(molecules, GEOMETRY, checkpoint=path)
        assert [file.name for file in tmp_path.iterdir()] == ["c.pretraining"]
        assert_same_run(train_with_labels(molecules, GEOMETRY, checkpoint=path), whole)
        assert [file.name for file in tmp_path.iterdir()] == ["c"]

    def test_graphs_without_coordinates_are_refused(self, sixteen: GraphSet) -> None:
        with pytest.raises(DataError, match="Use pretraining_targets='none'"):
            train_with_labels(sixteen, GEOMETRY)
