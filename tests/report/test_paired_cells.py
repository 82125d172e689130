from __future__ import annotations

from pathlib import Path

from igsd.report.page.cell import result_cell
from igsd.report.paired_cells import difference_cell
from igsd.report.paper_cell import NOT_RUN, OK, PaperCell
from igsd.report.paper_table import table
from igsd.report.paper_text import markdown, table_lines


def cell(**seeds: float) -> PaperCell:
    return PaperCell(OK, by_seed=tuple((int(name[1:]), value) for name, value in seeds.items()))


def test_the_seeds_of_both_count() -> None:
    """Differences 1, 3 and 2: their mean is 2, their deviation 1, the error 1 over root 3."""
    ours, theirs = cell(s0=71, s1=73, s2=72, s3=90), cell(s0=70, s1=70, s2=70, s4=1)
    assert difference_cell(ours, theirs).text == "+2.0 ± 0.6"
    assert difference_cell(theirs, ours).text == "−2.0 ± 0.6"


def test_a_difference_leads_to_the_records_of_the_method_it_is_named_after() -> None:
    ours, theirs = (
        PaperCell(OK, by_seed=((0, 70.0), (1, 71.0)), records=(f"semi/A/{name}/seed-0.json",))
        for name in ("igsd", "gin")
    )
    made = difference_cell(ours, theirs)
    assert made.records == ("semi/A/gin/seed-0.json", "semi/A/igsd/seed-0.json")
    assert '<a href="#records/semi/A/gin">' in result_cell(made)


def test_without_a_seed_in_common() -> None:
    made = difference_cell(cell(s0=71), cell(s1=70))
    assert (made.status, made.text) == (NOT_RUN, NOT_RUN)


def test_a_table_ends_with_its_differences(tmp_path: Path) -> None:
    shown = table("table-2", tmp_path, ["NCI1"])
    _, lines = table_lines(shown)
    heading = "IGSD (SupCon) + self-training less"
    assert lines[-5:-3] == [
        [f"-- {heading}", "", "", ""],
        ["... Mean Teachers", "not run", "", ""],
    ]
    assert f"| **{heading}** |" in markdown(shown)
