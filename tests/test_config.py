from __future__ import annotations

import inspect
import tomllib
from dataclasses import fields
from typing import Any

import pytest

from igsd.config import GROUPS, Config, load_recipe
from igsd.errors import ConfigError
from igsd.settings_text import recipe_names


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
        ("drop_rate", 1.5, "at least 0 and less than 1"),
        ("ema_decay", 1.01, "at least 0 and at most 1"),
        ("mix_weight", -0.1, "at least 0"),
        ("view", "pagerank", "one of 'ppr', 'heat', 'edge-drop'"),
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


def test_random_views_cannot_be_embedded() -> None:
    with pytest.raises(ConfigError, match=r"embed_views='both'.*'edge-drop'"):
        Config(embed_views="both", view="edge-drop")


def test_every_setting_is_in_a_group_and_explained() -> None:
    for entry in fields(Config):
        assert entry.metadata["group"] in GROUPS
        assert len(entry.metadata["help"]) > 5


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
    assert isinstance(load_recipe(name), Config)


def test_settings_are_the_parameters_of_the_estimator() -> None:
    from igsd.estimators import IGSD

    parameters = inspect.signature(IGSD).parameters
    defaults = {name: p.default for name, p in parameters.items()}
    defaults["seed"] = defaults.pop("random_state")
    besides = {name: defaults.pop(name) for name in ("checkpoint", "log_dir", "verbose")}
    assert besides == {"checkpoint": None, "log_dir": None, "verbose": False}
    assert defaults == Config().to_json()
