from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError, DataError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_header
from igsd.training.fit_labelled import FittedLabels, Watched, fit_labelled
from igsd.training.label_task import LabelTask
from igsd.training.labels import Labels
from igsd.training.semi_supervised import SemiSupervisedIGSD
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY, make_graphs
from tests.training.runs import PowerCutError

BASE = TINY | {"epochs": 4, "label_batch_size": 4, "head_dropout": 0.3, "halve_every": 2}
BASE |= {"self_training_start": 1, "self_training_rounds": 2, "self_training_threshold": 0.5}
KINDS: dict[str, dict[str, Any]] = {
    "supcon": {},
    "self-sup": {"self_weight": 1.0, "supcon_weight": 0.0},
    "self-distillation before": {"pretraining_epochs": 2, "encoder_rate": 0.1},
    "both, random views": {"self_weight": 0.5, "view": "edge-drop", "pseudo_labels_for": "both"},
}


def few_labels(num_graphs: int = 16) -> Labels:
    """Return classes 0 and 1 in turn for every other graph."""
    codes = np.where(np.arange(num_graphs) % 2, -1, np.arange(num_graphs) // 2 % 2)
    return Labels(codes.astype(np.int64), 2)


def run(
    graphs: GraphSet, changes: dict[str, Any] | None = None, labels: Labels | None = None, **others
) -> FittedLabels:
    """Return a short run: eight labelled graphs in batches of four are two steps an epoch."""
    config = SemiConfig(**(BASE | (changes or {})))
    return fit_labelled(graphs, labels or few_labels(), config, SemiSupervisedIGSD(), **others)


def assert_same(a: FittedLabels, b: FittedLabels) -> None:
    """Check that two runs ended with the same bits."""
    assert a.history == b.history
    left, right = a.network.state_dict(), b.network.state_dict()
    assert [name for name in left if not torch.equal(left[name], right[name])] == []
    for name in ("graphs", "codes", "confidence", "rounds"):
        np.testing.assert_array_equal(getattr(a.pseudo, name), getattr(b.pseudo, name))


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(16)


@pytest.fixture(scope="module")
def whole(graphs: GraphSet) -> dict[str, FittedLabels]:
    """The runs of ``KINDS`` that nobody stopped."""
    return {name: run(graphs, changes) for name, changes in KINDS.items()}


class TestResume:
    # Two steps an epoch, labelling in front of epochs 1 and 2: 2 and 4 are the ends of epochs.
    @pytest.mark.parametrize("steps", [1, 2, 3, 4, 6])
    @pytest.mark.parametrize("kind", KINDS)
    def test_ctrl_c_and_resume_give_the_same_bits(
        self,
        graphs: GraphSet,
        whole: dict[str, FittedLabels],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        steps: int,
    ) -> None:
        path, changes = tmp_path / "checkpoint", KINDS[kind]
        with monkeypatch.context() as patch:
            after_label_steps(patch, steps)
            with pytest.raises(KeyboardInterrupt):
                run(graphs, changes, checkpoint=path)
        header = read_header(path)
        assert header is not None
        assert header["progress"]["epoch"] * 2 + header["progress"]["step"] == steps
        assert_same(run(graphs, changes, checkpoint=path), whole[kind])

    def test_a_crash_goes_on_from_the_last_checkpoint(
        self, graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def power_cut() -> None:
            raise PowerCutError

        changes = {"checkpoint_every": 3}
        with monkeypatch.context() as patch:
            after_label_steps(patch, 5, power_cut)
            with pytest.raises(PowerCutError):
                run(graphs, changes, checkpoint=tmp_path / "c")
        assert_same(run(graphs, changes, checkpoint=tmp_path / "c"), run(graphs, changes))

    def test_watched_figures_are_resumed_too(
        self, graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        watched = Watched(graphs, lambda outputs: {"mean": float(outputs.mean())})
        with monkeypatch.context() as patch:
            after_label_steps(patch, 5)
            with pytest.raises(KeyboardInterrupt):
                run(graphs, watched=watched, checkpoint=tmp_path / "c")
        resumed = run(graphs, watched=watched, checkpoint=tmp_path / "c")
        assert_same(resumed, run(graphs, watched=watched))
        assert all("mean" in entry for entry in resumed.history)

    def test_other_labels_and_settings_are_refused(self, graphs: GraphSet, tmp_path: Path) -> None:
        run(graphs, checkpoint=tmp_path / "c")
        other = few_labels()
        other.values[0] = 1
        with pytest.raises(ConfigError, match="its labels is"):
            run(graphs, labels=other, checkpoint=tmp_path / "c")
        with pytest.raises(ConfigError, match="its self_weight is"):
            run(graphs, {"self_weight": 2.0}, checkpoint=tmp_path / "c")


class TestSelfTraining:
    def test_every_round_labels_what_is_left(self, graphs: GraphSet, whole: Any) -> None:
        # Of two classes one always has half the probability: the first round labels them all.
        pseudo = whole["supcon"].pseudo
        assert pseudo.graphs.tolist() == list(range(1, 16, 2))
        assert set(pseudo.rounds.tolist()) == {1}
        assert (pseudo.confidence >= 0.5).all()

    def test_off(self, graphs: GraphSet) -> None:
        assert len(run(graphs, {"self_training": False}).pseudo) == 0

    def test_not_before_its_first_epoch(self, graphs: GraphSet) -> None:
        assert len(run(graphs, {"self_training_start": 4}).pseudo) == 0

    def test_a_threshold_nothing_passes(self, graphs: GraphSet) -> None:
        with pytest.warns(IGSDWarning, match=r"highest confidence seen was 0\.\d+.*threshold=1\.0"):
            fitted = run(graphs, {"self_training_threshold": 1.0, "learning_rate": 1e-6})
        assert len(fitted.pseudo) == 0
        assert len(fitted.history) == 4

    def test_labelling_leaves_the_statistics_alone(self, graphs: GraphSet) -> None:
        # A round in which nothing passes must not change the training.
        off = run(graphs, {"self_training": False, "self_weight": 0.0})
        with pytest.warns(IGSDWarning, match="no pseudo-label"):
            on = run(
                graphs,
                {"self_training_threshold": 1.0, "self_training_start": 3, "self_weight": 0.0},
            )
        assert on.history[:3] == off.history[:3]

    def test_nobody_to_label(self, graphs: GraphSet) -> None:
        labels = Labels(np.arange(16) % 2, 2)
        assert len(run(graphs, labels=labels).pseudo) == 0


class TestFit:
    def test_the_step_size_halves(self, graphs: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
        rates = []
        original = LabelTask.losses

        def losses(task: LabelTask, epoch: int, step: int) -> Any:
            found = original(task, epoch, step)
            rates.append(task.optimizer.param_groups[0]["lr"])
            return found

        monkeypatch.setattr(LabelTask, "losses", losses)
        run(graphs, {"learning_rate": 0.1})
        assert rates == [0.1] * 4 + [0.05] * 4

    def test_the_callers_random_state_is_untouched(self, graphs: GraphSet) -> None:
        torch.manual_seed(5)
        expected = torch.rand(2)
        torch.manual_seed(5)
        run(graphs)
        assert torch.equal(torch.rand(2), expected)

    def test_several_processes_are_refused(self, graphs: GraphSet) -> None:
        with pytest.raises(ConfigError, match="one process"):
            run(graphs, {"devices": 2})

    def test_one_graph(self, graphs: GraphSet) -> None:
        with pytest.raises(DataError, match="at least 2"):
            run(graphs.take([0]))

    def test_the_teacher_takes_no_gradient(self, graphs: GraphSet, whole: Any) -> None:
        teacher = whole["supcon"].network.igsd.teacher
        assert all(not p.requires_grad and p.grad is None for p in teacher.parameters())


def test_the_encoder_may_take_smaller_steps_than_the_output_layer(graphs: GraphSet) -> None:
    start, slow, fast = (
        run(graphs, {"epochs": epochs, "encoder_rate": rate, "halve_every": 0, "ema_decay": 0.9})
        for epochs, rate in ((0, 1.0), (1, 1e-6), (1, 1.0))
    )
    moved = {
        name: [
            max(float((a - b).detach().abs().max()) for a, b in zip(*pair, strict=True))
            for pair in ((_weights(start, part), _weights(made, part)) for part in ("igsd", "head"))
        ]
        for name, made in (("slow", slow), ("fast", fast))
    }
    assert moved["slow"][0] < 1e-4 < moved["fast"][0]
    assert min(moved["slow"][1], moved["fast"][1]) > 1e-4


def _weights(fitted: FittedLabels, part: str) -> list[torch.Tensor]:
    return list(getattr(fitted.network, part).parameters())
