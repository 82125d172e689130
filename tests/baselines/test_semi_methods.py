from __future__ import annotations

import pytest

from igsd.baselines.semi_methods import (
    SEMI_METHODS,
    find_semi_method,
    method_config,
    regression_config,
)
from igsd.errors import ConfigError
from igsd.estimators import IGSDClassifier


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


def test_a_name_for_each_row_of_the_papers_table() -> None:
    assert len(SEMI_METHODS) == 9  # its eight rows, and InfoGraph of its figure
    assert SEMI_METHODS["igsd-supcon"].classifier is IGSDClassifier
