"""``igsd compare`` and ``igsd evaluate`` with ``--splits``: methods on the same test parts."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from igsd.cli import options, running
from igsd.cli.output import say_note
from igsd.errors import ConfigError, counted, nearest
from igsd.evaluation import CLASS_METRICS, NUMBER_METRICS
from igsd.evaluation.holdout import TEST_SHARE
from igsd.experiments.holdout import HoldoutLabels, HoldoutProtocol, Subject, labels_of
from igsd.experiments.records import Record, algorithm_version, data_summary
from igsd.experiments.run import Run, changed_settings
from igsd.experiments.scoring import source_vectors
from igsd.graphs.graphset import GraphSet
from igsd.report.holdout import holdout_cell, holdout_table, learning_curves
from igsd.report.plots import Plot
from igsd.report.summary import is_good

_OF_SPLITS = ("splits", "train_sizes", "test_sizes")
Found = dict[str, list[Record]]
"""The records of each method by its title in the table."""


def check_options(args: Namespace) -> None:
    """Reject options that do not go together, before any data are read."""
    if args.splits is None:
        needs = {"--train-labels": args.train_labels, "--metrics": args.metrics}
        running.refuse(needs, "needs --splits random or --splits scaffold.")
        return
    if args.protocol != "nested":
        raise ConfigError(f"--splits takes the place of --protocol {args.protocol}. Name one.")
    folds = {"--standardise": args.standardise, "--without-twins": args.without_twins}
    folds |= {"--label-rate": getattr(args, "label_rate", None)}
    running.refuse(folds, "is for other protocols: --splits trains on one part and tests another.")
    if args.labels is not None and getattr(args, "targets", None) is not None:
        raise ConfigError("Name what is predicted once: --labels or --targets.")
    _counts(args.train_labels)
    _metrics(args.metrics, (*CLASS_METRICS, *NUMBER_METRICS))


def compare_holdout(args: Namespace, names: Sequence[str]) -> tuple[Plot | None, bool]:
    """Run methods, print their table, and return its plot and whether a run failed."""
    graphs = running.open_graphs(args.data, args)
    labels = _labels(args, graphs)
    runs = {run.title: run for run in _runs(args, graphs, labels, names)}
    firsts = [*runs.values()]
    records = running.records_of(args, firsts, graphs, *running.plan(args, firsts, graphs))
    found = {title: [records[run]] for title, run in runs.items() if run in records}
    good = {t: [_first_splits(r[0], args.seeds)] for t, r in found.items() if is_good(r[0])}
    for title, (record,) in found.items():
        if title not in good:
            say_note(f"{title}: {record.get('word') or record['error']}")
    plot = _shown(args, graphs, labels, good) if good else None
    return plot, len(good) < len(runs)


def _first_splits(record: Record, count: int) -> Record:
    """Return a record with the scores of its first splits alone: it may hold more."""
    rows: list[Any] = list(record["rows"])
    for number, row in enumerate(rows):
        kept = [place for place, split in enumerate(row["splits"]) if split < count]
        if len(kept) < len(row["splits"]):
            metrics = {name: [v[i] for i in kept] for name, v in row["metrics"].items()}
            first = {key: [row[key][i] for i in kept] for key in _OF_SPLITS if key in row}
            rest = {key: value for key, value in row.items() if key != "calibration"}
            rows[number] = rest | first | {"metrics": metrics}
    trimmed: Any = dict(record) | {"rows": rows}
    return trimmed


def score_model(args: Namespace) -> int:
    """Score the vectors of a model, or of a file, beside their reference rows."""
    graphs = running.open_graphs(args.data, args)
    labels, rules = _labels(args, graphs), HoldoutProtocol(args.splits)
    vectors, notes = source_vectors(args.inputs[0], graphs, "nested", verbose=not args.quiet)
    found: Found = {}
    for name, one in vectors.items():
        if one.kernel == "precomputed":
            raise ConfigError(
                f"{args.inputs[0]} compares graphs by a kernel, and --splits needs vectors. Use "
                f"--splits with --methods {name}."
            )
        subject = Subject(name, graphs, labels, one.values)
        rows, _ = rules.rows(subject, _counts(args.train_labels), args.seeds)
        record: Any = {"status": "ok", "seed": 0, "rows": rows, "method": name}
        record["algorithm"] = algorithm_version(name)
        found[name] = [record]
    _shown(args, graphs, labels, found)
    for note in notes:
        say_note(note)
    return 0


def _labels(args: Namespace, graphs: GraphSet) -> HoldoutLabels:
    """Return what is predicted; says how many graphs have no label."""
    labels = labels_of(graphs, ",".join(options.names_in(getattr(args, "targets", None) or "")))
    missing = len(graphs) - len(labels.known)
    if missing:
        have = f"{missing} of {counted(len(graphs), 'graph')} have no label"
        say_note(f"{have}: the scores are of the other {len(labels.known)}.")
    return labels


def _runs(
    args: Namespace, graphs: GraphSet, labels: HoldoutLabels, names: Sequence[str]
) -> list[Run]:
    """Return the run of each method; changed settings are part of the place of its record."""
    recipe = options.choose_recipe(args.recipe, graphs)
    kwargs: Any = {"num_splits": args.seeds, "train_labels": _counts(args.train_labels)}
    kwargs |= {"numbers": labels.are_numbers}
    kwargs |= {"target": ",".join(options.names_in(getattr(args, "targets", None) or ""))}
    runs, changes = [], running.written_changes(args)
    for run in running.first_runs(args, graphs, names, recipe, changes, **kwargs):
        usual = replace(run, fixed=())
        changed = changed_settings(run.config(), usual.config())
        runs.append(replace(usual, changes=tuple(changed.items())))
    return runs + running.vector_runs(args, graphs, **kwargs)


def _shown(args: Namespace, graphs: GraphSet, labels: HoldoutLabels, found: Found) -> Plot | None:
    """Print the table of methods, or its JSON, and return the learning curves."""
    counts, names = _counts(args.train_labels), _metrics(args.metrics, labels.metrics)
    what = "the molecules" if args.splits == "scaffold" else "the graphs"
    title = f"{graphs.name}, {args.splits} splits, {TEST_SHARE:.0%} of {what} tested"
    if len(labels.names) > 1:
        title += f", means over {len(labels.names)} targets"
    table = holdout_table(title, found, names, counts)
    values: dict[str, Any] = {"data": data_summary(graphs), "splits": args.splits}
    values["methods"] = [{"method": t, "rows": records[0]["rows"]} for t, records in found.items()]
    running.report(args, values, table)
    cells = {
        title: {count: holdout_cell(records, names[0], count) for count in counts}
        for title, records in found.items()
    }
    return learning_curves(cells, title=title)


def _counts(text: str | None) -> tuple[int, ...]:
    """Return the numbers of labels in ``16,128,all``; 0 stands for all."""
    counts = []
    for word in options.names_in(text or "all"):
        if word != "all" and not (word.isdecimal() and int(word) >= 2):
            raise ConfigError(
                "--train-labels takes whole numbers from 2 on, or all, with commas between them. "
                f"Got {word!r}."
            )
        counts.append(0 if word == "all" else int(word))
    return tuple(dict.fromkeys(counts))


def _metrics(text: str | None, valid: Sequence[str]) -> list[str]:
    """Return the metrics to show, the main one first."""
    names = options.names_in(text or "")
    for name in names:
        if name not in (*CLASS_METRICS, *NUMBER_METRICS, "all"):
            raise ConfigError(f"There is no metric {name!r}. {nearest(name, valid)}")
    if "all" in names:
        return list(valid)
    shown = [name for name in names if name in valid]
    if names and not shown:
        kind = "numbers" if "mae" in valid else "classes"
        raise ConfigError(f"{names[0]} is not a metric of {kind}. {nearest(names[0], valid)}")
    return shown or [valid[0]]
