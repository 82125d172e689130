"""``igsd data``: list data sets, show what is in one, and import other files."""

import contextlib
import glob
import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.cli.options import (
    add_command,
    add_reading_arguments,
    add_workers_arguments,
    names_in,
    prepare_output,
    workers_of,
)
from igsd.cli.output import open_graphs, reading_of, say_note
from igsd.errors import ConfigError, DataError, StorageError, counted
from igsd.evaluation.twins import count_twins
from igsd.files.locks import only_writer
from igsd.files.remote import is_remote
from igsd.graphs.build import join_sets
from igsd.graphs.datasets import aliases, data_sets, shown_names
from igsd.graphs.graphset import GraphSet
from igsd.graphs.importing import (
    Imported,
    import_tables,
    is_long,
    parts_folder,
)
from igsd.graphs.open import open_data
from igsd.graphs.readers.files import is_network_file
from igsd.graphs.readers.table import read_smiles_table
from igsd.graphs.readers.text_table import is_table
from igsd.graphs.shards import MANIFEST, is_sharded
from igsd.graphs.summary import GraphSetSummary, Spread, fitting_recipe, summarize
from igsd.progress import progress_bar
from igsd.report.aligned import print_table
from igsd.report.pictures import draw_graphs
from igsd.settings.igsd import Config
from igsd.settings.text import load_recipe
from igsd.workers.pools import Workers

_DESCRIPTION = """\
Data sets by name, and graphs in files. A name is looked up in the folder IGSD_DATA (NAME.zip or
NAME/ in TU layout), then in the cache, then in installed packages, then downloaded."""

_EXAMPLES = """\
examples:
  igsd data list
  igsd data show MUTAG --plot mutag.png
  igsd data import molecules.csv -o molecules.graphs --label-column active
  igsd data import 'chunk-*.csv.gz' -o all.graphs --jobs 8"""

_MOST_LABELS = 12


def add_parser(commands: Any) -> None:
    """Add the command and its subcommands to the parser."""
    parser = add_command(commands, "data", run_list, _DESCRIPTION, _EXAMPLES)
    parts = parser.add_subparsers(metavar="list|show|import", required=True)
    part = parts.add_parser("list", help="the named data sets and where they are")
    part.set_defaults(run=run_list)
    text = "graphs, classes, labels and indistinguishable graphs of one"
    part = parts.add_parser("show", help=text)
    part.add_argument("data", metavar="NAME|PATH", help="data-set name or path (see igsd --help)")
    text = "also draw a few of the graphs, to a PNG, SVG or PDF file"
    part.add_argument("--plot", metavar="FILE", help=text)
    add_reading_arguments(part)
    part.set_defaults(run=run_show)
    text = (
        "Writes the graphs of PATH (a TU folder or zip, a table of molecules, files of networks or "
        "a folder of them, a name) to one file that every command accepts as DATA and that opens "
        "quickly. Several paths, also patterns as in '*.csv', become one set. A table may be "
        "of any length: it is read in parts by --jobs processes, or on a Dask cluster. The parts "
        "are kept in the folder OUT.parts until OUT is written; after an interruption the same "
        "command continues from them. For more than 250,000 molecules, OUT is a folder of shards "
        "and their manifest."
    )
    summary = "convert other files to one portable file"
    part = parts.add_parser("import", help=summary, description=text)
    text = "what to import; several of one kind, or patterns, become one set"
    part.add_argument("paths", metavar="PATH", nargs="+", help=text)
    text = "the file to write; its folder is created if needed"
    part.add_argument("-o", "--output", metavar="OUT", required=True, help=text)
    add_reading_arguments(part)
    text = "column with the classes (default: the one called label, class or y)"
    part.add_argument("--label-column", metavar="NAME", help=text)
    text = "columns that become targets (default: every other column of numbers)"
    part.add_argument("--target-columns", metavar="NAME,NAME", help=text)
    text = "processes that read molecules, -1 for all cores (default: 1)"
    add_workers_arguments(part, text, "molecules are read")
    part.add_argument("--force", action="store_true", help="replace OUT if it exists")
    part.add_argument("--quiet", action="store_true", help="no progress bar")
    part.set_defaults(run=run_import)


def run_list(args: Namespace) -> int:
    """Print the named data sets."""
    lines = [
        [info.name, str(info.graphs or "-"), str(info.classes or "-"), info.about, info.where]
        for info in data_sets()
    ]
    print_table(["name", "graphs", "classes", "what", "where"], lines, left=(0, 3, 4))
    short = ", ".join(f"{alias} ({name})" for alias, name in sorted(aliases().items()))
    print("\nAny other data set of the TU collection can be given by its name too, for example")
    print("REDDIT-BINARY, REDDIT-MULTI-5K or ENZYMES. Case does not matter.")
    print(f"Short names: {short}.")
    return 0


def run_show(args: Namespace) -> int:
    """Print what is in one data set."""
    written = prepare_output(args.plot, args.data) if args.plot else None
    graphs = open_graphs(args.data, **reading_of(args))
    lines = [*_summary_lines(summarize(graphs), graphs), *_seen_lines(graphs), *_twin_lines(graphs)]
    shown = {text for _, text in lines}
    lines += [("note", note) for note in graphs.notes if note not in shown]
    width = max(len(key) for key, _ in lines)
    for key, text in lines:
        print(f"{key:<{width}}  {text}")
    if written is not None:
        draw_graphs(graphs).save(args.plot)
        written()
        print(f"\ndrawn: {args.plot}")
    return 0


def run_import(args: Namespace) -> int:
    """Write the portable file, and list rows that could not be read."""
    target, paths = Path(args.output), _matching(args.paths)
    workers = workers_of(args)
    # A folder of shards is replaced as a whole.
    written = prepare_output(str(target / MANIFEST if is_sharded(target) else target), *paths)
    tables = [path for path in paths if is_table(path)]
    if (args.label_column or args.target_columns) and len(tables) < len(paths):
        other = next(path for path in paths if path not in tables)
        raise StorageError(
            f"Columns can be named for a table only, and {other} is not one. "
            "Leave out the options that name columns, or give the path of a table."
        )
    if tables and len(tables) < len(paths):
        other = next(path for path in paths if path not in tables)
        raise DataError(
            f"Several paths become one set only if all are tables or none is. {tables[0]} is a "
            f"table, and {other} is not."
        )
    if not tables and not workers.is_here:
        raise ConfigError(
            f"--jobs and --backend are for tables of molecules, and {paths[0]} is not one. Leave "
            "them out."
        )
    with only_writer(target, may_replace=args.force):
        if tables and (is_long(tables, workers) or is_sharded(target)):
            count, notes = _import_tables(args, tables, target, workers)
        else:
            graphs = _opened(args, paths)
            graphs.save(target)
            count, notes = len(graphs), graphs.notes
    written()
    print(f"{counted(count, 'graph')}: {target}")
    for note in notes if not tables else ():  # those of tables were said while they were read
        print(f"note: {note}")
    return 0


def _matching(paths: list[str]) -> list[str]:
    """Return the paths, with those that match a pattern in its place; raises ``DataError``."""
    found: list[str] = []
    for path in paths:
        if os.path.exists(path) or not glob.has_magic(path):
            found.append(path)
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise DataError(f"No file matches {path!r}. Correct the pattern, or name the files.")
        found += matches
    for place, path in enumerate(found):
        if path in found[:place]:
            raise DataError(f"{path} is given twice: its graphs would be in the set twice.")
    return found


def _opened(args: Namespace, paths: list[str]) -> GraphSet:
    """Return the graphs of a short table, or of anything that is not a table."""
    if len(paths) == 1 and is_table(paths[0]) and not is_remote(paths[0]):
        targets = names_in(args.target_columns) if args.target_columns else None
        columns = (args.smiles_column, args.label_column, targets)
        kwargs: Any = {"standardise": args.standardise, "names_unkept": True}
        return read_smiles_table(paths[0], *columns, **kwargs)
    if len(paths) > 1 and all(os.path.isfile(p) and is_network_file(Path(p)) for p in paths):
        return replace(open_data(paths, **reading_of(args)), name=Path(args.output).stem)
    sets = [open_graphs(path, quiet=args.quiet, **reading_of(args)) for path in paths]
    return sets[0] if len(sets) == 1 else join_sets(sets, name=Path(args.output).stem)


def _import_tables(args: Namespace, tables: list[str], target: Path, workers: Workers) -> Imported:
    """Import long tables, or several, with a progress bar; say how to go on after Ctrl-C."""
    with contextlib.ExitStack() as bars:

        def begin(total: int) -> Callable[[int], Any]:
            return bars.enter_context(progress_bar("reading", total, shown=not args.quiet))

        try:
            return import_tables(
                tables,
                target,
                smiles_column=args.smiles_column,
                label_column=args.label_column,
                target_columns=names_in(args.target_columns) if args.target_columns else None,
                standardise=args.standardise,
                workers=workers,
                begin=begin,
            )
        except KeyboardInterrupt:
            if (folder := parts_folder(target)).exists():
                say_note(
                    f"what was read is kept in {folder}; the same command continues from there."
                )
            raise


def _summary_lines(summary: GraphSetSummary, graphs: GraphSet) -> list[tuple[str, str]]:
    """Return the figures of a data set as (name, text)."""
    counts = _with_meaning(summary.classes, shown_names(graphs, "classes"))
    classes = ", ".join(f"{name}: {count}" for name, count in counts.items())
    if summary.unlabelled:
        classes += f", unknown: {summary.unlabelled}"
    return [
        ("name", summary.name),
        ("graphs", str(summary.graphs)),
        ("classes", classes or "none"),
        ("nodes", _spread(summary.nodes)),
        ("edges", _spread(summary.edges)),
        ("degrees", _spread(summary.degrees)),
        ("components", _spread(summary.components)),
        ("node labels", _labels(_with_meaning(summary.node_labels, shown_names(graphs, "nodes")))),
        ("edge labels", _labels(_with_meaning(summary.edge_labels, shown_names(graphs, "edges")))),
        ("node attributes", _names(summary.node_attributes)),
        ("edge attributes", _names(summary.edge_attributes)),
        ("edge weights", summary.weights or "none"),
        ("direction", _direction(summary.one_way)),
        ("targets", _names(summary.targets)),
        ("isolated nodes", str(summary.isolated_nodes)),
        ("disconnected graphs", str(summary.disconnected_graphs)),
    ]


def _with_meaning(counts: dict[Any, int], shown: list[str]) -> dict[str, int]:
    """Return counts with what each name means, where that is known: ``0 (C)``."""
    pairs = zip(counts.items(), shown, strict=False)  # without labels there are no counts
    return {str(name) if str(name) == text else f"{name} ({text})": n for (name, n), text in pairs}


def _seen_lines(graphs: GraphSet) -> list[tuple[str, str]]:
    """Return what the recipe that suits the graphs sees of nodes and edges, and what not."""
    from igsd.training.fit import fit_features

    recipe = fitting_recipe(graphs)
    try:
        features = fit_features(graphs, load_recipe(recipe, Config))
    except DataError as error:  # such as a negative weight: what there is can be shown all the same
        return [("recipe", recipe), ("not usable", str(error))]
    lines = [("recipe", recipe), ("seen", features.used)]
    return lines + [("not seen", text) for text in features.unused]


def _twin_lines(graphs: GraphSet) -> list[tuple[str, str]]:
    """Return the figures of graphs that message passing cannot tell apart."""
    twins = count_twins(graphs)
    text = f"{twins.shared} of {twins.graphs} (twins: equal under colour refinement, 1-WL); "
    text += f"{twins.distinct} distinct, the largest group has {twins.largest}"
    lines = [("indistinguishable", text)]
    if twins.ceiling is not None:
        best = f"{100 * twins.ceiling:.1f} %, the best accuracy by structure and node labels alone"
        lines.append(("1-WL ceiling", best))
    return lines


def _direction(one_way: float) -> str:
    return f"{100 * one_way:.1f} % of the edges go one way" if one_way else "none"


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.1f} on average, {spread.min} to {spread.max}"


def _labels(counts: dict[Any, int]) -> str:
    if not counts:
        return "none"
    shown = sorted(counts.items(), key=lambda item: -item[1])[:_MOST_LABELS]
    text = ", ".join(f"{name}: {count}" for name, count in shown)
    more = len(counts) - len(shown)
    return f"{len(counts)} kinds; {text}" + (f", and {more} more" if more else "")


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_LABELS]) + (", ..." if len(names) > _MOST_LABELS else "")
    return f"{len(names)} ({shown})" if names else "none"
