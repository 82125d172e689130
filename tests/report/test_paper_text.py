from __future__ import annotations

from pathlib import Path

from igsd.report.paper_figure import figure
from igsd.report.paper_table import table
from igsd.report.paper_text import exhibit_text, figure_lines, markdown, table_lines


def test_text_of_a_table() -> None:
    header, lines = table_lines(table("table-1", "no/such/folder", ["MUTAG"]))
    assert header == ["method", "MUTAG", "paper"]
    assert lines[0] == ["graphs", "188", ""]
    assert ["-- kernels", "", ""] in lines
    assert ["WL subtree", "not run", "80.7 ± 3.0"] in lines
    text = exhibit_text(table("table-3", "no/such/folder"))
    assert text.startswith("Table 3: with and without the projector\n")
    assert "\nThe paper's figures: H. Zhang et al." in text


def test_figures_of_other_papers_are_not_called_the_papers() -> None:
    shown = table("beyond", "no/such/folder", ["MUTAG"])
    header, _ = table_lines(shown)
    assert header == ["method", "MUTAG", "published"]
    assert "not run<br>published: 84.5 ± 1.7" in markdown(shown)
    for name in ("beyond", "b3db", "b3db-logbb"):
        assert "\nNot in the paper. " in exhibit_text(table(name, "no/such/folder"))


def test_text_of_a_figure(tmp_path: Path) -> None:
    header, lines = figure_lines(figure("figure-negatives", tmp_path))
    assert header == ["graphs in a batch", "IGSD", "CMC-Graph (MVGRL)"]
    assert lines[0] == ["16", "not run", "not run"]
