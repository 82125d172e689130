from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.config import Config
from igsd.errors import DataError, TrainingError
from igsd.graphs.graphset import GraphSet
from igsd.model.build import build_model
from igsd.training.fit import view_spec
from igsd.training.self_supervised import SelfSupervisedTask
from tests.small_graphs import make_graphs
from tests.training.runs import DroppingEncoder, assert_same_run, losses_of, tiny, train


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
    assert not torch.equal(next(a.model.student.parameters()), next(b.model.student.parameters()))


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


@pytest.mark.parametrize("view", ["ppr", "heat", "edge-drop"])
def test_the_loss_falls_on_a_tiny_set(graphs: GraphSet, view: str) -> None:
    changes = {"epochs": 12, "view": view, "learning_rate": 1e-2, "temperature": 1.0}
    losses = losses_of(train(graphs, changes))
    assert losses[-1] < 0.8 * losses[0]


def test_overfits_four_graphs(graphs: GraphSet) -> None:
    changes = {"epochs": 60, "learning_rate": 1e-2, "temperature": 0.2, "ema_decay": 0.9}
    assert losses_of(train(graphs.take(range(4)), changes))[-1] < 0.1


def test_no_epochs_give_the_untrained_encoder(graphs: GraphSet) -> None:
    fitted = train(graphs, {"epochs": 0})
    assert fitted.history == []
    assert not fitted.model.training
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        fresh = build_model(tiny(), fitted.features.dim)
    expected = fresh.state_dict()
    assert all(torch.equal(v, expected[k]) for k, v in fitted.model.state_dict().items())


def test_training_starts_from_the_untrained_encoder_and_ends_in_evaluation(
    graphs: GraphSet,
) -> None:
    before, after = train(graphs, {"epochs": 0}).model, train(graphs, {"epochs": 1}).model
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
        still.model.teacher.parameters(), start.model.teacher.parameters(), strict=True
    ):
        assert torch.equal(a, b)
    follows = train(graphs, {"ema_decay": 0.0}).model
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
    for view in ("ppr", "edge-drop"):
        losses_of(train(odd, {"view": view}))


def test_loss_that_is_not_finite_says_where(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = SelfSupervisedTask.losses

    def losses(task: SelfSupervisedTask, epoch: int, step: int) -> dict[str, torch.Tensor]:
        parts = original(task, epoch, step)
        return {"total": parts["total"] * (float("nan") if (epoch, step) == (1, 2) else 1.0)}

    monkeypatch.setattr(SelfSupervisedTask, "losses", losses)
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


def test_view_settings_reach_the_view() -> None:
    spec = view_spec(tiny(view="heat", heat_time=3.0, top_k=4, drop_rate=0.1, exact_limit=9))
    assert (spec.kind, spec.heat_time, spec.top_k, spec.drop_rate) == ("heat", 3.0, 4, 0.1)
    assert spec.exact_limit == 9
    assert view_spec(tiny()).top_k is None


def tiny_width(graphs: GraphSet) -> int:
    """Return the width of the node features of a default run."""
    return train(graphs, {"epochs": 0}).features.dim


ELSEWHERE = ("bond-types", "mpnn", "bf16-mixed", "16-mixed")
"""Values with tests of their own: for molecules, or for what a machine has."""


def other_choices() -> list[tuple[str, object]]:
    """Return every setting that is a switch or a list of names, with each value but its default."""
    values = []
    for entry in Config.settings():
        choices = (True, False) if entry.type == "bool" else entry.metadata["choices"] or ()
        values += [(entry.name, value) for value in choices if value != entry.default]
    return [(name, value) for name, value in values if value not in ELSEWHERE]


@pytest.mark.parametrize(("name", "value"), other_choices())
def test_every_switch_trains(graphs: GraphSet, name: str, value: object) -> None:
    assert np.isfinite(
        losses_of(train(graphs, {"epochs": 1, "cache_views": False, name: value}))
    ).all()
