"""The options of commands that run methods by name, and the plans they make."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import METHODS, method, setting_names
from igsd.cli.arguments import names_in
from igsd.cli.open_graphs import open_graphs
from igsd.cli.scoring_arguments import scoring_of
from igsd.cli.settings import check_recipe, choose_recipe, refuse_seed
from igsd.errors import ConfigError, nearest
from igsd.settings_text import parse_settings, read_settings

if TYPE_CHECKING:
    from igsd.experiments.method_plan import MethodPlan


def add_limit_arguments(parser: Any) -> None:
    """Add the limits of time and memory to a parser."""
    parser.add_argument(
        "--limit-seconds",
        type=float,
        metavar="S",
        help="time to fit a method and make its vectors or kernel (default: a day); beyond it its "
        "cell says '> limit'",
    )
    parser.add_argument(
        "--limit-memory",
        type=float,
        metavar="GIB",
        help="memory of a method's process, with Python and its libraries (default: nearly all "
        "that is free); beyond it its cell says 'OMR'",
    )


def methods_text() -> str:
    """Return the methods with their titles, for a help text."""
    lines = [f"  {name:<18} {entry.title}" for name, entry in METHODS.items()]
    return "\n".join(["methods:", *lines])


def parse_methods(text: str) -> list[str]:
    """Return the names in ``NAME,NAME,...``, each once; ``all`` stands for every one.

    Raises ``ConfigError`` with the nearest names for an unknown one.
    """
    names = names_in(text)
    if not names:
        raise ConfigError("--methods takes names with commas between them, or all. Got none.")
    for name in names:
        if name != "all":
            method(name)
    return list(METHODS) if "all" in names else list(dict.fromkeys(names))


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return what ``--config`` and ``--set`` say, the latter wins; NAME.KEY is of one method.

    Raises ``ConfigError`` for a seed.
    """
    changes: dict[str, Any] = {}
    for key, value in (read_settings(args.config) if args.config else {}).items():
        inner = {f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) else None
        changes |= {key: value} if inner is None else inner
    changes |= parse_settings(args.settings)
    refuse_seed(changes)
    return changes


def shared_out(changes: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of each method: KEY goes to all that have it, NAME.KEY to one.

    Raises ``ConfigError`` where no method that is run has such a setting.
    """
    shares: dict[str, dict[str, Any]] = {name: {} for name in names}
    known = {name: setting_names(name) for name in names}
    for key, value in changes.items():
        owner, _, plain = key.rpartition(".")
        if owner and owner not in shares:
            method(owner)  # an unknown name is told first
            raise ConfigError(
                f"{key} is a setting of {owner!r}, which is not run: {', '.join(names)}. Add it to "
                "the methods, or leave the setting out."
            )
        takers = [name for name in ([owner] if owner else names) if plain in known[name]]
        if not takers:
            whose = repr(owner) if owner else " or ".join(map(repr, names))
            hint = nearest(plain, {k for n in ([owner] if owner else names) for k in known[n]})
            raise ConfigError(f"There is no setting {plain!r} of {whose}. {hint}")
        for name in takers:
            shares[name][plain] = value
    return shares


def check_limits(args: argparse.Namespace) -> None:
    """Raise ``ConfigError`` for a limit that leaves nothing."""
    for option, value in (("seconds", args.limit_seconds), ("memory", args.limit_memory)):
        if value is not None and not value > 0:
            raise ConfigError(f"--limit-{option} must be above 0. Got {value:g}.")


def make_plans(args: argparse.Namespace, data: str, names: Sequence[str]) -> list[MethodPlan]:
    """Return one plan for each method, everything checked that can be checked without a run."""
    check_limits(args)
    shares = shared_out(given_settings(args), names)
    check_recipe(args.recipe, names)
    from igsd.experiments.method_plan import DAY, plan_method

    graphs = open_graphs(data, args.labels, quiet=args.quiet)
    recipe, scoring = choose_recipe(args.recipe, graphs), scoring_of(args, graphs)
    others: dict[str, Any] = {"seconds": args.limit_seconds or DAY, "force": args.force}
    others |= {"memory_gib": args.limit_memory, "num_seeds": args.seeds}
    others |= {"records": None if args.records is None else Path(args.records)}
    return [
        plan_method(graphs, name, scoring, recipe=recipe, changes=shares[name], **others)
        for name in names
    ]
