from __future__ import annotations

from typing import Any

import pytest

from igsd.experiments.exhibits import Printed
from igsd.report.render import (
    anchor,
    difference_tag,
    html,
    markdown,
    seconds_text,
    text,
)
from igsd.report.summary import METRICS, NONE, Cell
from igsd.report.tables import Column, Row, Table
from tests.report.record_files import table

RECORDS = ("nested/MUTAG/molecules/seed-0.json", "nested/MUTAG/molecules/seed-1.json")


def html_of(cell: Cell, **options: Any) -> str:
    """Return a table with one cell, without the spaces that keep lines together."""
    made = html(Table("t", (Column("c"),), (Row("r", (cell,)),)), **options)
    return made.replace("\N{NO-BREAK SPACE}", " ")


def test_a_table_as_text() -> None:
    lines = text(table("table-1", "no/such/folder", "MUTAG")).splitlines()
    assert lines[0] == "Table 1: graph classification without labels"
    assert lines[1].split() == ["method", "MUTAG,", "paper", "printed", "MUTAG,", "nested"]
    assert lines[2].split() == ["graphs", "188"]
    assert "-- kernels" in lines
    row = next(line for line in lines if line.startswith("WL subtree"))
    assert row.split() == ["WL", "subtree", "not", "run", "80.7", "±", "3.0", "not", "run"]
    assert lines[-1].startswith("The paper's figures: H. Zhang et al.")


def test_results_of_other_papers_are_not_called_the_papers() -> None:
    shown = table("beyond", "no/such/folder", "MUTAG")
    assert text(shown).splitlines()[1].split() == ["method", "MUTAG", "published"]
    assert "not run<br>published: 84.5 ± 1.7" in markdown(shown)
    for name in ("beyond", "b3db", "b3db-logbb"):
        assert "\nNot in the paper. " in text(table(name, "no/such/folder"))


def test_a_figure_as_text() -> None:
    lines = text(table("figure-negatives", "no/such/folder")).splitlines()
    assert lines[1].split("  ")[0] == "graphs in a batch"
    assert lines[2].split() == ["16", *["not", "run"] * 4]


def test_groups_and_bars_in_markdown() -> None:
    rows = (Row("a|b", (Cell(folds={0: [0.9]}),), "kernels"), Row("c", ("x",), "kernels"))
    assert markdown(Table("T", (Column("D"),), rows)).splitlines() == [
        "| method | D |",
        "| --- | ---: |",
        "| **kernels** |  |",
        "| a\\|b | 90.0 |",
        "| c | x |",
    ]


def test_rows_stand_under_their_headings() -> None:
    rows = tuple(
        Row(title, (Cell(folds={0: [0.9]}),), group)
        for title, group in [("a", ""), ("b", "kernels"), ("c", "kernels"), ("<d>", "others")]
    )
    made = html(Table("T", (Column("MUTAG"),), (Row("graphs", ("188",)), *rows)))
    assert made.count("<tbody>") == 3
    assert made.count('class="group"') == 2
    assert "&lt;d&gt;" in made
    assert '<th scope="row" class="left">graphs</th><td>188</td></tr></thead>' in made
    assert 'class="scroll" tabindex="0" role="region" aria-label="T"' in made


def test_a_cell_says_all_and_leads_to_its_records() -> None:
    folds = {0: [0.78, 0.92], 1: [0.8, 0.94]}
    cell = Cell(folds=folds, run_seconds=18.2, printed=Printed(90.2, 0.7), records=RECORDS)
    made = html_of(cell)
    assert '<a href="#records/nested/MUTAG/molecules"><b>86.0 ± 1.0</b></a>' in made
    assert "paper 90.2 ± 0.7" in made
    assert "▼ −4.2" in made
    assert "± 7.1 folds, 2 seeds, 18 s" in made
    short = html_of(cell, detailed=False)
    assert "86.0 ± 1.0" in short
    assert "paper" not in short


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (
            Cell(folds={0: [0.85]}, printed=Printed(84.5, 1.7), printed_by="published"),
            "published 84.5",
        ),
        (Cell(folds={0: [0.0, 0.1], 1: [0.2, 0.3]}, spread="folds"), "± 10.0 seeds"),
        (
            Cell(folds={0: [0.7], 1: [0.72]}, notes=("2 of 5 seeds", "1 failed")),
            '<div class="behind">2 of 5 seeds, 1 failed</div>',
        ),
        (Cell(folds={0: [0.7]}), '<div class="behind">1 seed</div>'),  # one split, no deviation
        (Cell(folds={0: [0.7]}, metric=METRICS["ratio"]), "<b>0.70</b>"),
    ],
)
def test_what_stands_behind_a_result(cell: Cell, shown: str) -> None:
    assert shown in html_of(cell)


@pytest.mark.parametrize(("status", "word"), [("not run", "not run"), ("limit", "> limit")])
def test_words_in_place_of_numbers(status: str, word: str) -> None:
    made = html_of(Cell(status, word, printed=Printed(word="OMR")))
    assert word.replace(">", "&gt;") in made
    assert "paper OMR" in made
    assert "href" not in made
    assert f"is-{status.replace(' ', '-')}" in made
    assert "<a" not in html_of(Cell(NONE, "-", records=RECORDS))


@pytest.mark.parametrize(
    ("value", "shown", "classes"),
    [
        (0.04, "= 0.0", "difference"),
        (0.4, "▲ +0.4", "difference above slight"),
        (-1.0, "▼ −1.0", "difference below clear"),
        (7.3, "▲ +7.3", "difference above large"),
    ],
)
def test_differences_need_no_colour(value: float, shown: str, classes: str) -> None:
    assert difference_tag(value) == f'<span class="{classes}">{shown}</span>'


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.31, "0.3 s"), (75, "75 s"), (900, "15 min"), (12003, "3 h 20 min")]
)
def test_times(seconds: float, shown: str) -> None:
    assert seconds_text(seconds) == shown


def test_the_anchor_of_a_path_is_that_of_its_group() -> None:
    assert anchor("a/b/c/seed-0.json") == anchor("a/b/c") == "records/a/b/c"
