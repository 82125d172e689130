"""``igsd evaluate``: an honest score of a model, of embeddings, or of methods over seeds."""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from igsd.baselines.references.vectors import covered
from igsd.baselines.registry import configure
from igsd.cli import compare_holdout, evaluate_few_labels, options, running
from igsd.cli.compare import compare
from igsd.cli.output import write_run
from igsd.errors import ConfigError, StorageError, counted
from igsd.experiments import FEW_LABELS_PROTOCOLS
from igsd.experiments.environment import num_processes
from igsd.experiments.records import Record, data_summary
from igsd.experiments.run import Run, known_part
from igsd.experiments.run_folder import RunFolder, SeedFolders, new_run_folder
from igsd.experiments.scoring import (
    TWINS_REMOVED,
    Scoring,
    is_vector_file,
    score_seeds,
    source_vectors,
)
from igsd.graphs.graphset import GraphSet
from igsd.report.scores import row_order, score_table, scores_to_dict
from igsd.report.summary import is_good, row_notes, unsaved_records
from igsd.settings.groups import warn_without_effect


def run(args: Namespace) -> int:
    """Score what was asked for, print the table, and return the exit code."""
    running.check_running(args)
    compare_holdout.check_options(args)
    args.data = args.inputs[-1]
    if args.splits is not None:
        return _score_holdout(args)
    _check(args)
    if args.protocol in FEW_LABELS_PROTOCOLS:
        return evaluate_few_labels.score_few_labels(args)
    if args.methods is not None:
        return int(compare(args, running.parse_methods(args.methods)).failed())
    return _score_model(args) if args.recipe is None else _score_recipe(args)


def _score_holdout(args: Namespace) -> int:
    """Score methods, or a model, on test parts."""
    if args.output or (args.recipe is not None and args.methods is None):
        raise ConfigError("--splits scores methods (--methods NAME,NAME) or a MODEL, no recipe.")
    if (args.methods is None) == (len(args.inputs) == 1) or len(args.inputs) > 2:
        raise ConfigError(
            "With --splits, igsd evaluate takes DATA alone and --methods NAME,NAME, or MODEL and "
            f"DATA. Got {' '.join(args.inputs)!r}."
        )
    if args.methods is None:
        running.refuse({"--records": args.records}, "is for methods; add --methods NAME.")
        return compare_holdout.score_model(args)
    names = running.parse_methods(args.methods, holdout=True)
    return int(compare_holdout.compare_holdout(args, names)[1])


def _check(args: Namespace) -> None:
    """Reject invalid combinations of options."""
    few_labels, inputs = args.protocol in FEW_LABELS_PROTOCOLS, repr(" ".join(args.inputs))
    if args.labels is not None and (args.targets is not None or args.protocol == "qm9"):
        raise ConfigError("--labels names classes; use --targets for numbers to predict.")
    if args.targets is not None and args.protocol not in ("qm9", "semi"):
        text = "semi-paper is for classes." if few_labels else "--targets is for qm9 and semi."
        raise ConfigError(f"Numbers are scored by the protocols semi and qm9; {text}")
    if args.protocol == "semi" and "," in (args.targets or ""):
        raise ConfigError(f"--protocol semi takes one target at a time. Got {args.targets!r}.")
    if not args.protocol.startswith("semi"):
        fixed = ": protocol qm9 labels 5,000 molecules" if few_labels else ""
        text = f"is for the protocols semi and semi-paper{fixed}."
        running.refuse({"--label-rate": args.label_rate}, text)
    fits_methods = few_labels or args.methods is not None
    if (fits_methods or args.recipe is not None) and len(args.inputs) != 1:
        raise ConfigError(
            f"With {'--protocol ' + args.protocol if few_labels else '--methods or --recipe'}, "
            "igsd evaluate takes DATA alone and fits methods itself: a model trained elsewhere may "
            f"have seen other labels or graphs. Got {inputs}."
        )
    if few_labels:
        scoring = {"--standardise": args.standardise, "--without-twins": args.without_twins}
        text = f"is for the protocols nested, paper and gckn: protocol {args.protocol} trains "
        running.refuse(scoring, f"{text}inside each split and scores its predictions.")
    if fits_methods:
        if args.output:
            raise ConfigError("Methods leave records and no run folder: use --records.")
        return
    limits = {"--limit-seconds": args.limit_seconds, "--limit-memory": args.limit_memory}
    running.refuse(limits, "needs --methods NAME.")
    text = "needs --methods NAME: a recipe and a model are scored by this process."
    running.refuse({"--backend dask": args.scheduler}, text)
    if args.recipe is None and len(args.inputs) != 2:
        raise ConfigError(
            "igsd evaluate takes MODEL (or EMBEDDINGS) and DATA, or DATA alone with --recipe NAME "
            "(trains IGSD for each seed) or --method NAME (any method of `igsd compare --help`). "
            f"Got {inputs}."
        )
    if args.recipe is None:
        training = {"--records": args.records, "-o": args.output, "--config": args.config}
        training |= {"--set": args.settings, "--force": args.force or None}
        training |= {"--budget": args.budget}
        running.refuse(training, "applies to training: add --recipe NAME.")


def _score_model(args: Namespace) -> int:
    """Score one model, or embeddings from a file."""
    source, whole = args.inputs[0], running.open_graphs(args.data, args, gaps=True)
    graphs = known_part(whole)
    jobs = running.spread_out(args, 1, graphs)[1].get("fold_jobs", 1)
    scoring = replace(running.scoring_of(args, graphs), jobs=jobs)
    given = covered(source, whole, graphs) if is_vector_file(source) else whole
    vectors, notes = source_vectors(source, given, args.protocol, verbose=not args.quiet)
    if len(graphs) < len(given):
        rows = np.flatnonzero(np.asarray(whole.classes) >= 0)
        vectors = {name: one.taken(rows) for name, one in vectors.items()}
    per_seed = score_seeds(vectors, graphs, scoring, range(args.seeds), verbose=not args.quiet)
    facts = {"model": str(source), "notes": notes}
    _report(args, graphs, scoring, unsaved_records(per_seed), facts, notes)
    return 0


def _score_recipe(args: Namespace) -> int:
    """Train and score one model of IGSD per seed; leaves a run folder."""
    from igsd.training.fit import check_trainable

    changes = running.shared_out(running.written_changes(args), ["igsd"])["igsd"]
    # An unknown recipe or setting is reported before data are read.
    configure("igsd", "molecules" if options.is_auto(args.recipe) else args.recipe, changes)
    graphs = running.open_graphs(args.data, args)
    recipe, fixed = options.choose_recipe(args.recipe, graphs), tuple(changes.items())
    run = running.first_run(args, graphs, "igsd", recipe, fixed=fixed, references=True)
    config = run.config()
    warn_without_effect(config, changes)
    check_trainable(graphs, config)
    if config.devices > 1 or num_processes() > 1:
        raise ConfigError(
            "igsd evaluate --recipe trains its models one after the other in a single process. Use "
            "devices=1 here, or train with `igsd train` and score with `igsd evaluate MODEL DATA`."
        )
    with ExitStack() as held:
        return _train_seeds(args, run, graphs, held)


def _train_seeds(args: Namespace, run: Run, graphs: GraphSet, held: ExitStack) -> int:
    """Train, score and print; the run folder belongs to this process until ``held`` is closed."""
    runs, config, recipe = running.all_seeds(args, [run]), run.config(), run.recipe
    work, kwargs = running.plan(args, runs, graphs)
    folder = _seed_folders(args, run, graphs, held) if work.batches else None
    try:
        kwargs = replace(kwargs, on_trained=folder)
        records = running.records_of(args, runs, graphs, work, kwargs).values()
    except (OSError, StorageError, KeyboardInterrupt):
        if folder is not None:
            folder.discard()
        raise
    good = [record for record in records if is_good(record)]
    if good:
        failed = sorted({record["seed"] for record in records if not is_good(record)})
        facts = {"recipe": recipe, "config": config.to_json(), "failed_seeds": failed}
        table = _report(args, graphs, running.scoring_of(args, graphs), good, facts)
        if folder is not None:
            folder.finish(table)
    elif folder is not None:
        folder.discard()
    return 0 if len(good) == len(runs) else 1


def _seed_folders(args: Namespace, run: Run, graphs: GraphSet, held: ExitStack) -> SeedFolders:
    """Create the run folder of the models, one for each seed."""
    if args.output is None:
        place = new_run_folder(options.RUNS, graphs.name, run.recipe)
        held.enter_context(place.owned(options.RUNS))
    else:
        place = RunFolder(args.output)
        place.check()
        held.enter_context(place.owned())
        place.claim(force=args.force, way_out="--force replaces it.")

    def write(folder: RunFolder, trained: Any) -> None:
        write_run(folder, trained, graphs)

    header: Any = {"recipe": run.recipe, "data": data_summary(graphs)}
    return SeedFolders(place, header, run.config(), write)


def _report(
    args: Namespace,
    graphs: GraphSet,
    scoring: Scoring,
    records: list[Record],
    facts: running.Changes,
    notes: Sequence[str] = (),
) -> running.Changes:
    """Print the table of scores, or its JSON, and return it as plain values."""
    protocol, protocols = scoring.protocol, scoring.protocols()
    methods, num_seeds = row_order(records, protocol), len({r["seed"] for r in records})
    values = {"data": data_summary(graphs), "settings": scoring.settings(), **facts}
    values |= scores_to_dict(records, protocols[::-1], methods)
    title = f"{graphs.name}, protocol {protocol}, {counted(num_seeds, 'seed')}"
    # Rows with twins removed say so in their names.
    plain = [name for name in methods if not name.endswith(TWINS_REMOVED)]
    found = {note for name in plain for note in row_notes(records, name, protocol)}
    lines = [f"note: {note}" for note in (*sorted(found), *notes)]
    running.report(args, values, score_table(records, protocols, methods, title), lines)
    return values
