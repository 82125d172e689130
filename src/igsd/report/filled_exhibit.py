"""``fill``: any table or figure of the paper, filled from records."""

from __future__ import annotations

from igsd.experiments.exhibit import Exhibit
from igsd.report.paper_figure import PaperFigure, fill_figure
from igsd.report.paper_table import PaperTable, fill_table
from igsd.report.record_folder import RecordFolder


def fill(exhibit: Exhibit, records: RecordFolder) -> PaperTable | PaperFigure:
    """Return the table or figure of an exhibit from a folder of records."""
    return fill_figure(exhibit, records) if exhibit.axis else fill_table(exhibit, records)
