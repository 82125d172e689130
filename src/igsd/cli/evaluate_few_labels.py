"""``igsd evaluate`` under protocols that train inside splits: ``semi`` and ``qm9``."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.cli import options, running
from igsd.cli.run_parsers import CLASS_METHOD, NUMBER_METHOD
from igsd.errors import counted
from igsd.evaluation.semi import LABEL_RATE
from igsd.experiments.protocols import SUPERVISED, choose_targets
from igsd.experiments.records import Record, data_summary
from igsd.experiments.run import Run
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.qm9 import QM9_TARGETS, QM9_UNITS, target_unit
from igsd.report.scores import QM9Cell, qm9_cells, score_table, scores_to_dict
from igsd.report.summary import is_good, row_names, summarise
from igsd.report.tables import Column, Row, Table

_QM9 = "qm9"
_PROTOCOLS = ("semi", "semi-paper")
_REFERENCES = ("untrained", "histogram", "majority")
_FEW_TESTED = 30

Good = dict[Run, list[Record]]
"""The records that ended well, by the first run of their method."""

Shown = tuple[Mapping[str, Any], Table, list[str]]
"""A table as plain values for JSON, the table itself, and lines to print below it."""


def score_few_labels(args: Namespace) -> int:
    """Train and score methods inside splits, print their table, and return the exit code."""
    changes = running.written_changes(args)
    graphs = running.open_graphs(args.data, args)
    runs = running.all_seeds(args, _runs(args, graphs, changes))
    records = running.records_of(args, runs, graphs, *running.plan(args, runs, graphs))
    good: Good = {}
    for run, record in records.items():
        if is_good(record):
            good.setdefault(replace(run, seed=0), []).append(record)
    if good:
        _report(args, graphs, good)
    return 0 if sum(map(len, good.values())) == len(runs) else 1


def _runs(args: Namespace, graphs: GraphSet, changes: running.Changes) -> list[Run]:
    """Return the first run of each method; changes are not part of the place of its record."""
    is_qm9, target = args.protocol == _QM9, args.targets or ""
    usual = options.OURS if is_qm9 else NUMBER_METHOD if target else CLASS_METHOD
    names = list(dict.fromkeys(options.names_in(args.methods or usual)))
    recipe = options.choose_recipe(args.recipe, graphs)
    if is_qm9:
        recipe = _QM9 if options.is_auto(args.recipe) else args.recipe
        chosen = choose_targets(tuple(options.names_in(target)), graphs)
        target = "" if chosen == QM9_TARGETS else ",".join(chosen)
    rate = LABEL_RATE if args.label_rate is None else args.label_rate
    kwargs: Any = {"target": target, "label_rate": rate}
    runs = running.first_runs(args, graphs, names, recipe, changes, **kwargs)
    for run in runs:
        run.config()  # an invalid value is reported before anything is run
    return runs


def _report(args: Namespace, graphs: GraphSet, good: Good) -> None:
    """Print the table of a protocol that trains inside splits, or its JSON."""
    run = next(iter(good))
    make = _number_table if run.target else _class_table
    make = _target_table if run.protocol == _QM9 else make
    more, table, lines = make(args, run, graphs, good)
    values: dict[str, Any] = {"data": data_summary(graphs), "settings": run.rules.settings(run)}
    values |= {"method": run.method, "recipe": run.recipe, "config": run.config().to_json()}
    running.report(args, {**values, **more}, table, lines)


def _class_table(args: Namespace, run: Run, graphs: GraphSet, good: Good) -> Shown:
    """Return the accuracies under ``semi`` and ``semi-paper``, and areas under the ROC curve."""
    split = run.rules.split(run, graphs)  # type: ignore[attr-defined]
    records, title = _all_records(good), _title(run, graphs, good)
    # Fingerprints are for molecules only; the other rows are always there, if empty.
    molecules = [name for name in row_names(records) if name == "morgan"]
    names = list(dict.fromkeys((*(each.method for each in good), *_REFERENCES, *molecules)))
    shown = _PROTOCOLS if run.protocol == "semi" else (run.protocol,)
    shares, tested = f"{100 * run.label_rate:g} % of the training labels shown", len(split.test)
    title += f"{shares} ({len(split.labelled)}), {tested} graphs tested"
    table = score_table(records, shown, names, title, over="splits", third="best split")
    few_tested = tested < _FEW_TESTED
    unknown = int((np.asarray(graphs.classes) < 0).sum())
    which = f"{unknown} of {counted(len(graphs), 'graph')}"
    notes = {
        "semi is the last epoch; semi-paper the best epoch on the test part": shown == _PROTOCOLS,
        f"the class of {which} is unknown: trained on without a label, not tested": unknown,
        f"each of the {tested} test graphs counts for {100 / tested:.0f} points": few_tested,
        "the protocol asks for at least 5 splits": max(map(len, good.values())) < 5,
    }
    lines = [f"note: {note}" for note, applies in notes.items() if applies]
    for name in names:
        area = summarise(records, "roc_auc", method=name, protocol=shown[0])
        if area.mean is not None:
            std = area.std_over_seeds
            spread = "" if std is None else f", std over splits {std:.3f}"
            lines.append(f"ROC-AUC of {name}: {area.mean:.3f}{spread}")
    protocols = shown if args.protocol == shown[0] else shown[::-1]
    return scores_to_dict(records, protocols, names), table, lines


def _number_table(args: Namespace, run: Run, graphs: GraphSet, good: Good) -> Shown:
    """Return the mean absolute errors of a number."""
    split = run.rules.split(run, graphs)  # type: ignore[attr-defined]
    records, title = _all_records(good), _title(run, graphs, good)
    names = list(dict.fromkeys((*(each.method for each in good), *row_names(records))))
    cells = {name: summarise(records, "mae", method=name) for name in names}
    rows = [
        {"method": name, "mae": c.mean, "std": c.std_over_seeds, "all": [*c.by_seed.values()]}
        for name, c in cells.items()
    ]
    shown = f"{counted(len(split.labelled), 'value')} shown and {len(split.test)} tested in each"
    kwargs: Any = {"metric": "mae", "over": "splits", "third": ""}
    table = score_table(records, ("semi",), names, title + shown, **kwargs)
    unit = target_unit(graphs.name, run.target)
    note = f"note: errors are in the unit of {run.target}" + (f": {unit}" if unit else "")
    return {"rows": rows}, table, [note]


def _target_table(args: Namespace, run: Run, graphs: GraphSet, good: Good) -> Shown:
    """Return the errors of each target of QM9, and their ratios to the supervised method's."""
    folder = None if args.records is None else Path(args.records)
    cells = qm9_cells(run, good[run], num_seeds=args.seeds, folder=folder)
    methods = list(dict.fromkeys(cell.method for cell in cells))
    targets = list(dict.fromkeys(cell.target for cell in cells))
    places = {(cell.method, cell.target): cell for cell in cells}
    columns = [Column("unit", left=True)]
    columns += [Column(_heading(places[m, targets[0]], args.seeds)) for m in methods]
    errors = {t: [_error(places[m, t]) for m in methods] for t in targets}
    rows = [Row(t, (QM9_UNITS.get(t, ""), *texts)) for t, texts in errors.items()]
    splits, steps = counted(len(good[run]), "split"), f"{good[run][0].get('steps', 0):,} steps"
    title = f"{graphs.name}, {splits}, {steps}"
    table = Table(title, tuple(columns), tuple(rows), corner="target")
    note = f"note: mean absolute error on the test part{_remark(places, targets[0])}"
    return {"cells": [cell.to_dict() for cell in cells]}, table, [note]


def _all_records(good: Good) -> list[Record]:
    # Rows of the same seed replace each other, so the reference rows are of the first method.
    return [record for found in reversed(good.values()) for record in found]


def _title(run: Run, graphs: GraphSet, good: Good) -> str:
    """Return the beginning of a title: data, target, epochs and splits."""
    epochs = getattr(run.config(), "epochs", None)
    parts = [graphs.name, run.target, "" if epochs is None else f"{epochs} epochs"]
    parts.append(counted(max(map(len, good.values())), "split"))
    return "".join(f"{part}, " for part in parts if part)


def _heading(cell: QM9Cell, num_seeds: int) -> str:
    """Return the method of a column, with notes on its records."""
    count = cell.error.num_seeds
    few = [] if count == num_seeds else [f"{count} of {num_seeds}"]
    notes = ", ".join([*cell.notes, *few])
    return f"{cell.method} ({notes})" if notes else cell.method


def _error(cell: QM9Cell) -> str:
    if cell.error.mean is None:
        return "-"
    ratio = "" if cell.ratio.mean is None else f" ({cell.ratio.mean:.2f})"
    return f"{cell.error.mean:.4g}{ratio}"


def _remark(cells: Mapping[tuple[str, str], QM9Cell], target: str) -> str:
    """Return what the ratios are, or why there are none."""
    base = cells.get((SUPERVISED, target))
    if base is None:
        fault = f"There is no record of --method {SUPERVISED} on these splits"
        return f". {fault}, so no ratio: run it with the same --records."
    if base.notes:
        fault = f"The records of --method {SUPERVISED} are not of this run ({base.notes[0]})"
        return f". {fault}, so no ratio: run it again with --force."
    return ", in brackets over the supervised one"
