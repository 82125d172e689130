from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from igsd.config_semi import SemiConfig
from igsd.encoders.encoder import GNNEncoder
from igsd.graphs.features import FeatureMap
from igsd.training.fit import fit_self_supervised
from igsd.training.fit_labelled import fit_labelled
from igsd.training.labels import Labels
from igsd.training.pretraining import pretrain
from igsd.training.self_supervised import SelfSupervisedTask
from igsd.training.semi_supervised import SemiSupervisedIGSD
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY, make_graphs
from tests.training.runs import PowerCutError

SETTINGS = TINY | {"label_batch_size": 4, "pretraining_epochs": 2}


def test_the_weights_are_those_of_self_distillation() -> None:
    graphs, config = make_graphs(12), SemiConfig(**SETTINGS)
    alone = fit_self_supervised(graphs, config.updated({"epochs": 2}))
    network = SemiSupervisedIGSD.build(config, alone.features.dim, 2)
    assert pretrain(network, graphs, config) == alone.history
    for name, value in alone.model.state_dict().items():
        assert torch.equal(network.igsd.state_dict()[name], value)


def test_it_changes_where_the_labels_begin() -> None:
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    ends = [
        fit_labelled(graphs, labels, SemiConfig(**(SETTINGS | changes)), SemiSupervisedIGSD())
        for changes in ({}, {"pretraining_epochs": 0})
    ]
    assert ends[0].history != ends[1].history
    assert len(ends[0].history) == len(ends[1].history) == 2


def test_its_bar_has_a_name_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Two bars were called training, and the first said nothing of labels."""
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    fit_labelled(graphs, labels, SemiConfig(**SETTINGS), SemiSupervisedIGSD(), verbose=True)
    titles = [line.split(":")[0] for line in capsys.readouterr().err.splitlines()]
    assert titles == ["pretraining"] * 2 + ["training"] * 2


def test_an_encoder_of_ones_own_is_trained_too() -> None:
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    config = SemiConfig(**(SETTINGS | {"node_features": "degree"}))
    features = FeatureMap.fit(graphs, "degree")
    own = GNNEncoder("gcn", features.dim, 5, 1)
    fitted = fit_labelled(graphs, labels, config, SemiSupervisedIGSD(), encoder=own)
    assert fitted.network.out_dim == 5


def test_it_goes_on_after_a_stop_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    config = SemiConfig(**(SETTINGS | {"checkpoint_every": 1}))
    whole = fit_labelled(graphs, labels, config, SemiSupervisedIGSD())
    steps = 0
    original = SelfSupervisedTask.after_step

    def stop(task: SelfSupervisedTask) -> None:
        nonlocal steps
        original(task)
        steps += 1
        if steps == 4:
            raise PowerCutError

    monkeypatch.setattr(SelfSupervisedTask, "after_step", stop)
    path = tmp_path / "run.checkpoint"
    with pytest.raises(PowerCutError):
        fit_labelled(graphs, labels, config, SemiSupervisedIGSD(), checkpoint=path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.checkpoint.pretraining"]
    resumed = fit_labelled(graphs, labels, config, SemiSupervisedIGSD(), checkpoint=path)
    assert (resumed.history, resumed.before) == (whole.history, whole.before)
    assert len(whole.before) == 2
    assert not (tmp_path / "run.checkpoint.pretraining").exists()


def test_its_losses_are_kept_when_training_stops_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were lost: a run showed nothing of the epochs before its labels."""
    graphs, labels = make_graphs(12), Labels(np.arange(12) % 2, 2)
    config = SemiConfig(**(SETTINGS | {"checkpoint_every": 1}))
    whole, path = fit_labelled(graphs, labels, config, SemiSupervisedIGSD()), tmp_path / "c"
    with monkeypatch.context() as patch:
        after_label_steps(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            fit_labelled(graphs, labels, config, SemiSupervisedIGSD(), checkpoint=path)
    # Once from the middle, once from the end, when the pretraining's own checkpoint is gone.
    for _ in range(2):
        resumed = fit_labelled(graphs, labels, config, SemiSupervisedIGSD(), checkpoint=path)
        assert resumed.before == whole.before
