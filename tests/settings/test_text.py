from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from igsd.errors import ConfigError
from igsd.settings.igsd import Config
from igsd.settings.text import parse_settings, read_recipe, read_settings, recipe_names


def test_settings_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('epochs = 7\nview = "heat"  # slower\n')
    assert read_settings(path) == {"epochs": 7, "view": "heat"}


@pytest.mark.parametrize("content", [b"epochs = = 3", b"\xff\xfe\x00", b"epochs: 3"])
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"a\.toml is not a TOML file"):
        read_settings(path)


def test_a_file_that_is_nested_too_deeply_or_too_large(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("epochs = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="nested too deeply"):
        read_settings(path)
    path.write_text("epochs = 3\n" + "#" * 1_000_000)
    with pytest.raises(ConfigError, match="larger than 1000 kB"):
        read_settings(path)
    path.write_text(f"epochs = {'9' * 10_000}")
    with pytest.raises(ConfigError, match="is not a TOML file"):
        read_settings(path)
    path.write_text(".".join("a" * 50_000) + " = 1")  # tomllib would take gigabytes
    with pytest.raises(ConfigError, match="a line has more than 1000 dots"):
        read_settings(path)
    assert parse_settings(["epochs=" + "[" * 10_000]) == {"epochs": "[" * 10_000}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml"):
        read_settings(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("pair", "key", "value"),
    [
        ("epochs=40", "epochs", 40),
        ("temperature = 0.5", "temperature", 0.5),
        ("view=heat", "view", "heat"),
        ('view="heat"', "view", "heat"),
        ("projector=false", "projector", False),
        ("projector=False", "projector", False),
        ("readout=mean+max", "readout", "mean+max"),
        ("view=edge-drop", "view", "edge-drop"),
        ("precision=32-true", "precision", "32-true"),
    ],
)
def test_settings_of_the_command_line(pair: str, key: str, value: Any) -> None:
    settings = parse_settings([pair])
    assert settings == {key: value}
    Config().updated(settings)


def test_later_settings_win() -> None:
    assert parse_settings(["epochs=1", "epochs=2"]) == {"epochs": 2}


def test_a_setting_without_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"key=value.*'epochs'"):
        parse_settings(["epochs"])


def test_recipes_of_both_kinds() -> None:
    assert {"molecules", "paper", "social"} <= set(recipe_names())
    assert {"molecules", "qm9", "social"} <= set(recipe_names("semi"))
    assert "semi" not in recipe_names()
    assert read_recipe("social", "semi") != read_recipe("social")


def test_unknown_recipes_are_refused() -> None:
    with pytest.raises(ConfigError, match="no recipe 'nonsense'"):
        read_recipe("nonsense")
    with pytest.raises(ConfigError, match=r"no recipe 'qm' for training with labels.*'qm9'"):
        read_recipe("qm", "semi")
