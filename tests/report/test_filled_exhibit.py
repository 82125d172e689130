from __future__ import annotations

from pathlib import Path

from igsd.experiments.exhibit import read_exhibit
from igsd.report.filled_exhibit import fill
from igsd.report.paper_figure import figure
from igsd.report.paper_table import table
from igsd.report.record_folder import RecordFolder


def test_a_table_or_a_figure(tmp_path: Path) -> None:
    assert fill(read_exhibit("table-3"), RecordFolder(tmp_path)) == table("table-3", tmp_path)
    assert fill(read_exhibit("figure-qm9"), RecordFolder(tmp_path)) == figure(
        "figure-qm9", tmp_path
    )
