from __future__ import annotations

import pytest

from igsd.baselines.registry import METHODS, setting_names
from igsd.cli.settings_help import method_settings, settings_table
from tests.cli.conftest import Run


def test_the_table_says_that_recipes_change_defaults() -> None:
    header = settings_table().split("\n\n")[0]
    assert "the recipe changes some of them; without --recipe it is the one that fits" in header
    assert "config.toml" in header


def test_lines_of_the_table_fit_a_terminal() -> None:
    assert max(map(len, settings_table().splitlines())) <= 100


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_of_every_method_is_listed(name: str) -> None:
    lines = method_settings(name).splitlines()
    listed = [line.split()[0] for line in lines if line[4:5].strip() and " = " in line]
    assert {*listed} == {*setting_names(name), "seed"}
    assert max(map(len, lines)) <= 100


def test_help_after_a_method_is_about_its_settings(igsd: Run) -> None:
    code, out, _ = igsd("train", "--method", "wl", "--help")
    assert (code, "settings of wl" in out, "iterations = " in out) == (0, True, True)
    assert "igsd train --method NAME --help" in " ".join(igsd("train", "--help")[1].split())
    code, _, err = igsd("train", "--method", "wll", "-h")
    assert (code, "There is no method 'wll'" in err) == (2, True)
