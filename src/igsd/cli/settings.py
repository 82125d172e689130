"""``--recipe``, ``--config`` and ``--set``: how a command line becomes a ``Config``."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import Field
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import configure, takes_recipe
from igsd.config import Config, load_recipe
from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError
from igsd.settings_text import parse_settings, read_settings, recipe_names

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet

AUTO = "auto"

OURS = "igsd"
"""The method where none is asked for."""

_HEADER = """\
settings (for --set KEY=VALUE and TOML files), with their defaults:
the recipe changes some of them; without --recipe it is the one that fits DATA, molecules or social.
The values in use stand in config.toml of the run folder from the start, and in every record."""


def add_settings_arguments(parser: argparse.ArgumentParser, default_recipe: str | None) -> None:
    """Add the three options to a parser."""
    names = ", ".join(recipe_names())
    choice = "default: auto, which is " if default_recipe else "auto is "
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


def settings_table() -> str:
    """Return all settings as text: by group, with default and meaning.

    Those of training with labels follow, as far as they are others or have another default.
    """
    plain = {entry.name: entry.default for entry in Config.settings()}
    others = [e for e in SemiConfig.settings() if plain.get(e.name, e) != e.default]
    lines = [_HEADER]
    lines += _listed(Config.groups, Config.settings())
    lines += ["\nwith labels (--labels, --protocol semi), besides or instead:"]
    lines += _listed(SemiConfig.groups, others)
    return "\n".join(lines)


def _listed(groups: Mapping[str, str], entries: list[Field[Any]]) -> list[str]:
    """Return the lines of some settings under the titles of their groups."""
    lines = []
    for group, title in groups.items():
        members = [entry for entry in entries if entry.metadata["group"] == group]
        lines += [f"\n  {title}"] if members else []
        for entry in members:
            default = entry.default if isinstance(entry.default, str) else repr(entry.default)
            default = default.lower() if isinstance(entry.default, bool) else default
            lines += _wrapped(f"{entry.name} = {default}", _meaning(entry.metadata))
    return lines


def _meaning(rule: Any) -> str:
    choices = f" ({', '.join(rule['choices'])})" if rule["choices"] else ""
    return rule["help"] + choices


def _wrapped(left: str, text: str) -> list[str]:
    pieces = textwrap.wrap(text, 60) or [""]
    return [f"    {left:<32}{pieces[0]}"] + [" " * 36 + piece for piece in pieces[1:]]
