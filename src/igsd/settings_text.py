"""Settings as they are written down: shipped recipes, TOML files and ``key=value`` texts."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError, nearest


def recipe_names(kind: str = "") -> list[str]:
    """Return the names of the shipped recipes; ``kind``: ``semi`` for training with few labels."""
    folder = resources.files("igsd.recipes") / kind
    return sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")
    )


def read_recipe(name: str, kind: str = "") -> dict[str, Any]:
    """Return what a shipped recipe says; raises ``ConfigError`` for an unknown name."""
    if name not in recipe_names(kind):
        what = f"{name!r} for training with labels" if kind else repr(name)
        raise ConfigError(f"There is no recipe {what}. {nearest(name, recipe_names(kind))}")
    return tomllib.loads((resources.files("igsd.recipes") / kind / f"{name}.toml").read_text())


def read_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a TOML file; raises ``ConfigError`` where it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}.") from error


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Return the settings of ``key=value`` texts, values read as TOML or else as plain text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign:
            raise ConfigError(
                f"A setting is given as key=value, for example epochs=40. Got {pair!r} instead."
            )
        try:
            settings[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key.strip()] = {"True": True, "False": False}.get(text.strip(), text.strip())
    return settings
