"""Options that several commands share, the settings they stand for, and their help."""

import argparse
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from itertools import chain
from pathlib import Path
from typing import Any

from igsd.baselines import registry
from igsd.cli import COMMANDS, OUTPUTS
from igsd.cli.output import say_note
from igsd.errors import ConfigError, StorageError, counted
from igsd.files.atomic import STANDARD_OUTPUT, check_writable
from igsd.files.remote import check_remote, is_remote, is_same_file, plain_path
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.standard import LEVELS
from igsd.graphs.summary import fitting_recipe
from igsd.settings import own
from igsd.settings.igsd import Config, SemiConfig
from igsd.settings.text import load_recipe, parse_settings, read_settings, recipe_names
from igsd.workers.pools import Workers, num_cores

OURS = "igsd"
"""The default method."""

PRETRAINED = "igsd-molecules"
"""The method for labels of molecules."""

RUNS = "runs"
"""The folder for runs that are not given a folder of their own."""

REPEATED: Any = {"action": "append", "default": []}
"""For an option that can be given several times."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def add_command(
    commands: Any, name: str, run: Any, description: str, epilog: str, **kwargs: Any
) -> argparse.ArgumentParser:
    """Add a command of ``COMMANDS``, which calls ``run``; its texts keep their line breaks."""
    kwargs |= {"description": description, "epilog": epilog, "help": COMMANDS[name]}
    formatter = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = commands.add_parser(name, formatter_class=formatter, **kwargs)
    parser.set_defaults(run=run)
    return parser


def add_data_argument(parser: Any, **kwargs: Any) -> None:
    """Add DATA."""
    text = "data-set name or path (see igsd --help)"
    parser.add_argument("data", metavar="DATA", help=text, **kwargs)


def add_reading_arguments(parser: Any) -> None:
    """Add the options that say how a table of molecules is read."""
    group = parser.add_argument_group("to read a table of molecules")
    text = (
        "column with SMILES or InChI (default: the one called smiles, canonical_smiles, inchi...)"
    )
    group.add_argument("--smiles-column", metavar="NAME", help=text)
    text = "neutral (default): keep the largest fragment of each molecule, without charges; "
    text += "tautomer: also its canonical tautomer (RDKit)"
    kwargs: Any = {"nargs": "?", "const": LEVELS[0], "default": "", "choices": LEVELS}
    group.add_argument("--standardise", help=text, **kwargs)


def add_model_and_data(parser: argparse.ArgumentParser, **kwargs: Any) -> None:
    """Add MODEL and DATA, with these options of an argument, and how DATA is read."""
    text = "run folder, file written by save, or molecules: the encoder in the package"
    parser.add_argument("model", metavar="MODEL", help=text, **kwargs)
    add_data_argument(parser, **kwargs)
    add_reading_arguments(parser)


def add_spreadsheet_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--spreadsheet``."""
    text = (
        "in a .csv file, put an apostrophe before ids, names and classes that begin with =, +, - "
    )
    text += "or @, which a spreadsheet would take for formulas; this changes these texts"
    parser.add_argument("--spreadsheet", action="store_true", help=text)


def add_workers_arguments(parser: Any, jobs: str, where: str) -> None:
    """Add ``--jobs``, ``--backend`` and ``--scheduler``.

    ``jobs``: the help of ``--jobs``. ``where``: what the help of ``--backend`` says after "where".
    """
    parser.add_argument("--jobs", type=int, metavar="N", help=jobs)
    text = f"where {where}"
    parser.add_argument("--backend", choices=("local", "dask"), default="local", help=text)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="address of the Dask scheduler")


def add_computing_arguments(parser: argparse.ArgumentParser, suffixes: str, what: str) -> None:
    """Add MODEL, DATA, the table that is written, and the workers that compute ``what``."""
    add_model_and_data(parser)
    text = f"{suffixes}; - for standard output"
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help=text)
    parser.set_defaults(takes_url=True)
    add_spreadsheet_argument(parser)
    text = "processes, -1 for all cores (default: 1)"
    add_workers_arguments(parser, text, f"{what} are computed")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def check_workers(args: argparse.Namespace) -> None:
    """Reject invalid combinations of these options; note more processes than cores."""
    if args.jobs is not None and args.jobs < 1 and args.jobs != -1:
        raise ConfigError(f"--jobs must be at least 1, or -1 for all cores. Got {args.jobs}.")
    if (args.backend == "dask") != (args.scheduler is not None):
        raise ConfigError("--backend dask and --scheduler ADDRESS go together.")
    if args.scheduler is not None:
        if args.jobs is not None:
            raise ConfigError(
                "--jobs is for this machine; on a cluster the number of workers decides."
            )
        from igsd.workers.cluster import check_address

        check_address(args.scheduler)
    if args.jobs is not None and args.jobs > num_cores():
        say_note(
            f"--jobs {args.jobs} on {counted(num_cores(), 'core')}: more processes than cores take "
            "more memory and are not faster."
        )


def workers_of(args: argparse.Namespace) -> Workers:
    """Check the options and return the workers that they ask for, by default one process."""
    check_workers(args)
    count = num_cores() if args.jobs == -1 else args.jobs or 1
    return Workers(count, args.scheduler)


def prepare_output(output: str, *inputs: str, option: str = "-o") -> Callable[[], None]:
    """Check the output file; return a callback for when it is written, which names a new folder.

    ``option``: the one that gave the file. Raises ``StorageError`` before any work is done if the
    file cannot be written, or would overwrite an input or a part of one. ``-`` is standard output.
    """
    if output == STANDARD_OUTPUT:
        return lambda: None
    output, inputs = plain_path(output), tuple(map(plain_path, inputs))
    if is_remote(output):
        check_remote(output)
        if any(is_same_file(output, source) for source in inputs):
            raise StorageError(f"{option} {output} is an input. Choose another name.")
        return lambda: None
    target = Path(output)
    # Where links and folders that are still to be created lead; `resolve` would raise for loops.
    place = Path(os.path.realpath(output))
    for source in inputs:
        if place.exists() and Path(source).exists() and place.samefile(source):
            raise StorageError(f"{option} {output} is the input {source}. Choose another name.")
        if not place.is_dir() and _is_part_of(place, Path(source)):
            raise StorageError(
                f"{option} {output} is or would be a part of the input {source}. Choose another "
                "name or folder."
            )
    check_writable(target)
    if target.parent.exists():
        return lambda: None
    return lambda: say_note(f"created the folder {target.parent}.")


def input_paths(args: argparse.Namespace) -> list[str]:
    """Return all texts among the arguments that may be paths of inputs."""
    values = (value for name, value in vars(args).items() if name not in OUTPUTS)
    lists = (value if isinstance(value, list) else [value] for value in values)
    return [text for text in chain.from_iterable(lists) if isinstance(text, str) and text]


def _is_part_of(place: Path, source: Path) -> bool:
    """Return whether a file is one of a run folder's own, or read as a graph of a folder."""
    from igsd.experiments.run_folder import FILES
    from igsd.graphs.readers.files import LABELS, is_network_file, network_files

    if not source.is_dir() or not place.parent.is_dir() or not place.parent.samefile(source):
        return False
    if (source / FILES[0]).exists():
        return place.exists() and place.name in FILES
    if place.exists() or place.suffix in (".csv", ".tsv"):
        return place.name == LABELS or (place.exists() and is_network_file(place))
    return is_network_file(place) and bool(network_files(source))


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


class Time(argparse.Action):
    """Stores a time such as ``2h`` in seconds."""

    def __call__(self, parser: Any, namespace: Any, text: Any, option: str | None = None) -> None:
        """Store the time; raises ``ConfigError`` if the text is not one."""
        setattr(namespace, self.dest, parse_time(text, str(option)))


def add_settings_arguments(parser: Any, *, chooses: bool = True) -> None:
    """Add the options of settings; ``chooses``: the command picks a recipe if none is given."""
    choice = "default: auto, which is" if chooses else "auto is"
    text = f"a shipped configuration: {', '.join(recipe_names())}; {choice} molecules if nodes "
    text += "have labels, networks if nodes or edges carry more, else social"
    parser.add_argument("--recipe", metavar="NAME", help=text)
    add_settings_files(parser)


def add_settings_files(parser: Any) -> None:
    """Add ``--config`` and ``--set``."""
    text = "TOML file with settings that override the recipe"
    parser.add_argument("--config", metavar="FILE.toml", help=text)
    text = "a setting that overrides recipe and file; can be repeated. view, encoder and loss also "
    text += "take your own: loss=module:function (docs/cookbook.md)"
    parser.add_argument("--set", metavar="KEY=VALUE", dest="settings", help=text, **REPEATED)


def is_auto(recipe: str | None) -> bool:
    """Return whether the recipe is left to the command, to be chosen for the data."""
    return recipe in (None, "auto")


def choose_recipe(requested: str | None, graphs: GraphSet) -> str:
    """Return the requested recipe, or the one that suits the graphs if none is requested."""
    return fitting_recipe(graphs) if is_auto(requested) else str(requested)


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
    """Return the settings of ``--config`` and ``--set`` as written; the latter win.

    An encoder, view or loss ``module:name`` is imported only if ``--set`` names it, since a file
    may come from anybody.
    """
    typed = parse_settings(args.settings)
    own.allow(typed)
    return (read_settings(args.config) if args.config else {}) | typed


def methods_text() -> str:
    """Return the methods with their titles, for a help text."""
    titles = {n: registry.METHODS[n].title for n in registry.method_names(everything=True)}
    titles |= own.offered_besides("methods", registry.METHODS)
    titles["module:Class"] = "your own, with fit and transform (docs/cookbook.md)"
    return "\n".join(["methods:", *(f"  {name:<18} {title}" for name, title in titles.items())])


_HEADER = """\
settings of IGSD (for --set KEY=VALUE and TOML files), with their defaults:
the recipe changes some of them; without --recipe it is the one that suits DATA: molecules, social
or networks. The values in use are in config.toml of the run folder and in every record."""


def settings_table() -> str:
    """Return all settings of IGSD as text: by group, with default and meaning.

    Settings of training with labels follow if they are new or have another default.
    """
    plain = {entry.name: entry.default for entry in Config.settings()}
    changed = [e for e in SemiConfig.settings() if plain.get(e.name, e) != e.default]
    lines = [_HEADER, *_listed(Config.groups, Config.settings())]
    lines += ["\nwith labels (--labels, --protocol semi), in addition or instead:"]
    return "\n".join(lines + _listed(SemiConfig.groups, changed))


def method_settings(name: str) -> str:
    """Return the settings of a method as text; raises ``ConfigError`` for an unknown name."""
    task = next((task for task in registry.TASKS if name in registry.method_names(task)), "vectors")
    config, fixed = registry.defaults(name, task), registry.method(name, task).settings
    lines = [f"settings of {name} (for --set KEY=VALUE and TOML files), with their defaults:"]
    if task != "vectors" or registry.takes_recipe(name):
        lines.append("the recipe changes some of them.")
    settings = [entry for entry in config.settings() if entry.name not in fixed]
    return "\n".join(lines + _listed(config.groups, settings))


class MethodHelp(argparse.Action):
    """``--help``, which after ``--method NAME`` lists the settings of that method instead."""

    def __init__(self, option_strings: list[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **kwargs)

    def __call__(self, parser: Any, namespace: argparse.Namespace, *args: Any) -> None:
        """Print the help and exit."""
        if namespace.method in (None, OURS):
            parser.print_help()
        else:
            print(method_settings(namespace.method))
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
            left, parts = f"{entry.name} = {default}", textwrap.wrap(meaning, 60) or [""]
            # A long default has a line of its own.
            first, *more = parts if len(left) < 32 else ["", *parts]
            lines += [f"    {left:<32}{first}".rstrip(), *(" " * 36 + part for part in more)]
    return lines


def calibration_folds(args: argparse.Namespace, method: str, config: Any, labels: Any) -> int:
    """Return the folds of ``--calibration``; raises ``ConfigError`` where it would do nothing."""
    from igsd.experiments.trained import is_calibrated_apart  # not needed for a help text

    if is_calibrated_apart(config, labels):
        return 3 if args.calibration is None else int(args.calibration)
    if args.calibration is None:
        return 0
    if "checkpoint" not in config.besides:
        raise ConfigError(
            f"--calibration is for networks. The method {method!r} always calibrates its "
            "probabilities by the cross-validation inside the labels: leave it out."
        )
    raise ConfigError(
        "--calibration is for the probabilities of classes, and numbers have none: leave it out."
    )
