from __future__ import annotations

from dataclasses import replace
from typing import Any

from igsd.report.page.figure import figure_section
from igsd.report.paper_cell import PaperCell
from igsd.report.paper_figure import PaperFigure, Series


def make_figure(x: tuple[Any, ...], **others: Any) -> PaperFigure:
    cell = PaperCell(
        "ok", mean=70.0, std_over_seeds=1.0, num_seeds=2, records=("p/d/r/seed-0.json",)
    )
    series = (Series("IGSD", "igsd", "nested", (cell,) * len(x)),)
    values = {"log_x": False} | others
    return PaperFigure(
        "f", "F", "about", "source", "D", "size", "accuracy", x, series=series, **values
    )


def test_chart_and_table_lead_to_the_records() -> None:
    made = figure_section(make_figure((16, 32), log_x=True))
    assert made.count('href="#records/p/d/r"') == 4
    assert "IGSD, 32: 70 ± 1" in made
    assert "70.0 ± 1.0" in made


def test_what_the_bars_and_the_line_are() -> None:
    made = figure_section(make_figure(("mu",)))
    assert "Bars: one standard deviation.</p>" in made
    one_seed = PaperCell("ok", mean=0.9, num_seeds=1, digits=2)
    series = (
        Series("supervised", "supervised", "qm9", (one_seed,)),
        Series("IGSD", "igsd", "qm9", (one_seed,)),
    )
    made = figure_section(replace(make_figure(("mu",)), series=series, baseline="supervised"))
    assert "Points without one are of one seed, which has no deviation." in made
    assert "The line at 1: supervised." in made
    assert made.count('class="mark"') == 1  # the line stands for the other


def test_names_instead_of_numbers() -> None:
    made = figure_section(make_figure(("mu", "<gap>")))
    assert "IGSD, mu: 70 ± 1" in made
    assert "<gap>" not in made
