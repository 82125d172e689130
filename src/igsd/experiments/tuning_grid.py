"""The settings that a search tries: the paper's grids, and those of the user."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from igsd.config import Config
from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError
from igsd.settings_text import parse_settings

Grid = dict[str, tuple[Any, ...]]
"""The values to try of each setting."""

_HEADS: Grid = {"head_hidden_dim": (1024, 2048), "head_dim": (256, 512)}

PAPER_GRID: Grid = {
    "num_layers": (2, 8, 12),
    "batch_size": (16, 32, 64, 128, 256, 512),
    "epochs": (20, 40, 100),
    "learning_rate": (1e-4, 1e-3),
    **_HEADS,
}
"""What the paper tries without labels (section 5.1)."""

PAPER_LABEL_GRID: Grid = {
    "hidden_dim": (16, 32),
    "label_batch_size": (32, 128),
    "head_dropout": (0.0, 0.5),
    **_HEADS,
    "self_training_rounds": (20, 50),
    "self_training_threshold": (0.9, 0.95),
}
"""What it tries with few labels: the first three are GIN's, to whose paper it refers.

The number of epochs is not searched: the protocol wants it fixed in advance.
"""


def paper_grid(config: Config) -> Grid:
    """Return the paper's grid for these settings, without what the method has no use for."""
    if not isinstance(config, SemiConfig):
        return dict(PAPER_GRID)
    used = {entry.name for entry in config.settings()}
    if not config.self_training:
        used -= {"self_training_rounds", "self_training_threshold"}
    return {key: values for key, values in PAPER_LABEL_GRID.items() if key in used}


def parse_grid(texts: Sequence[str]) -> Grid:
    """Return the grid of texts ``key=a,b,c``, values read as ``--set`` reads them."""
    grid: Grid = {}
    for text in texts:
        key, sign, values = text.partition("=")
        pieces = [piece.strip() for piece in values.split(",") if piece.strip()]
        if not sign or not pieces:
            raise ConfigError(
                f"A grid is given as key=a,b,c, for example epochs=20,40. Got {text!r} instead."
            )
        name = key.strip()
        grid[name] = tuple(parse_settings([f"{name}={piece}"])[name] for piece in pieces)
    return grid


def make_grid(config: Config, given: Mapping[str, Sequence[Any]], fixed: Collection[str]) -> Grid:
    """Return the paper's grid, with the values ``given`` over it and without what is ``fixed``.

    A setting that is given and not in the paper's grid is added. Raises ``ConfigError`` for an
    unknown setting, a value outside its rule, and one that is given and fixed.
    """
    for key in given:
        if key == "seed":
            raise ConfigError(
                "A seed is luck and no setting to choose: leave seed out of the grid."
            )
        if key in fixed:
            raise ConfigError(f"{key} is both set to a value and in the grid: give one of them.")
    grid = {key: v for key, v in paper_grid(config).items() if key not in fixed} | dict(given)
    checked = {key: _checked(config, key, values) for key, values in grid.items()}
    if not checked:
        raise ConfigError(
            "There is nothing to search: every setting of the grid is set to a value."
        )
    return checked


def _checked(config: Config, key: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values as the setting's own type, each once; raises ``ConfigError``."""
    return tuple(dict.fromkeys(getattr(config.updated({key: value}), key) for value in values))


def num_choices(grid: Grid) -> int:
    """Return how many combinations the grid has."""
    return math.prod(len(values) for values in grid.values())
