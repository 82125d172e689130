"""``--recipe``, ``--config`` and ``--set``: how a command line becomes a ``Config``."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from igsd.config import GROUPS, Config, load_recipe, parse_settings, read_settings, recipe_names

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet

AUTO = "auto"


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
    described = graphs.node_labels is not None or graphs.node_attributes is not None
    return "molecules" if described else "social"


def given_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set``, checked; the latter win."""
    changes = read_settings(args.config) if args.config else {}
    changes |= parse_settings(args.settings)
    checked = Config().updated(changes)
    return {key: getattr(checked, key) for key in changes}


def make_config(recipe: str, changes: dict[str, Any]) -> Config:
    """Return the settings of a recipe with changes; raises ``ConfigError`` for a wrong one."""
    return load_recipe(recipe).updated(changes)


def settings_table() -> str:
    """Return all settings as text: by group, with default and meaning."""
    lines = ["settings (for --set KEY=VALUE and TOML files), with their defaults:"]
    for group, title in GROUPS.items():
        lines.append(f"\n  {title}")
        for entry in fields(Config):
            if entry.metadata["group"] == group:
                default = entry.default if isinstance(entry.default, str) else repr(entry.default)
                default = default.lower() if isinstance(entry.default, bool) else default
                lines += _wrapped(f"{entry.name} = {default}", _meaning(entry.metadata))
    return "\n".join(lines)


def _meaning(rule: Any) -> str:
    choices = f" ({', '.join(rule['choices'])})" if rule["choices"] else ""
    return rule["help"] + choices


def _wrapped(left: str, text: str) -> list[str]:
    pieces = textwrap.wrap(text, 60) or [""]
    return [f"    {left:<32}{pieces[0]}"] + [" " * 36 + piece for piece in pieces[1:]]
