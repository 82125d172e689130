"""The tables of protocols that train inside splits, for ``igsd evaluate``.

Each function returns the table as plain values for JSON, and a function that prints it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.errors import counted

if TYPE_CHECKING:
    from igsd.experiments.records import Record
    from igsd.experiments.run import Run
    from igsd.graphs.graphset import GraphSet
    from igsd.report.scores import QM9Cell

Shown = tuple[dict[str, Any], Callable[[], None]]
Records = Mapping[str, list["Record"]]
"""The records of each method that ended well."""

_PROTOCOLS = ("semi", "semi-paper")
_REFERENCES = ("untrained", "histogram", "majority")
_FEW_TESTED = 30


def show_classes(args: argparse.Namespace, run: Run, graphs: GraphSet, good: Records) -> Shown:
    """Return the accuracies under ``semi`` and ``semi-paper``, and areas under the ROC curve."""
    import numpy as np

    from igsd.report.render import show
    from igsd.report.scores import score_table, scores_to_dict
    from igsd.report.summary import row_names, summarise

    records = _all_records(good)
    # Fingerprints are for molecules only; the other rows are always there, if empty.
    molecules = [name for name in row_names(records) if name == "morgan" and name not in good]
    names = list(dict.fromkeys((*good, *_REFERENCES, *molecules)))
    shown = _PROTOCOLS if run.protocol == "semi" else (run.protocol,)
    protocols = shown if args.protocol == shown[0] else shown[::-1]
    split = run.rules.split(run, graphs)  # type: ignore[attr-defined]
    splits = max(len(found) for found in good.values())

    def print_table() -> None:
        share = f"{100 * run.label_rate:g} % of the training labels shown ({len(split.labelled)})"
        title = f"{graphs.name}, {_epochs(run)}{counted(splits, 'split')}, {share}, "
        title += f"{len(split.test)} graphs tested"
        third = "best split"
        show(score_table(records, shown, names, title, over="splits", third=third))
        if shown == _PROTOCOLS:
            print("note: semi is the last epoch; semi-paper the best epoch on the test part")
        unknown = int((np.asarray(graphs.classes) < 0).sum())
        if unknown:
            which = f"{unknown} of {counted(len(graphs), 'graph')}"
            print(f"note: the class of {which} is unknown: trained on without a label, not tested")
        if len(split.test) < _FEW_TESTED:
            points = f"{100 / len(split.test):.0f} points"
            print(f"note: one of {len(split.test)} tested graphs is {points}")
        if splits < 5:
            print("note: the protocol asks for at least 5 splits")
        for name in names:
            area = summarise(records, "roc_auc", method=name, protocol=shown[0])
            if area.mean is not None:
                std = area.std_over_seeds
                spread = "" if std is None else f", std over splits {std:.3f}"
                print(f"ROC-AUC of {name}: {area.mean:.3f}{spread}")

    return scores_to_dict(records, protocols, names), print_table


def show_numbers(args: argparse.Namespace, run: Run, graphs: GraphSet, good: Records) -> Shown:
    """Return the mean absolute errors of a number."""
    from igsd.graphs.readers.qm9 import target_unit
    from igsd.report.render import show
    from igsd.report.scores import score_table
    from igsd.report.summary import row_names, summarise

    records = _all_records(good)
    names = list(dict.fromkeys((*good, *row_names(records))))
    cells = {name: summarise(records, "mae", method=name) for name in names}
    rows = [
        {"method": name, "mae": cell.mean, "std": cell.std_over_seeds}
        | {"all": list(cell.by_seed.values())}
        for name, cell in cells.items()
    ]

    def print_table() -> None:
        split = run.rules.split(run, graphs)  # type: ignore[attr-defined]
        splits = counted(max(len(found) for found in good.values()), "split")
        title = f"{graphs.name}, {run.target}, {_epochs(run)}{splits}, "
        title += f"{counted(len(split.labelled), 'value')} shown and {len(split.test)} tested in "
        title += "each"
        options: dict[str, Any] = {"metric": "mae", "over": "splits", "third": ""}
        show(score_table(records, ("semi",), names, title, **options))
        unit = target_unit(graphs.name, run.target)
        print(f"note: errors are in the unit of {run.target}" + (f": {unit}" if unit else ""))

    return {"rows": rows}, print_table


def show_targets(args: argparse.Namespace, run: Run, graphs: GraphSet, good: Records) -> Shown:
    """Return the errors of each target of QM9, and their ratios to the supervised method's."""
    from igsd.report.scores import qm9_cells

    records = good[run.method]
    folder = None if args.records is None else Path(args.records)
    cells = qm9_cells(run, records, num_seeds=args.seeds, folder=folder)

    def print_table() -> None:
        from igsd.graphs.readers.qm9 import QM9_UNITS
        from igsd.report.render import show
        from igsd.report.tables import Column, Row, Table

        methods = list(dict.fromkeys(cell.method for cell in cells))
        targets = list(dict.fromkeys(cell.target for cell in cells))
        places = {(cell.method, cell.target): cell for cell in cells}
        columns = [Column("unit", left=True)]
        columns += [Column(_heading(places[m, targets[0]], args.seeds)) for m in methods]
        rows = [
            Row(t, (QM9_UNITS.get(t, ""), *(_error(places[m, t]) for m in methods)))
            for t in targets
        ]
        splits, steps = counted(len(records), "split"), f"{records[0].get('steps', 0):,} steps"
        title = f"{graphs.name}, {splits}, {steps}"
        show(Table(title, tuple(columns), tuple(rows), corner="target"))
        print(f"note: mean absolute error on the test part{_remark(places, targets[0])}")

    return {"cells": [cell.to_dict() for cell in cells]}, print_table


def _all_records(good: Records) -> list[Record]:
    """Return the records of all methods, those of the first last.

    Rows of the same seed replace each other, so the reference rows are those of the first method.
    """
    return [record for name in reversed(list(good)) for record in good[name]]


def _epochs(run: Run) -> str:
    epochs = getattr(run.config(), "epochs", None)
    return "" if epochs is None else f"{epochs} epochs, "


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
    from igsd.experiments.protocols import SUPERVISED

    base = cells.get((SUPERVISED, target))
    if base is None:
        fault = f"There is no record of --method {SUPERVISED} on these splits"
        return f". {fault}, so no ratio: run it with the same --records."
    if base.notes:
        fault = f"The records of --method {SUPERVISED} are not of this run ({base.notes[0]})"
        return f". {fault}, so no ratio: run it again with --force."
    return ", in brackets over the supervised one"
