"""Options that several commands share, the settings they stand for, and their help."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines import registry
from igsd.cli.output import say_note
from igsd.errors import ConfigError, StorageError
from igsd.settings.igsd import Config, SemiConfig
from igsd.settings.text import load_recipe, parse_settings, read_settings, recipe_names

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet

COMMANDS = {
    "data": "list, show and import data sets",
    "train": "train a model on graphs, with few labels or none",
    "pretrain": "train an encoder of molecules on a corpus of SMILES",
    "embed": "write the vectors of graphs to a file",
    "predict": "write the predicted class or value of each graph to a file",
    "evaluate": "score a model, embeddings, or a recipe over seeds",
    "compare": "score several methods on the same folds",
    "tune": "search for settings on a data set and write them as a recipe",
    "reproduce": "run and print a table or figure of the paper",
    "report": "make one HTML page from records and runs",
    "neighbors": "list the graphs most similar to one",
}
"""The commands in the order of ``igsd --help``; each is the module of its name in ``igsd.cli``."""

AUTO = "auto"

OURS = "igsd"
"""The default method."""

RUNS = "runs"
"""The folder for runs that are not given a folder of their own."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def add_command(
    commands: Any, name: str, description: str, epilog: str, **kwargs: Any
) -> argparse.ArgumentParser:
    """Add a command of ``COMMANDS`` and return its parser; its texts keep their line breaks."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=COMMANDS[name],
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **kwargs,
    )
    return parser


def add_data_argument(parser: Any) -> None:
    """Add DATA."""
    parser.add_argument("data", metavar="DATA", help="data-set name or path (see igsd --help)")


def add_model_and_data(parser: argparse.ArgumentParser) -> None:
    """Add MODEL and DATA."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="run folder, file written by save, or molecules: the encoder in the package",
    )
    add_data_argument(parser)


def prepare_output(output: str, *inputs: str) -> Callable[[], None]:
    """Check the output file; return a callback for when it is written, which names a new folder.

    Raises ``StorageError`` if the file cannot be written or would overwrite an input, before any
    work is done.
    """
    from igsd.files.atomic import check_writable

    target = Path(output)
    for source in inputs:
        if target.exists() and Path(source).exists() and target.samefile(source):
            raise StorageError(f"-o {output} is the input {source}. Choose another name.")
    check_writable(target)
    if target.parent.exists():
        return lambda: None
    return lambda: say_note(f"created the folder {target.parent}.")


def names_in(text: str) -> list[str]:
    """Split ``NAME,NAME,...``, ignoring spaces around the names.

    >>> names_in("igsd, wl,")
    ['igsd', 'wl']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_time(text: str, option: str) -> float:
    """Parse a time such as ``2h``, ``1h30m`` or ``90`` (seconds); return it in seconds.

    Raises ``ConfigError`` naming the ``option`` if the text is not a time.
    """
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise ConfigError(f"{option} takes a time such as 30m, 2h or 1h30m. Got {text!r}.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def add_settings_arguments(parser: Any, *, chooses: bool = True) -> None:
    """Add ``--recipe``, ``--config`` and ``--set``.

    ``chooses``: whether the command picks a recipe if none is given.
    """
    names = ", ".join(recipe_names())
    choice = "default: auto, which is " if chooses else "auto is "
    parser.add_argument(
        "--recipe",
        metavar="NAME",
        help=f"a shipped configuration: {names}; {choice}molecules if nodes have labels or "
        "attributes, else social",
    )
    add_settings_files(parser)


def add_settings_files(parser: Any) -> None:
    """Add ``--config`` and ``--set``."""
    parser.add_argument(
        "--config", metavar="FILE.toml", help="TOML file with settings that override the recipe"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a setting that overrides recipe and file; can be repeated",
    )


def is_auto(recipe: str | None) -> bool:
    """Return whether the recipe is left to the command, to be chosen for the data."""
    return recipe in (None, AUTO)


def choose_recipe(requested: str | None, graphs: GraphSet) -> str:
    """Return the requested recipe, or the one that suits the graphs if none is requested."""
    if not is_auto(requested):
        return str(requested)
    from igsd.experiments.trained import fitting_recipe

    return fitting_recipe(graphs)


def check_recipe(requested: str | None, methods: Sequence[str]) -> None:
    """Raise ``ConfigError`` for an unknown recipe, and for one that none of the methods uses."""
    if is_auto(requested):
        return
    load_recipe(str(requested), Config)
    if not any(registry.takes_recipe(name) for name in methods):
        raise ConfigError(
            f"A recipe configures the training of a network, and {', '.join(methods)} has none. "
            f"Leave out --recipe {requested}; give settings with --set."
        )


def written_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set`` as written; the latter win."""
    return (read_settings(args.config) if args.config else {}) | parse_settings(args.settings)


def refuse_seed(changes: Mapping[str, Any]) -> None:
    """Raise ``ConfigError`` if a seed is among the settings (NAME, or METHOD.NAME)."""
    if any(key.rpartition(".")[2] == "seed" for key in changes):
        raise ConfigError("The seeds are 0..N-1 of --seeds N, so seed cannot be set.")


def methods_text() -> str:
    """Return the methods with their titles, for a help text."""
    lines = [
        f"  {name:<18} {registry.METHODS[name].title}"
        for name in registry.method_names(everything=True)
    ]
    return "\n".join(["methods:", *lines])


_HEADER = """\
settings of IGSD (for --set KEY=VALUE and TOML files), with their defaults:
the recipe changes some of them; without --recipe it is the one that suits DATA, molecules or
social. The values in use are in config.toml of the run folder and in every record."""


def settings_table() -> str:
    """Return all settings of IGSD as text: by group, with default and meaning.

    Settings of training with labels follow if they are new or have another default.
    """
    plain = {entry.name: entry.default for entry in Config.settings()}
    changed = [e for e in SemiConfig.settings() if plain.get(e.name, e) != e.default]
    lines = [_HEADER]
    lines += _listed(Config.groups, Config.settings())
    lines += ["\nwith labels (--labels, --protocol semi), in addition or instead:"]
    lines += _listed(SemiConfig.groups, changed)
    return "\n".join(lines)


def method_settings(name: str) -> str:
    """Return the settings of a method as text; raises ``ConfigError`` for an unknown name."""
    task = next((task for task in registry.TASKS if name in registry.method_names(task)), "vectors")
    config, fixed = registry.defaults(name, task), registry.method(name, task).settings
    lines = [f"settings of {name} (for --set KEY=VALUE and TOML files), with their defaults:"]
    if task != "vectors" or registry.takes_recipe(name):
        lines.append("the recipe changes some of them.")
    lines += _listed(config.groups, [e for e in config.settings() if e.name not in fixed])
    return "\n".join(lines)


class MethodHelp(argparse.Action):
    """``--help``, which after ``--method NAME`` lists the settings of that method instead."""

    def __init__(self, option_strings: list[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **kwargs)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *args: Any
    ) -> None:
        """Print the help and exit."""
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
            choices = entry.metadata["choices"]
            meaning = entry.metadata["help"] + (f" ({', '.join(choices)})" if choices else "")
            lines += _wrapped(f"{entry.name} = {default}", meaning)
    return lines


def _wrapped(left: str, text: str) -> list[str]:
    """Return the lines of one setting; a long default has a line of its own."""
    parts = textwrap.wrap(text, 60) or [""]
    parts = parts if len(left) < 32 else ["", *parts]
    first = f"    {left:<32}{parts[0]}".rstrip()
    return [first, *(" " * 36 + part for part in parts[1:])]
