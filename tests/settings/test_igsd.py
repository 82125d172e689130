from __future__ import annotations

import inspect
import tomllib
from dataclasses import fields
from importlib import resources
from typing import Any

import pytest

from igsd.baselines.few_labels.gin import SupervisedConfig, SupervisedRegressionConfig
from igsd.baselines.few_labels.infograph import InfoGraphConfig, InfoGraphStarConfig
from igsd.baselines.few_labels.mean_teacher import MeanTeacherConfig
from igsd.errors import ConfigError
from igsd.settings.fields import Settings
from igsd.settings.groups import RANDOM_VIEWS
from igsd.settings.igsd import Config, SemiConfig, SemiRegressionConfig
from igsd.settings.text import load_recipe, recipe_names


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("epochs", -1, "at least 0"),
        ("epochs", 2.5, "a whole number"),
        ("epochs", "20", "a whole number"),
        ("epochs", True, "a whole number"),
        ("batch_size", 1, "at least 2"),
        ("seed", -1, "at least 0"),
        ("seed", 2**64, "at most"),
        ("seed", None, "a whole number"),
        ("learning_rate", 0.0, "greater than 0"),
        ("learning_rate", float("nan"), "finite"),
        ("learning_rate", float("inf"), "finite"),
        ("learning_rate", "fast", "a number"),
        ("temperature", 0.0, "greater than 0"),
        ("temperature", -1.0, "greater than 0"),
        ("teleport", 0.0, "greater than 0 and less than 1"),
        ("teleport", -0.5, "greater than 0 and less than 1"),
        ("teleport", 1.0, "greater than 0 and less than 1"),
        ("heat_time", 0.0, "greater than 0"),
        ("drop_rate", 1.0, "at least 0 and less than 1"),
        ("threshold", 1.0, "at least 0 and less than 1"),
        ("exact_limit", -1, "at least 0"),
        ("top_k", -1, "at least 0"),
        ("top_k", 2.5, "a whole number"),
        ("warmup_epochs", -1, "at least 0"),
        ("schedule", "step", "one of 'constant', 'cosine'"),
        ("drop_rate", 1.5, "at least 0 and less than 1"),
        ("ema_decay", 1.01, "at least 0 and at most 1"),
        ("mix_weight", -0.1, "at least 0"),
        ("view", "pagerank", "one of 'ppr', 'heat', 'bond-types', 'edge-drop', 'node-drop'"),
        ("encoder", "GIN", "one of 'gin', 'gcn'"),
        ("precision", "64", "one of"),
        ("projector", 1, "true or false"),
        ("readout", 3, "a text"),
        ("num_layers", 0, "at least 1"),
        ("degree_cap", 0, "at least 1"),
        ("checkpoint_every", 0, "at least 1"),
    ],
)
def test_values_outside_their_rule_are_refused(key: str, value: Any, rule: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{key}'.*{rule}.*Got {value!r}"):
        Config(**{key: value})


@pytest.mark.parametrize("name", ["encoder_batch_norm", "concat_layers"])
def test_settings_that_mpnn_has_no_use_for_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}=False would change nothing"):
        Config(encoder="mpnn", **{name: False})
    assert not getattr(Config(encoder="gcn", **{name: False}), name)


@pytest.mark.parametrize("view", RANDOM_VIEWS)
def test_random_views_cannot_be_embedded(view: str) -> None:
    with pytest.raises(ConfigError, match=f"embed_views='both'.*'{view}'"):
        Config(embed_views="both", view=view)


def test_only_bond_types_are_several_views() -> None:
    assert Config(view="bond-types", num_views=3).num_views == 3
    with pytest.raises(ConfigError, match=r"view='ppr' gives a single view.*Got num_views=2"):
        Config(num_views=2)
    with pytest.raises(ConfigError, match="one for each kind of bond"):
        Config(view="bond-types", embed_views="both")


def test_toml_is_complete_and_comes_back() -> None:
    config = Config(readout="mean+max", learning_rate=1e-5, cache_views=False, view="heat")
    settings = tomllib.loads(config.to_toml())
    assert Config(**settings) == config
    assert set(settings) == {entry.name for entry in fields(Config)} == set(config.to_json())


def test_learned_leaves_out_where_it_runs() -> None:
    assert Config(checkpoint_every=7, cache_views=False).learned() == Config().learned()
    for key, value in (("seed", 4), ("mix_weight", 0.1), ("readout", "max")):
        assert Config(**{key: value}).learned() != Config().learned()


@pytest.mark.parametrize("name", recipe_names())
def test_recipes_are_valid(name: str) -> None:
    assert isinstance(load_recipe(name, Config), Config)


def test_settings_are_the_parameters_of_the_estimator() -> None:
    from igsd.estimators import IGSD

    parameters = inspect.signature(IGSD).parameters
    defaults = {name: p.default for name, p in parameters.items()}
    assert defaults.pop("random_state") == Config.seed
    besides = {name: defaults.pop(name) for name in Config.besides}
    assert besides == Config.besides
    assert set(defaults) == {*Config().to_json()} - {"seed"}
    kept = {name: value for name, value in defaults.items() if value is not None}
    assert kept == {"node_attributes": "auto", "edge_weight": "weight"}  # else the recipe decides


CLASSES: list[Any] = [
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
    def test_toml_is_complete_and_comes_back(self, cls: type[Settings]) -> None:
        config = cls(epochs=7, learning_rate=1e-5)
        settings = tomllib.loads(config.to_toml())
        assert cls(**settings) == config
        assert set(settings) == set(config.to_json())

    @pytest.mark.parametrize("name", recipe_names("semi"))
    def test_recipes(self, cls: type[Settings], name: str) -> None:
        config, shared = load_recipe(name, cls), load_recipe(name, SemiConfig)
        assert (config.epochs, config.num_layers) == (shared.epochs, shared.num_layers)
        assert config.epochs > 0


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
def test_values_outside_their_rule_are_refused_with_labels(key: str, value: Any, rule: str) -> None:
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


def test_pseudo_labels_for_a_loss_that_is_off() -> None:
    with pytest.raises(ConfigError, match=r"supcon_weight=0.*'cross-entropy'"):
        SemiConfig(supcon_weight=0.0, pseudo_labels_for="supcon")


@pytest.mark.parametrize("name", recipe_names("semi"))
def test_sections_of_a_recipe_are_for_methods_that_there_are(name: str) -> None:
    recipe = tomllib.loads(
        (resources.files("igsd.settings.recipes") / "semi" / f"{name}.toml").read_text()
    )
    sections = {key: value for key, value in recipe.items() if isinstance(value, dict)}
    assert sections.keys() <= {cls.section for cls in CLASSES}
    for cls in CLASSES:
        config, own = load_recipe(name, cls), sections.get(cls.section, {})
        assert {key: getattr(config, key) for key in own} == own


def test_unknown_recipe() -> None:
    with pytest.raises(ConfigError, match=r"no recipe 'socail'.*'social'"):
        load_recipe("socail", SemiConfig)


def test_the_learning_rate_is_gins() -> None:
    config = SemiConfig()
    assert (config.learning_rate, config.halve_every) == (0.01, 50)
    assert (config.num_layers, config.hidden_dim) == (5, 32)
