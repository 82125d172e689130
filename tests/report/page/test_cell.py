from __future__ import annotations

import pytest

from igsd.experiments.exhibit import Printed
from igsd.report.page.cell import difference_tag, result_cell, seconds_text
from igsd.report.paper_cell import NONE, PaperCell

RECORDS = ("nested/MUTAG/molecules/seed-0.json", "nested/MUTAG/molecules/seed-1.json")


def test_a_cell_says_all_and_leads_to_its_records() -> None:
    cell = PaperCell(
        "ok",
        mean=86.34,
        std_over_seeds=1.12,
        std_over_folds=7.0,
        num_seeds=5,
        seconds=18.2,
        printed=Printed(90.2, 0.7),
        records=RECORDS,
    )
    made = result_cell(cell)
    assert '<a href="#records/nested/MUTAG/molecules"><b>86.3 ± 1.1</b></a>' in made
    assert "paper 90.2 ± 0.7" in made
    assert "▼ −3.9" in made
    assert "± 7.0 folds, 5 seeds, 18 s" in made.replace("\N{NO-BREAK SPACE}", " ")


def test_a_figure_of_another_paper() -> None:
    cell = PaperCell("ok", mean=85.0, printed=Printed(84.5, 1.7), printed_by="published")
    assert "published 84.5 ± 1.7" in result_cell(cell)


def test_the_other_deviation_where_that_over_folds_is_printed() -> None:
    cell = PaperCell("ok", mean=1.0, std_over_seeds=2.0, std_over_folds=3.0, spread="folds")
    assert "±\N{NO-BREAK SPACE}2.0\N{NO-BREAK SPACE}seeds" in result_cell(cell)


def test_notes_stand_below_and_one_test_part_has_no_folds() -> None:
    cell = PaperCell(
        "ok",
        mean=70.0,
        std_over_seeds=1.0,
        std_over_folds=1.0,
        num_seeds=3,
        notes=("3 of 5 seeds", "1 failed"),
    )
    made = result_cell(cell)
    assert "<b>70.0 ± 1.0</b>" in made
    behind = '<div class="behind">3 of 5 seeds, 1 failed</div>'
    assert behind in made.replace("\N{NO-BREAK SPACE}", " ")


def test_one_split_with_one_test_part_does_not_deviate() -> None:
    cell = PaperCell("ok", mean=70.0, std_over_folds=0.0, num_seeds=1)
    assert "folds" not in result_cell(cell)


def test_a_dash_leads_nowhere() -> None:
    assert "<a" not in result_cell(PaperCell(NONE, "-", records=RECORDS))


@pytest.mark.parametrize(("status", "word"), [("not run", "not run"), ("limit", "> limit")])
def test_words_in_place_of_figures(status: str, word: str) -> None:
    made = result_cell(PaperCell(status, word, printed=Printed(word="OMR")))
    assert word.replace(">", "&gt;") in made
    assert "paper OMR" in made
    assert "href" not in made
    assert f"is-{status.replace(' ', '-')}" in made


@pytest.mark.parametrize(
    ("value", "text", "classes"),
    [
        (0.04, "= 0.0", "difference"),
        (0.4, "▲ +0.4", "difference above slight"),
        (-1.0, "▼ −1.0", "difference below clear"),
        (7.3, "▲ +7.3", "difference above large"),
    ],
)
def test_differences_need_no_colour(value: float, text: str, classes: str) -> None:
    assert difference_tag(value) == f'<span class="{classes}">{text}</span>'


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.31, "0.3 s"), (75, "75 s"), (900, "15 min"), (12003, "3 h 20 min")]
)
def test_times(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
