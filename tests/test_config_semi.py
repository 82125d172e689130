from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

import pytest

from igsd.baselines.gin_supervised import SupervisedConfig, SupervisedRegressionConfig
from igsd.baselines.infograph_regulariser import InfoGraphConfig
from igsd.baselines.infograph_star import InfoGraphStarConfig
from igsd.baselines.mean_teacher import MeanTeacherConfig
from igsd.config import Config
from igsd.config_semi import (
    SemiConfig,
    SemiRegressionConfig,
    load_semi_recipe,
)
from igsd.errors import ConfigError
from igsd.settings_text import recipe_names

CLASSES = [
    SemiConfig,
    SemiRegressionConfig,
    SupervisedConfig,
    SupervisedRegressionConfig,
    MeanTeacherConfig,
    InfoGraphConfig,
    InfoGraphStarConfig,
]


@pytest.mark.parametrize("cls", CLASSES)
class TestEveryMethod:
    def test_settings_are_grouped_and_explained(self, cls: type[SemiConfig]) -> None:
        for entry in cls.settings():
            assert entry.metadata["group"] in cls.groups
            assert len(entry.metadata["help"]) > 5

    def test_toml_is_complete_and_comes_back(self, cls: type[SemiConfig]) -> None:
        config = cls(epochs=7, learning_rate=1e-5)
        settings = tomllib.loads(config.to_toml())
        assert cls(**settings) == config
        assert set(settings) == set(config.to_json())
        assert not set(settings) & cls.leaves_out

    def test_what_it_leaves_out_cannot_be_set(self, cls: type[SemiConfig]) -> None:
        for name in cls.leaves_out:
            with pytest.raises(ConfigError, match=f"no setting '{name}'"):
                cls().updated({name: 1})

    @pytest.mark.parametrize("name", recipe_names("semi"))
    def test_recipes(self, cls: type[SemiConfig], name: str) -> None:
        config, shared = load_semi_recipe(name, cls), load_semi_recipe(name, SemiConfig)
        assert (config.epochs, config.num_layers) == (shared.epochs, shared.num_layers)
        assert config.epochs > 0

    def test_every_setting_of_a_parent_is_still_there(self, cls: type[SemiConfig]) -> None:
        assert set(Config().to_json()) <= set(cls().to_json()) | cls.leaves_out


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("label_batch_size", 1, "at least 2"),
        ("self_training_threshold", 1.5, "at most 1"),
        ("self_training_rounds", 0, "at least 1"),
        ("head_dropout", 1.0, "at least 0 and less than 1"),
        ("self_weight", -1.0, "at least 0"),
        ("supcon_reduction", "max", "one of"),
        ("pseudo_labels_for", "all", "one of"),
        ("epochs", -1, "at least 0"),
    ],
)
def test_values_outside_their_rule_are_refused(key: str, value: Any, rule: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{key}'.*{rule}"):
        SemiConfig(**{key: value})


@pytest.mark.parametrize(
    ("changes", "feeds"),
    [
        ({}, {"supcon"}),
        ({"supcon_weight": 0.0}, {"cross-entropy"}),
        ({"pseudo_labels_for": "both"}, {"supcon", "cross-entropy"}),
        ({"pseudo_labels_for": "cross-entropy"}, {"cross-entropy"}),
    ],
)
def test_what_pseudo_labels_feed(changes: dict[str, Any], feeds: set[str]) -> None:
    assert SemiConfig(**changes).pseudo_labels_feed == feeds


def test_gin_feeds_them_to_cross_entropy() -> None:
    assert SupervisedConfig(self_training=True).pseudo_labels_feed == {"cross-entropy"}


def test_pseudo_labels_for_a_loss_that_is_off() -> None:
    with pytest.raises(ConfigError, match=r"supcon_weight=0.*'cross-entropy'"):
        SemiConfig(supcon_weight=0.0, pseudo_labels_for="supcon")


@pytest.mark.parametrize("name", recipe_names("semi"))
def test_sections_of_a_recipe_are_for_methods_that_there_are(name: str) -> None:
    recipe = tomllib.loads((resources.files("igsd.recipes") / "semi" / f"{name}.toml").read_text())
    sections = {key: value for key, value in recipe.items() if isinstance(value, dict)}
    assert sections.keys() <= {cls.section for cls in CLASSES}
    for cls in CLASSES:
        config, own = load_semi_recipe(name, cls), sections.get(cls.section, {})
        assert {key: getattr(config, key) for key in own} == own


def test_unknown_recipe() -> None:
    with pytest.raises(ConfigError, match=r"no recipe 'socail'.*'social'"):
        load_semi_recipe("socail", SemiConfig)


def test_the_learning_rate_is_gins() -> None:
    config = SemiConfig()
    assert (config.learning_rate, config.halve_every) == (0.01, 50)
    assert (config.num_layers, config.hidden_dim) == (5, 32)
