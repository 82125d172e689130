"""Settings as they are written down: shipped recipes, TOML files and ``key=value`` texts."""

import tomllib
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import TypeVar

from igsd.errors import ConfigError, nearest
from igsd.settings.fields import Settings, Values
from igsd.settings.igsd import Config, SemiConfig

S = TypeVar("S", bound=Settings)

_MOST_BYTES, _MOST_DOTS = 1_000_000, 1000


def recipe_names(kind: str = "") -> list[str]:
    """Return the names of the shipped recipes; ``kind``: ``semi`` for training with few labels."""
    folder = resources.files("igsd.settings.recipes") / kind
    return sorted(Path(f.name).stem for f in folder.iterdir() if f.name.endswith(".toml"))


def read_recipe(name: str, kind: str = "") -> Values:
    """Return the values of a shipped recipe; raises ``ConfigError`` for an unknown name."""
    if name not in recipe_names(kind):
        what = f"{name!r} for training with labels" if kind else repr(name)
        raise ConfigError(f"There is no recipe {what}. {nearest(name, recipe_names(kind))}")
    file = resources.files("igsd.settings.recipes") / kind / f"{name}.toml"
    return tomllib.loads(file.read_text())


def load_recipe(name: str, settings_class: type[S]) -> S:
    """Return a method's settings from a shipped recipe; raises ``ConfigError`` for an unknown one.

    A recipe describes a kind of graphs. IGSD uses all of it, every other neural method what it says
    about nodes, encoder and run, except settings that the method redefines: MVGRL's few epochs were
    chosen for MVGRL, the recipe's for IGSD. A section named after a method holds values for that
    method only. A method without a network keeps its defaults.
    """
    values = read_recipe(name, settings_class.recipes or "")
    shared = {key: value for key, value in values.items() if not isinstance(value, dict)}
    # Rejects a misspelt key, whatever the method uses.
    (SemiConfig() if settings_class.recipes else Config()).updated(shared)
    if settings_class.recipes is None:
        return settings_class()
    if settings_class.recipes == "" and settings_class is not Config:
        own = {"seed", *vars(settings_class).get("__annotations__", ())}
        groups = {e.name: e.metadata["group"] for e in fields(Config) if e.name not in own}
        used = [key for key in shared if groups.get(key) in ("run", "features", "encoder")]
        shared = {key: shared[key] for key in used}
    section = values.get(settings_class.section, {})
    return settings_class().updated(settings_class.known(shared) | section)


def read_settings(path: str | Path) -> Values:
    """Return the settings in a TOML file; raises ``ConfigError`` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise ConfigError(
                f"{path} is larger than {_MOST_BYTES // 1000} kB, the limit for a file of "
                "settings. Is it another file?"
            )
        return _parse(raw.decode())
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}.") from error
    except RecursionError as error:
        raise ConfigError(
            f"{path} is nested too deeply. Settings are single values, not lists in lists."
        ) from error
    except (tomllib.TOMLDecodeError, ValueError) as error:  # also text or numbers that are not
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path} is not a TOML file: {error}.") from error


def _parse(text: str) -> Values:
    """Parse TOML; a key of many parts takes memory in proportion to their square."""
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {_MOST_DOTS} dots")
    return tomllib.loads(text)


def parse_settings(pairs: list[str]) -> Values:
    """Parse ``key=value`` texts; a value that is not TOML is taken as plain text."""
    settings: Values = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign:
            raise ConfigError(
                f"A setting has the form key=value, for example epochs=40. Got {pair!r} instead."
            )
        try:
            settings[key.strip()] = _parse(f"value = {text}")["value"]
        except (ValueError, RecursionError):  # not TOML
            settings[key.strip()] = {"True": True, "False": False}.get(text.strip(), text.strip())
    return settings
