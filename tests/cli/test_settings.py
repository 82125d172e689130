from __future__ import annotations

import argparse
from typing import Any

import pytest

from igsd.cli.settings import choose_recipe, given_changes, refuse_seed
from igsd.errors import ConfigError
from tests.small_graphs import make_graphs


def arguments(**others: Any) -> argparse.Namespace:
    given = {"config": None, "settings": [], "recipe": None, "method": None}
    return argparse.Namespace(**(given | others))


def test_the_recipe_follows_the_data() -> None:
    assert choose_recipe(None, make_graphs()) == "molecules"
    assert choose_recipe("auto", make_graphs(labels=False, attributes=2)) == "molecules"
    assert choose_recipe("auto", make_graphs(labels=False)) == "social"
    assert choose_recipe("paper", make_graphs(labels=False)) == "paper"


def test_changes_are_checked_and_typed() -> None:
    changes = given_changes(arguments(settings=["temperature=1", "seed=3"]))
    assert changes == {"temperature": 1.0, "seed": 3}
    assert given_changes(arguments(settings=["iterations=2"], method="wl")) == {"iterations": 2}
    for wrong, text in (
        ({"settings": ["seed=x"]}, "whole number"),
        ({"settings": ["iterations=2"]}, "'igsd' has no setting 'iterations'"),
        ({"settings": ["iterations=two"], "method": "wl"}, "WLKernel must be a whole number"),
        ({"settings": ["epochs=2"], "method": "untrained"}, "'untrained' has no setting 'epochs'"),
        ({"method": "infograf"}, "no method 'infograf'.*'infograph'"),
        ({"method": "wl", "recipe": "sociable"}, "no recipe 'sociable'"),
    ):
        with pytest.raises(ConfigError, match=text):
            given_changes(arguments(**wrong))


def test_seeds_are_counted_and_cannot_be_set() -> None:
    refuse_seed({"epochs": 3, "wl.iterations": 2})
    for key in ("seed", "wl.seed"):
        with pytest.raises(ConfigError, match="seed cannot be set"):
            refuse_seed({key: 3})
