"""``line_cells``: the cells that the records of one method fill, in a table or along a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from igsd.experiments.exhibit import ACCURACY, Exhibit, Line
from igsd.experiments.qm9_table import error_ratios, errors_by_split
from igsd.experiments.runs import Run, points, recipe_of
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report.paper_cell import NONE, NOT_RUN, PaperCell, make_cell, row_figures
from igsd.report.record_folder import RecordFolder, fresh


def line_cells(
    exhibit: Exhibit, line: Line, data: str, protocol: str, records: RecordFolder
) -> list[PaperCell]:
    """Return the cells of a line on one data set: one in a table, one for each value of an axis."""
    recipe = recipe_of(data, records.path, exhibit.protocol)
    printed = line.printed.get(data) if protocol == exhibit.printed_under else None
    about: dict[str, Any] = {"wanted": exhibit.num_seeds(data), "spread": exhibit.spread}
    about |= {"shows_best": protocol == exhibit.best_under, "printed_by": exhibit.printed_by}
    if protocol != exhibit.protocol and line.shows != line.method:
        # What rides along has no epochs of which one could be the best.
        return [PaperCell(NONE, "-")] * (len(exhibit.axis.values) if exhibit.axis else 1)
    cells = []
    for run in points(exhibit, line, data, recipe):
        if exhibit.baseline is not None:
            cells += _ratios(exhibit, run, records, about)
            continue
        found = records.of(run)
        values = {r["seed"]: row_figures(r, line.shows, protocol, exhibit.metric) for _, r in found}
        known = {seed: folds for seed, folds in values.items() if folds is not None}
        about["digits"] = 1 if exhibit.metric == ACCURACY else 3
        cell = make_cell(found, run, known, printed=printed, **about)
        cells.append(cell if line.shows == line.method else _riding(cell, line, run, records))
    return cells


def _riding(cell: PaperCell, line: Line, run: Run, records: RecordFolder) -> PaperCell:
    """Return the cell of a row that rode along in a run: it took next to none of the time.

    Runs that were scored without it, on a set that has twins, are still to be made; they are runs
    of other settings, which ``--force`` replaces.
    """
    if cell.status == NONE and line.shows.endswith(TWINS_REMOVED) and records.has_twins(run):
        return replace(cell, status=NOT_RUN, word=NOT_RUN, records=())
    return replace(cell, seconds=None)


def _ratios(
    exhibit: Exhibit, run: Run, records: RecordFolder, about: Mapping[str, Any]
) -> list[PaperCell]:
    """Return the cells of a run for QM9: its errors over those of the baseline, by target."""
    base = replace(run, method=str(exhibit.baseline))
    # A ratio of two versions of the algorithm would mean nothing.
    others = errors_by_split([r for _, r in fresh(records.of(base))], base.method)
    own = errors_by_split([r for _, r in records.of(run)], run.method)
    together = exhibit.axis.values if exhibit.axis else ()
    return [
        make_cell(
            records.of(run),
            run,
            {seed: [ratio] for seed, ratio in error_ratios(own, others, target).items()},
            digits=2,
            **about,
        )
        for target in ((run.target,) if run.target else together)
    ]
