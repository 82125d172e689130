"""``igsd evaluate --protocol semi``: a method that learns from few labels, over several splits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.settings import choose_recipe
from igsd.cli.split_runs import Records, changes_for_splits, deliver, plan_fields, run_plan

if TYPE_CHECKING:
    from igsd.experiments.rows import Row
    from igsd.experiments.semi_plan import SemiPlan

PROTOCOLS = ("semi", "semi-paper")
DEFAULT_METHOD = "igsd-supcon+self-training"
FLOORS = ("untrained", "histogram", "majority")
_FEW_TESTED = 30


def run(args: argparse.Namespace) -> int:
    """Train and score the method on every split, print both protocols, return the exit code."""
    if args.targets is not None:
        from igsd.cli.evaluate_values import run as run_values

        return run_values(args)
    return run_plan(_plan(args), _outcome, lambda plan, good: _report(args, plan, good))


def _plan(args: argparse.Namespace) -> SemiPlan:
    """Return what is to be run, everything checked that can be checked without training."""
    from igsd.baselines.semi_methods import method_config
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.semi_plan import SemiPlan
    from igsd.training.fit_labelled import check_labels_trainable

    changes = changes_for_splits(args)
    method = args.method or DEFAULT_METHOD
    graphs = open_graphs(args.inputs[0], args.labels, quiet=args.quiet)
    recipe = choose_recipe(args.recipe, graphs)
    config = method_config(method, recipe, changes)
    check_labels_trainable(graphs, config)
    return SemiPlan(
        graphs=graphs,
        method=method,
        recipe=recipe,
        config=config,
        label_rate=LABEL_RATE if args.label_rate is None else args.label_rate,
        **plan_fields(args),
    )


def _report(args: argparse.Namespace, plan: SemiPlan, records: Records) -> None:
    """Print the table of both protocols, or its JSON."""
    from igsd.experiments.rows import rows_to_dict

    honest, optimistic = (_rows(plan, records, protocol) for protocol in PROTOCOLS)
    first, beside = (honest, optimistic) if args.protocol == "semi" else (optimistic, honest)

    def show() -> None:
        _print(plan, honest, optimistic)
        _print_areas(plan, records)

    deliver(args, plan, rows_to_dict(first, beside), show)


def _rows(plan: SemiPlan, records: list[dict[str, Any]], protocol: str) -> list[Row]:
    """Return the rows of one protocol: the method's, and under ``semi`` those it has to beat."""
    from igsd.evaluation.fingerprints import MORGAN
    from igsd.experiments.records import scored_of
    from igsd.experiments.rows import Row

    scored = [pair for record in records for pair in scored_of(record)]
    # Fingerprints are of molecules alone; the other rows are always there, if empty.
    molecules = [MORGAN] if any(name == MORGAN for name, _ in scored) else []
    return [
        Row(name, protocol, tuple(r for n, r in scored if n == name and r.protocol == protocol))
        for name in (plan.method, *FLOORS, *molecules)
    ]


def _print(plan: SemiPlan, honest: list[Row], optimistic: list[Row]) -> None:
    """Print the table of both protocols, and what is to be said of it."""
    from igsd.evaluation.semi import semi_split
    from igsd.experiments.scoring import class_codes
    from igsd.report.table import print_table
    from igsd.wording import counted

    header = ["method", "semi %", "std over splits", "best split"]
    header += ["semi-paper % (optimistic)", "std over splits", "best split"]
    lines = [
        [row.method, *_cells(row), *_cells(other)]
        for row, other in zip(honest, optimistic, strict=True)
    ]
    splits = len(honest[0].results)
    split = semi_split(class_codes(plan.graphs, gaps=True), 0, label_rate=plan.label_rate)
    share = f"{100 * plan.label_rate:g} % of the training labels shown ({len(split.labelled)})"
    about = f"{plan.config.epochs} epochs, {counted(splits, 'split')}, {share}"
    print_table(header, lines, f"{plan.graphs.name}, {about}, {len(split.test)} graphs tested")
    _print_notes(plan, splits, len(split.test))


def _print_notes(plan: SemiPlan, num_splits: int, num_tested: int) -> None:
    import numpy as np

    from igsd.wording import counted

    print("note: semi is the last epoch; semi-paper the best epoch on the test part")
    unknown = int((np.asarray(plan.graphs.classes) < 0).sum())
    if unknown:
        which = f"{unknown} of {counted(len(plan.graphs), 'graph')}"
        print(f"note: the class of {which} is unknown: trained on without a label, never tested on")
    if num_tested < _FEW_TESTED:
        print(f"note: one of {num_tested} tested graphs is {100 / num_tested:.0f} points")
    if num_splits < 5:
        print("note: the protocol asks for at least 5 splits")


def _print_areas(plan: SemiPlan, records: list[dict[str, Any]]) -> None:
    """Print the area under the ROC curve of each method that has one, after the last epoch."""
    import numpy as np

    from igsd.evaluation.fingerprints import MORGAN

    for name in (plan.method, *FLOORS, MORGAN):
        rows = [row for record in records for row in record["rows"] if row["method"] == name]
        areas = [row["roc_auc"] for row in rows if row.get("roc_auc") is not None]
        if areas:
            std = f", std over splits {np.std(areas):.3f}" if len(areas) > 1 else ""
            print(f"ROC-AUC of {name}: {np.mean(areas):.3f}{std}")


def _cells(row: Row) -> list[str]:
    from igsd.report.result_cell import per_cent

    best = max((r.mean for r in row.results), default=None)
    return [per_cent(share) for share in (row.mean, row.std_over_seeds, best)]


def _outcome(record: dict[str, Any]) -> str:
    last, best = (100 * row["mean"] for row in record["rows"][:2])
    return f"semi {last:.1f} %, semi-paper {best:.1f} %"
