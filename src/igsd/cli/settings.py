"""``--recipe``, ``--config`` and ``--set``: how a command line becomes a ``Config``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import configure, takes_recipe
from igsd.config import load_recipe
from igsd.errors import ConfigError
from igsd.settings_text import parse_settings, read_settings, recipe_names

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet

AUTO = "auto"

OURS = "igsd"
"""The method where none is asked for."""


def add_settings_arguments(parser: Any, *, chooses: bool = True) -> None:
    """Add the three options to a parser.

    ``chooses``: whether the command finds a recipe where none is given.
    """
    names = ", ".join(recipe_names())
    choice = "default: auto, which is " if chooses else "auto is "
    parser.add_argument(
        "--recipe",
        metavar="NAME",
        help=f"a shipped configuration: {names}; {choice}molecules where nodes have labels or "
        "attributes, else social",
    )
    parser.add_argument(
        "--config", metavar="FILE.toml", help="settings that go over the recipe's, as TOML"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="one setting that goes over recipe and file; may be given many times",
    )


def choose_recipe(asked: str | None, graphs: GraphSet) -> str:
    """Return the name of the recipe: the one asked for, or the one that fits the graphs."""
    if asked not in (None, AUTO):
        return str(asked)
    from igsd.experiments.runs import fitting_recipe

    return fitting_recipe(graphs)


def check_recipe(asked: str | None, methods: Sequence[str]) -> None:
    """Raise ``ConfigError`` for an unknown recipe, and for one that no method has a use for."""
    if asked in (None, AUTO):
        return
    load_recipe(str(asked))
    if not any(takes_recipe(name) for name in methods):
        raise ConfigError(
            f"A recipe says how a network is trained, and there is none in {', '.join(methods)}. "
            f"Leave out --recipe {asked}; settings are given with --set."
        )


def written_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set`` as they were written; the latter win."""
    return (read_settings(args.config) if args.config else {}) | parse_settings(args.settings)


def refuse_seed(changes: Mapping[str, Any]) -> None:
    """Raise ``ConfigError`` for a seed, which is not the user's to set where seeds are counted.

    A key is the name of a setting, or METHOD.NAME.
    """
    if any(key.rpartition(".")[2] == "seed" for key in changes):
        raise ConfigError("The seeds are 0..N-1 of --seeds N here, so seed cannot be set.")


def given_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set`` for the method; the latter win.

    Raises ``ConfigError`` for an unknown method or recipe and for a wrong setting, before any data
    are read.
    """
    changes = written_settings(args)
    recipe = recipe_names()[0] if args.recipe in (None, AUTO) else args.recipe
    checked = configure(args.method or OURS, recipe, changes).to_json()
    return {key: checked[key] for key in changes}
