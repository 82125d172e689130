"""``igsd evaluate``: an honest score of a model, of embeddings, or of methods over seeds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from igsd.cli.options import (
    AUTO,
    RUNS,
    add_command,
    add_settings_arguments,
    choose_recipe,
    names_in,
    settings_table,
)
from igsd.cli.output import open_graphs
from igsd.cli.running import (
    PROTOCOLS_HELP,
    add_running_arguments,
    add_scoring_arguments,
    check_running,
    make_runs,
    options_of,
    parse_methods,
    say_skipped,
    shared_out,
    spread_out,
    write_json_table,
    written_changes,
)
from igsd.errors import ConfigError, counted
from igsd.evaluation import PROTOCOLS
from igsd.experiments import SPLIT_PROTOCOLS as _OFFERED

if TYPE_CHECKING:
    from igsd.cli.running import Made
    from igsd.experiments.records import Record
    from igsd.experiments.run import Run
    from igsd.experiments.scoring import Scoring
    from igsd.graphs.graphset import GraphSet

SPLIT_PROTOCOLS = (*_OFFERED, "semi-paper")
DEFAULT_METHOD = "igsd-supcon+self-training"
_NUMBER_METHOD, _QM9_METHOD, _QM9_RECIPE = "igsd-self", "igsd", "qm9"


def _listed(helps: Mapping[str, str]) -> str:
    """Return protocols with their help, as ``PROTOCOLS_HELP`` has the others."""
    indented = {name: text.replace("\n", "\n" + " " * 10) for name, text in helps.items()}
    return "\n".join(f"  {name:<6}  {text}" for name, text in indented.items())


_DESCRIPTION = f"""\
Scores vectors of graphs by how well an RBF SVM tells the classes apart, or methods that learn from
few labels by their predictions.

`igsd evaluate MODEL DATA` scores one model, or the embeddings in a file (.npy, .csv, .parquet, one
row per graph of DATA), over several fold seeds. `igsd evaluate --methods NAME,NAME DATA` fits
methods for each seed, as `igsd compare` does, and --method NAME one. `igsd evaluate --recipe NAME
DATA` trains one IGSD model per seed, scores each under its own folds, and leaves a run folder.

The table of a recipe or a model ends with reference rows: untrained (the same network before
training), histogram (counts of node labels and degrees) and majority (the most frequent class).
Embeddings from a file, models without a network and models trained with labels have no untrained
network, so that row stays empty. If many graphs are indistinguishable by message passing, rows with
the twins of test graphs removed from training come first.

protocols:
{PROTOCOLS_HELP}
{_listed(_OFFERED)}
  semi-paper  as semi, but the best epoch on the test part; optimistic, printed beside semi"""

_EXAMPLES = """\
examples:
  igsd evaluate runs/first MUTAG
  igsd evaluate vectors.npy MUTAG --protocol paper --json score.json
  igsd evaluate --recipe molecules MUTAG --seeds 5 --records results/
  igsd evaluate --methods igsd,wl,majority MUTAG
  igsd evaluate runs/mine molecules.csv --labels active
  igsd evaluate --protocol semi --methods gin,morgan B3DB --records results/
  igsd evaluate --protocol qm9 --method igsd QM9 --seeds 3 --records results/

Give the same command again after an interruption: with --records, finished seeds are skipped."""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands,
        "evaluate",
        _DESCRIPTION,
        f"{_EXAMPLES}\n\n{settings_table()}",
        usage="igsd evaluate MODEL|EMBEDDINGS DATA [options]\n"
        "       igsd evaluate --methods NAME,NAME DATA [options]\n"
        "       igsd evaluate --recipe NAME DATA [options]",
    )
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="MODEL or EMBEDDINGS, and DATA; or DATA alone"
    )
    add_scoring_arguments(parser, (*PROTOCOLS, *SPLIT_PROTOCOLS))
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    group = parser.add_argument_group("to fit methods")
    add_settings_arguments(group, chooses=False)
    group.add_argument(
        "--methods",
        "--method",
        metavar="NAME,NAME",
        help="methods of `igsd compare --help`; for semi also igsd-supcon, igsd-self, gin (each "
        "also NAME+self-training), mean-teacher, infograph and infograph-star (default: "
        f"{DEFAULT_METHOD}); with --targets not those made of classes (default: {_NUMBER_METHOD})",
    )
    group.add_argument(
        "--label-rate",
        type=float,
        metavar="SHARE",
        help="for semi: the share of the training part with a label (default: 0.05)",
    )
    group.add_argument(
        "--targets",
        metavar="NAME,NAME",
        help="for qm9: the properties to learn together (default: the ten of the protocol); for "
        "semi: the one number to predict instead of classes",
    )
    add_running_arguments(group, jobs="one run at a time, its folds on all cores")
    group.add_argument(
        "--records",
        metavar="DIR",
        help="write one JSON record per run: DIR/PROTOCOL/DATA/RECIPE (or METHOD)/seed-N.json; "
        "DATA+COLUMN with --labels",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="RUN",
        help="run folder of --recipe (default: runs/DATA-RECIPE-N, a new one)",
    )
    group.add_argument(
        "--force", action="store_true", help="replace an existing run folder, and other records"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score what was asked for, print the table, and return the exit code."""
    check_running(args)
    _check(args)
    if args.protocol in SPLIT_PROTOCOLS:
        return _score_splits(args)
    if args.methods is not None:
        from igsd.cli.compare import compare

        return compare(args, args.inputs[0], parse_methods(args.methods))[1]
    return _score_model(args) if args.recipe is None else _score_recipe(args)


def _check(args: argparse.Namespace) -> None:
    """Reject invalid combinations of options."""
    splits = args.protocol in SPLIT_PROTOCOLS
    if args.labels is not None and (args.targets is not None or args.protocol == "qm9"):
        raise ConfigError("--labels names classes: numbers to predict are named by --targets.")
    if args.targets is not None and args.protocol not in ("qm9", "semi"):
        text = "semi-paper is for classes." if splits else "--targets is for qm9 and semi."
        raise ConfigError(f"Numbers are scored by the protocols semi and qm9; {text}")
    if args.label_rate is not None and not args.protocol.startswith("semi"):
        fixed = ": protocol qm9 labels 5,000 molecules" if splits else ""
        raise ConfigError(f"--label-rate is for the protocols semi and semi-paper{fixed}.")
    fits = splits or args.methods is not None or args.recipe is not None
    if fits and len(args.inputs) != 1:
        raise ConfigError(
            f"With {'--protocol ' + args.protocol if splits else '--methods or --recipe'}, igsd "
            "evaluate takes DATA alone and fits methods itself: a model trained elsewhere may have "
            f"seen other labels or graphs. Got {' '.join(args.inputs)!r}."
        )
    if args.output and (splits or args.methods is not None):
        raise ConfigError("Methods leave records and no run folder: use --records.")
    if splits:
        scoring = {"--standardise": args.standardise, "--without-twins": args.without_twins}
        for option, value in scoring.items():
            if value is not None:
                raise ConfigError(
                    f"{option} is for the protocols nested, paper and gckn: protocol "
                    f"{args.protocol} trains inside each split and scores its predictions."
                )
    if not splits and args.methods is None:
        limits = {"seconds": args.limit_seconds, "memory": args.limit_memory}
        for option, value in limits.items():
            if value is not None:
                raise ConfigError(f"--limit-{option} is for --methods NAME.")


def _score_model(args: argparse.Namespace) -> int:
    """Score one model, or embeddings from a file."""
    if len(args.inputs) != 2:
        raise ConfigError(
            "igsd evaluate takes MODEL (or EMBEDDINGS) and DATA, or DATA alone with --recipe NAME "
            "(trains IGSD for each seed) or --method NAME (any method of `igsd compare --help`). "
            f"Got {' '.join(args.inputs)!r}."
        )
    given = {"--records": args.records, "-o": args.output, "--config": args.config}
    given |= {"--set": args.settings, "--force": args.force}
    for option, value in given.items():
        if value:
            raise ConfigError(f"{option} is for training: give it together with --recipe NAME.")
    from igsd.experiments.scoring import Scoring, has_many_twins, score_seeds, source_vectors
    from igsd.report.summary import unsaved_records

    source, data = args.inputs
    graphs = open_graphs(data, args.labels, quiet=args.quiet)
    _, options = spread_out(args, 1, graphs)
    twins = has_many_twins(graphs) if args.without_twins is None else args.without_twins
    scoring = Scoring(args.protocol, args.standardise or "yes", twins, options["fold_jobs"])
    vectors, notes = source_vectors(source, graphs, args.protocol, verbose=not args.quiet)
    seeds = range(args.seeds)
    per_seed = score_seeds(vectors, graphs, scoring, seeds, verbose=not args.quiet)
    facts = {"model": str(source), "notes": notes}
    _report_scores(args, graphs, scoring, unsaved_records(per_seed), facts, notes)
    return 0


def _score_recipe(args: argparse.Namespace) -> int:
    """Train and score one model of IGSD per seed; leaves a run folder."""
    from igsd.experiments.environment import num_processes
    from igsd.experiments.run import Run
    from igsd.experiments.scoring import Scoring
    from igsd.experiments.work import plan_runs
    from igsd.training.fit import check_trainable

    changes = shared_out(written_changes(args), ["igsd"])["igsd"]
    data = args.inputs[0]
    recipe = "molecules" if args.recipe == AUTO else args.recipe
    run = Run(args.protocol, data, "igsd", recipe, 0, fixed=tuple(changes.items()))
    run.config()  # an unknown recipe or setting is reported before data are read
    graphs = open_graphs(data, args.labels, quiet=args.quiet)
    run = replace(run, data=graphs.name, recipe=choose_recipe(args.recipe, graphs))
    run = replace(run, source=data, labels=args.labels or "", references=True)
    run = replace(run, standardise=args.standardise or "yes", twins=args.without_twins)
    config = run.config()
    check_trainable(graphs, config)
    if config.devices > 1 or num_processes() > 1:
        raise ConfigError(
            "igsd evaluate --recipe trains its models one after the other in a single process. Use "
            "devices=1 here, or train with `igsd train` and score with `igsd evaluate MODEL DATA`."
        )
    runs, options = [replace(run, seed=seed) for seed in range(args.seeds)], options_of(args)
    work = plan_runs(runs, graphs, options)
    say_skipped(work, quiet=args.quiet)
    workers, more = spread_out(args, 1, graphs)
    made, folder = _with_run_folder(args, run, graphs, work, replace(options, **more), workers)
    records = made.records(runs)
    good = [record for record in records if record["status"] == "ok"]
    if good:
        failed = [record["seed"] for record in records if record["status"] != "ok"]
        facts = {"recipe": run.recipe, "config": config.to_json(), "failed_seeds": failed}
        scoring = Scoring(run.protocol, run.standardise, run.uses_twins(graphs))
        table = _report_scores(args, graphs, scoring, good, facts)
        if folder is not None:
            folder.finish(table)
    elif folder is not None:
        folder.discard()
    return 0 if len(good) == len(runs) else 1


def _with_run_folder(
    args: argparse.Namespace, run: Run, graphs: GraphSet, work: Any, options: Any, workers: Any
) -> tuple[Made, Any]:
    """Make the runs with a run folder for their models; an interruption leaves none."""
    from igsd.cli.running import Made
    from igsd.cli.train import write_run
    from igsd.errors import StorageError
    from igsd.experiments.records import data_summary
    from igsd.experiments.run_folder import RunFolder, SeedFolders, new_run_folder

    if not work.batches:
        return Made(options, {}), None
    if args.output is None:
        place = new_run_folder(RUNS, graphs.name, run.recipe)
    else:
        place = RunFolder(args.output)
        place.check()
        place.claim(force=args.force, way_out="--force replaces it.")
    header: Any = {"recipe": run.recipe, "data": data_summary(graphs)}
    parent = RUNS if args.output is None else None

    def write(folder: RunFolder, trained: Any) -> None:
        write_run(folder, trained, graphs)

    folder = SeedFolders(place, header, run.config(), write, parent)
    try:
        return make_runs(work, replace(options, on_trained=folder), workers, args), folder
    except (OSError, StorageError, KeyboardInterrupt):
        folder.discard()
        raise


def _report_scores(
    args: argparse.Namespace,
    graphs: GraphSet,
    scoring: Scoring,
    records: list[Record],
    facts: dict[str, Any],
    notes: list[str] | None = None,
) -> dict[str, Any]:
    """Print the table of scores, or its JSON, and return it as plain values."""
    from igsd.experiments.records import data_summary
    from igsd.experiments.scoring import TWINS_REMOVED
    from igsd.report.render import show
    from igsd.report.scores import row_order, score_table, scores_to_dict
    from igsd.report.summary import row_notes

    protocol, protocols = scoring.protocol, scoring.protocols()
    methods = row_order(records, protocol)
    table = {"data": data_summary(graphs), "settings": scoring.settings(), **facts}
    table |= scores_to_dict(records, protocols[::-1], methods)
    if _printed_as_json(args, table):
        return table
    title = f"{graphs.name}, protocol {protocol}, {counted(len(records), 'seed')}"
    show(score_table(records, protocols, methods, title))
    # Rows with twins removed say so in their names.
    plain = [name for name in methods if not name.endswith(TWINS_REMOVED)]
    found = {note for name in plain for note in row_notes(records, name, protocol)}
    for note in (*sorted(found), *(notes or ())):
        print(f"note: {note}")
    return table


def _score_splits(args: argparse.Namespace) -> int:
    """Train and score methods inside splits, print their table, and return the exit code."""
    from igsd.experiments.work import plan_runs

    methods, graphs = _split_runs(args)
    runs, options = [run for found in methods.values() for run in found], options_of(args)
    work = plan_runs(runs, graphs, options)
    say_skipped(work, quiet=args.quiet)
    workers, more = spread_out(args, len(work.batches), graphs)
    made = make_runs(work, replace(options, **more), workers, args)
    good = {
        name: [record for record in made.records(found) if record["status"] == "ok"]
        for name, found in methods.items()
    }
    good = {name: records for name, records in good.items() if records}
    if good:
        first = methods[next(iter(good))][0]
        _report_splits(args, first, graphs, good)
    return 0 if sum(map(len, good.values())) == len(runs) else 1


def _split_runs(args: argparse.Namespace) -> tuple[dict[str, list[Run]], GraphSet]:
    """Return the runs of each method, and the graphs; changes are not part of their place."""
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.protocols import choose_targets
    from igsd.experiments.run import Run
    from igsd.graphs.readers.qm9 import QM9_TARGETS

    is_qm9, data, changes = args.protocol == "qm9", args.inputs[0], written_changes(args)
    if not is_qm9 and "," in (args.targets or ""):
        raise ConfigError(f"--protocol semi takes one target at a time. Got {args.targets!r}.")
    usual = _QM9_METHOD if is_qm9 else DEFAULT_METHOD if args.targets is None else _NUMBER_METHOD
    names = list(dict.fromkeys(names_in(args.methods or usual)))
    graphs = open_graphs(data, args.labels, quiet=args.quiet)
    recipe, target = choose_recipe(args.recipe, graphs), args.targets or ""
    if is_qm9:
        recipe = _QM9_RECIPE if args.recipe in (None, AUTO) else args.recipe
        chosen = choose_targets(tuple(names_in(target)), graphs)
        target = "" if chosen == QM9_TARGETS else ",".join(chosen)
    protocol = args.protocol.removesuffix("-paper")
    run = Run(protocol, graphs.name, "", recipe, 0, target=target)
    run = replace(run, source=data, labels=args.labels or "")
    run = replace(run, label_rate=LABEL_RATE if args.label_rate is None else args.label_rate)
    plain = {name: replace(run, method=name) for name in names}
    known = {name: list(each.config().to_json()) for name, each in plain.items()}
    shares = shared_out(changes, names, known)
    fixed = {name: replace(each, fixed=tuple(shares[name].items())) for name, each in plain.items()}
    for each in fixed.values():
        each.config()
    runs = {
        name: [replace(each, seed=s) for s in range(args.seeds)] for name, each in fixed.items()
    }
    return runs, graphs


def _report_splits(
    args: argparse.Namespace, run: Run, graphs: GraphSet, good: dict[str, list[Record]]
) -> None:
    """Print the table of a protocol that trains inside splits, or its JSON."""
    from igsd.cli import split_tables
    from igsd.experiments.records import data_summary

    show = split_tables.show_classes
    if run.protocol == "qm9":
        show = split_tables.show_targets
    elif run.target:
        show = split_tables.show_numbers
    table: dict[str, Any] = {"data": data_summary(graphs), "settings": run.rules.settings(run)}
    table |= {"method": run.method, "recipe": run.recipe, "config": run.config().to_json()}
    values, print_table = show(args, run, graphs, good)
    if not _printed_as_json(args, table | values):
        print_table()


def _printed_as_json(args: argparse.Namespace, table: dict[str, Any]) -> bool:
    """Print or write a table as JSON as ``--json`` says; whether it was printed."""
    if args.json == "-":
        print(json.dumps(table, indent=2, allow_nan=False))
        return True
    write_json_table(args, table)
    return False
