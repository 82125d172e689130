from __future__ import annotations

from igsd.report.page.table import table_section
from igsd.report.paper_cell import PaperCell
from igsd.report.paper_table import Column, PaperRow, PaperTable

CELL = PaperCell("ok", mean=90.0)


def test_rows_stand_under_their_headings() -> None:
    rows = tuple(
        PaperRow(title, group, "igsd", (CELL,))
        for title, group in [("a", ""), ("b", "kernels"), ("c", "kernels"), ("<d>", "others")]
    )
    column = (Column("MUTAG", "nested", "MUTAG"),)
    statistics = (("graphs", ("188",)),)
    made = table_section(PaperTable("t", "T", "about", "source", column, rows, statistics))
    assert made.count("<tbody>") == 3
    assert made.count('class="group"') == 2
    assert "&lt;d&gt;" in made
    assert '<th scope="row" class="left">graphs</th><td>188</td>' in made
    assert made.startswith('<section id="t">')
    assert "source." in made
