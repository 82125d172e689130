from __future__ import annotations

from dataclasses import dataclass

import pytest

from igsd.baselines.learned_config import LearnedConfig, learned_recipe
from igsd.config import group_settings, load_recipe
from igsd.errors import ConfigError
from igsd.settings import setting


@dataclass(frozen=True)
class OwnConfig(LearnedConfig):
    """A method that was tuned for three epochs and leaves out the loss of IGSD."""

    leaves_out = LearnedConfig.leaves_out | group_settings("loss")

    epochs: int = setting(3, "run", "passes over the graphs", low=0)


def test_a_recipe_says_what_the_data_is_like_and_no_more() -> None:
    config, recipe = learned_recipe("social", OwnConfig), load_recipe("social")
    assert (config.readout, config.hidden_dim) == (recipe.readout, recipe.hidden_dim)
    assert config.epochs == 3  # the method's own
    assert config.seed == 0
    with pytest.raises(ConfigError, match="no recipe 'sociable'"):
        learned_recipe("sociable", OwnConfig)


def test_what_is_left_out_is_no_setting() -> None:
    names = {entry.name for entry in OwnConfig.settings()}
    assert not names & {"devices", *group_settings("loss")}
    assert {"epochs", "encoder", "view"} <= names
    with pytest.raises(ConfigError, match="no setting 'devices'"):
        OwnConfig().updated({"devices": 2})
