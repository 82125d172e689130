from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from igsd.baselines.gin_supervised import GINClassifier
from igsd.baselines.infograph_star import InfoGraphStarClassifier
from igsd.baselines.mean_teacher import MeanTeacherClassifier, ramp_up
from igsd.baselines.semi_methods import (
    SEMI_METHODS,
    find_semi_method,
    method_config,
    regression_config,
)
from igsd.errors import ConfigError
from igsd.estimators import IGSDClassifier
from tests.estimators.few_labels import ROUNDS, few_graphs, small, some_classes


@pytest.mark.parametrize("name", SEMI_METHODS)
def test_every_method_has_settings_and_estimators(name: str) -> None:
    method = SEMI_METHODS[name]
    config = method_config(name, "social", {"epochs": 7})
    assert config.epochs == 7
    made = method.classifier.from_config(config)
    assert made.config() == config
    assert made.get_params().get("self_training", False) == name.endswith("+self-training")
    assert issubclass(method.regressor, object)


def test_the_two_kinds_of_igsd() -> None:
    own = method_config("igsd-self", "social", {})
    assert (own.self_weight, own.supcon_weight) == (1.0, 0.0)
    assert own.pseudo_labels_feed == {"cross-entropy"}
    pulled = method_config("igsd-supcon+self-training", "molecules", {})
    assert (pulled.self_weight, pulled.supcon_weight) == (0.0, 1.0)
    assert pulled.pseudo_labels_feed == {"supcon"}


def test_all_methods_share_what_they_have_in_common() -> None:
    shared = ("epochs", "num_layers", "hidden_dim", "learning_rate", "label_batch_size", "readout")
    settings = [
        tuple(getattr(method_config(name, "social", {}), key) for key in shared)
        for name in SEMI_METHODS
    ]
    assert len(set(settings)) == 1


def test_unknown_names_and_settings() -> None:
    with pytest.raises(ConfigError, match=r"no method 'mean-teachers'.*'mean-teacher'"):
        find_semi_method("mean-teachers")
    with pytest.raises(ConfigError, match="no setting 'temperature'"):
        method_config("gin", "social", {"temperature": 1.0})


def test_methods_for_numbers() -> None:
    """Five names once ran the same training for numbers, each filed under its own."""
    names = [name for name, method in SEMI_METHODS.items() if method.is_for_numbers]
    assert names == ["mean-teacher", "infograph", "infograph-star", "gin", "igsd-self"]
    kinds = {type(regression_config(name, "molecules", {"epochs": 7})) for name in names}
    assert len(kinds) == len(names)
    for name in SEMI_METHODS.keys() - set(names):
        with pytest.raises(ConfigError, match=r"needs classes.*there are mean-teacher, "):
            regression_config(name, "molecules", {})


def test_gin_never_sees_an_unlabelled_graph() -> None:
    graphs = few_graphs()
    y = some_classes(graphs)
    labelled = np.arange(0, 12, 2)
    settings = {"node_features": "label"}  # nothing about a node that other graphs could change
    alone = small(GINClassifier, **settings).fit(graphs.take(labelled), [y[i] for i in labelled])
    both = small(GINClassifier, **settings).fit(graphs, y)
    # Batches are shuffles of positions, so only the order of the labelled graphs is the same.
    assert both.features_ == alone.features_
    np.testing.assert_allclose(both.predict_proba(graphs), alone.predict_proba(graphs), rtol=1e-3)


def test_guesses_of_gin_change_its_training() -> None:
    graphs = few_graphs()
    y = some_classes(graphs)
    plain = small(GINClassifier, epochs=3).fit(graphs, y)
    taught = small(GINClassifier, **ROUNDS).fit(graphs, y)
    assert len(taught.pseudo_labels_) == 6
    assert not np.allclose(plain.predict_proba(graphs), taught.predict_proba(graphs))


def test_the_weight_of_agreement_grows() -> None:
    assert ramp_up(0, 10) == pytest.approx(np.exp(-5))
    assert ramp_up(10, 10) == ramp_up(50, 10) == ramp_up(0, 0) == 1.0
    values = [ramp_up(epoch, 10) for epoch in range(12)]
    assert values == sorted(values)


def test_the_mean_teacher_predicts() -> None:
    graphs = few_graphs()
    model = small(MeanTeacherClassifier, ema_decay=0.5).fit(graphs, some_classes(graphs))
    before = model.predict_proba(graphs)
    network = model.network_
    with torch.no_grad():
        for parameter in network.student.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(model.predict_proba(graphs), before)
    assert all(not p.requires_grad for p in network.teacher.parameters())


def test_the_two_encoders_of_infograph_star_begin_apart() -> None:
    graphs = few_graphs()
    model = small(InfoGraphStarClassifier, epochs=0).fit(graphs, some_classes(graphs))
    supervised, other = model.network_.encoder, model.network_.unsupervised
    assert not torch.equal(supervised.layers[0].first.weight, other.layers[0].first.weight)


def test_the_unsupervised_encoder_is_taught_by_information_alone() -> None:
    graphs = few_graphs()
    made = small(InfoGraphStarClassifier, epochs=0, information_weight=0.0, transfer_weight=0.0)
    start = copy.deepcopy(made.fit(graphs, some_classes(graphs)).network_.unsupervised)
    made.set_params(epochs=2).fit(graphs, some_classes(graphs))
    for a, b in zip(start.parameters(), made.network_.unsupervised.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_name_for_each_row_of_the_papers_table() -> None:
    assert len(SEMI_METHODS) == 9  # its eight rows, and InfoGraph of its figure
    assert SEMI_METHODS["igsd-supcon"].classifier is IGSDClassifier
