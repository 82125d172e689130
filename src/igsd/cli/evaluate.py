"""``igsd evaluate``: an honest score of a model, of embeddings, or of a recipe over seeds."""

from __future__ import annotations

import argparse
from typing import Any

from igsd.cli.arguments import add_command
from igsd.cli.method_options import add_limit_arguments
from igsd.cli.open_graphs import open_graphs
from igsd.cli.score_table import report_scores
from igsd.cli.scoring_arguments import (
    PROTOCOLS_HELP,
    add_scoring_arguments,
    check_scoring_arguments,
    refuse_scoring_arguments,
    scoring_of,
    write_table_json,
)
from igsd.cli.settings import add_settings_arguments
from igsd.cli.settings_help import settings_table
from igsd.errors import ConfigError
from igsd.evaluation import PROTOCOLS

_DESCRIPTION = f"""\
Scores vectors of graphs by how well an RBF SVM tells the classes apart.

`igsd evaluate MODEL DATA` scores one model, or the embeddings in a file (.npy, .csv, .parquet, one
row per graph of DATA), over several fold seeds. `igsd evaluate --recipe NAME DATA` trains one
model per seed, scores each under its own folds, and leaves a run folder. `igsd evaluate --method
NAME DATA` does what `igsd compare` does, for one method.

The table of a recipe or a model ends with the rows untrained (the same network before training),
histogram (counts of node labels and degrees) and majority (the most frequent class). Embeddings
from a file, models without a network and those trained with labels have no untrained one, so that
row stays empty; --method NAME has the rows of the method and of majority alone. Where many graphs
cannot be told apart, rows with the twins of test graphs removed from training stand before them.

protocols:
{PROTOCOLS_HELP}
  semi    few labels: 10 % test, 5 % of the training part labelled; --method NAME is trained inside
          each split, for a number of epochs fixed in advance. It hides labels itself. Graphs of
          an unknown class (--targets: number) are trained on without one and never tested on; the
          shares are of the others
  semi-paper  the same, but the best epoch on the test part; optimistic, printed beside semi
  qm9     properties of molecules: 5,000 labelled, 10,000 for validation and for the test each;
          mean absolute error, and its ratio to --method supervised (mean-teacher, infograph,
          infograph-star and igsd are the others)"""

_EXAMPLES = """\
examples:
  igsd evaluate runs/first MUTAG
  igsd evaluate vectors.npy MUTAG --protocol paper --json score.json
  igsd evaluate --recipe molecules MUTAG --seeds 5 --records results/
  igsd evaluate --method wl MUTAG
  igsd evaluate runs/mine molecules.csv --labels active
  igsd evaluate --protocol semi --method gin IMDB-BINARY --records results/
  igsd evaluate --protocol qm9 --method igsd QM9 --seeds 3 --records results/

Give the same command again after an interruption: with --records, finished seeds are skipped."""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands,
        "evaluate",
        "score a model, embeddings, or a recipe over seeds",
        _DESCRIPTION,
        f"{_EXAMPLES}\n\n{settings_table()}",
        usage="igsd evaluate MODEL|EMBEDDINGS DATA [options]\n"
        "       igsd evaluate --recipe NAME DATA [options]\n"
        "       igsd evaluate --method NAME DATA [options]",
    )
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="MODEL or EMBEDDINGS, and DATA; or DATA alone"
    )
    add_scoring_arguments(parser, (*PROTOCOLS, "semi", "semi-paper", "qm9"))
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    _add_recipe_arguments(parser)
    parser.set_defaults(run=run)


def _add_recipe_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("to train one model per seed")
    add_settings_arguments(group, chooses=False)
    group.add_argument(
        "--method",
        metavar="NAME",
        help="a method of `igsd compare --help`; for semi: igsd-supcon, igsd-self, gin (each also "
        "NAME+self-training), mean-teacher, infograph or infograph-star (default: "
        "igsd-supcon+self-training); with --targets not those made of classes (default: igsd-self)",
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
    add_limit_arguments(group)
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
        help="run folder, made with those above it (default: runs/DATA-RECIPE-N, a new one)",
    )
    group.add_argument(
        "--force", action="store_true", help="replace an existing run folder, and other records"
    )


def run(args: argparse.Namespace) -> int:
    """Score what was asked for, print the table, and return the exit code."""
    check_scoring_arguments(args)
    if args.protocol not in PROTOCOLS:
        refuse_scoring_arguments(args)
    if args.labels is not None and (args.targets is not None or args.protocol == "qm9"):
        raise ConfigError("--labels names classes: numbers to predict are named by --targets.")
    if args.protocol.startswith("semi"):
        from igsd.cli.evaluate_semi import run as run_semi

        return run_semi(args)
    if args.protocol == "qm9":
        from igsd.cli.evaluate_qm9 import run as run_qm9

        return run_qm9(args)
    if args.targets is not None:
        raise ConfigError("--targets is for the protocols qm9 and semi.")
    if args.label_rate is not None:
        raise ConfigError("--label-rate is for the protocols semi and semi-paper.")
    if args.method is not None:
        return _score_method(args)
    for option, value in (("seconds", args.limit_seconds), ("memory", args.limit_memory)):
        if value is not None:
            raise ConfigError(f"--limit-{option} is for --method NAME.")
    if args.recipe is None:
        return _score_one(args)
    from igsd.cli.evaluate_recipe import run as run_recipe

    return run_recipe(args)


def _score_method(args: argparse.Namespace) -> int:
    """Run one method by name over seeds, as ``igsd compare`` does."""
    if len(args.inputs) != 1:
        raise ConfigError(
            "With --method, igsd evaluate takes DATA alone and fits the method itself. "
            f"Got {' '.join(args.inputs)!r}."
        )
    if args.output:
        raise ConfigError("--method leaves records and no run folder: use --records.")
    from igsd.baselines.registry import method
    from igsd.cli.compare import run_and_report

    method(args.method)
    return run_and_report(args, args.inputs[0], [args.method])[1]


def _score_one(args: argparse.Namespace) -> int:
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
    from igsd.experiments.score_model import score_seeds, source_vectors
    from igsd.experiments.scoring import class_codes

    graphs = open_graphs(args.inputs[1], args.labels, quiet=args.quiet)
    class_codes(graphs)
    scoring = scoring_of(args, graphs)
    vectors, notes = source_vectors(args.inputs[0], graphs, args.protocol, verbose=not args.quiet)
    per_seed = score_seeds(vectors, graphs, scoring, args.seeds, verbose=not args.quiet)
    about = {"model": str(args.inputs[0]), "notes": notes}
    table = report_scores(graphs, scoring, per_seed, about, as_json=args.json == "-")
    for note in notes if args.json != "-" else ():
        print(f"note: {note}")
    write_table_json(args.json, table)
    return 0
