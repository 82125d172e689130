"""Settings as a help text lists them: those of IGSD, and those of any other method."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from dataclasses import Field
from typing import Any

from igsd.baselines.registry import defaults, method, takes_recipe
from igsd.cli.settings import OURS
from igsd.config import Config
from igsd.config_semi import SemiConfig
from igsd.errors import ConfigError

_HEADER = """\
settings of IGSD (for --set KEY=VALUE and TOML files), with their defaults:
the recipe changes some of them; without --recipe it is the one that fits DATA, molecules or social.
The values in use stand in config.toml of the run folder from the start, and in every record."""


def settings_table() -> str:
    """Return all settings of IGSD as text: by group, with default and meaning.

    Those of training with labels follow, as far as they are others or have another default.
    """
    plain = {entry.name: entry.default for entry in Config.settings()}
    others = [e for e in SemiConfig.settings() if plain.get(e.name, e) != e.default]
    lines = [_HEADER]
    lines += _listed(Config.groups, Config.settings())
    lines += ["\nwith labels (--labels, --protocol semi), besides or instead:"]
    lines += _listed(SemiConfig.groups, others)
    return "\n".join(lines)


def method_settings(name: str) -> str:
    """Return the settings of a method as text; raises ``ConfigError`` for an unknown name."""
    config, fixed = defaults(name), method(name).settings
    lines = [f"settings of {name} (for --set KEY=VALUE and TOML files), with their defaults:"]
    if takes_recipe(name):
        lines.append("the recipe changes some of them.")
    lines += _listed(config.groups, [e for e in config.settings() if e.name not in fixed])
    return "\n".join(lines)


class MethodHelp(argparse.Action):
    """``--help``, which after ``--method NAME`` lists the settings of that method instead."""

    def __init__(self, option_strings: list[str], dest: str, **others: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **others)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *others: Any
    ) -> None:
        """Print the help and end."""
        if namespace.method in (None, OURS):
            parser.print_help()
            parser.exit()
        try:
            print(method_settings(namespace.method))
        except ConfigError as error:
            parser.error(str(error))
        parser.exit()


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
    """Return the lines of one setting; a long default has a line of its own."""
    pieces = textwrap.wrap(text, 60) or [""]
    pieces = pieces if len(left) < 32 else ["", *pieces]
    first = f"    {left:<32}{pieces[0]}".rstrip()
    return [first, *(" " * 36 + piece for piece in pieces[1:])]
