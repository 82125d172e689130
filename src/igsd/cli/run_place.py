"""Which folder a training by the command line is made in, or goes on in."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.settings import AUTO
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.graphs.graphset import GraphSet

RUNS = "runs"
"""The folder in which runs without a name of their own are made."""


def run_in(output: str) -> RunFolder | None:
    """Return the run in a folder, finished or not, None where there is none."""
    from igsd.experiments.run_folder import RunFolder

    folder = RunFolder(output)
    return folder if folder.state in ("unfinished", "finished") else None


def claimed_folder(args: argparse.Namespace, graphs: GraphSet, stem: str) -> RunFolder:
    """Return the folder of a new run: ``-o``, or a new ``runs/DATA-STEM-N``.

    Raises ``StorageError`` where there is a run already, unless ``--force`` replaces it.
    """
    from igsd.experiments.run_folder import RunFolder, claim, new_run_folder

    if args.output is None:
        return new_run_folder(RUNS, graphs.name, stem)
    folder = RunFolder(args.output)
    claim(folder, force=args.force, way_out="--resume goes on with it, --force replaces it.")
    return folder


def stored_recipe(args: argparse.Namespace, folder: RunFolder) -> str | None:
    """Return the recipe of a run, or the one asked for where the run does not say it.

    None where neither does. Raises ``ConfigError`` where another one is asked for.
    """
    stored, asked = (folder.metrics() or {}).get("recipe"), args.recipe
    if stored is None or asked in (None, AUTO, stored):
        return stored or (None if asked == AUTO else asked)
    raise conflict(folder, "recipe", stored, asked)


def conflict(folder: RunFolder, key: str, stored: Any, given: Any) -> ConfigError:
    """Return the error for a run that was begun otherwise than it is now asked for."""
    return ConfigError(
        f"{folder.path} is a run with {key} {stored!r}, and {given!r} was given. Leave it out to "
        "go on with that run, or give another folder with -o."
    )
