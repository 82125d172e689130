from __future__ import annotations

import argparse

import pytest

from igsd.cli.settings import choose_recipe, given_changes, make_config, settings_table
from igsd.config import load_recipe
from igsd.errors import ConfigError
from tests.small_graphs import make_graphs


def test_the_recipe_follows_the_data() -> None:
    assert choose_recipe(None, make_graphs()) == "molecules"
    assert choose_recipe("auto", make_graphs(labels=False, attributes=2)) == "molecules"
    assert choose_recipe("auto", make_graphs(labels=False)) == "social"
    assert choose_recipe("paper", make_graphs(labels=False)) == "paper"


def test_changes_are_checked_and_typed() -> None:
    args = argparse.Namespace(config=None, settings=["temperature=1", "seed=3"])
    changes = given_changes(args)
    assert changes == {"temperature": 1.0, "seed": 3}
    assert make_config("paper", changes) == load_recipe("paper").updated(changes)
    with pytest.raises(ConfigError, match="whole number"):
        given_changes(argparse.Namespace(config=None, settings=["seed=x"]))


def test_lines_of_the_table_fit_a_terminal() -> None:
    assert max(map(len, settings_table().splitlines())) <= 100
