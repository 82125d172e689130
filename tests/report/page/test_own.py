from __future__ import annotations

from igsd.report.page.own import compare_groups, own_section
from igsd.report.page.record_groups import RecordGroup
from tests.report.page.test_method_lines import group


def test_a_data_set_has_a_table_and_a_picture() -> None:
    made = own_section("mine<", [group("mine<", "wl"), group("mine<", "histogram")], "data-1")
    assert made.startswith('<section id="data-1"><h2>mine&lt;</h2>')
    assert made.count("<svg") == 1
    # In the table and in the picture.
    assert made.count(">WL subtree<") == 2
    # Its own five figures, and three of the majority class.
    assert made.count('href="#records/nested/mine&lt;/wl"') == 8
    assert "the paper" not in made


def test_methods_stand_as_in_the_list_of_methods() -> None:
    made = own_section("mine", [group("mine", "gcc"), group("mine", "igsd")], "data-1")
    assert made.index(">IGSD<") < made.index(">GCC<")


def test_protocols_stand_one_after_the_other() -> None:
    runs = [group("mine", "wl"), group("mine", "wl", place="gckn/mine/wl", protocol="gckn")]
    made = own_section("mine", runs, "data-1")
    assert made.index("Protocol nested") < made.index("Protocol gckn")
    assert made.count("<svg") == 2


def test_without_figures_there_is_no_picture() -> None:
    made = own_section("mine", [group("mine", "wl", status="limit", word="OMR")], "data-1")
    assert "<svg" not in made
    assert ">OMR</a>" in made


def test_the_comparison_is_that_of_the_records() -> None:
    failed = group("mine", "gcc", status="failed", error="broken")
    made = compare_groups("mine", [group("mine", "wl"), failed])
    assert [line.cell("nested") for line in made.lines] == ["55.0 ± 5.0", "failed"]
    assert made.majority.cell("nested") == "50.0 ± 0.0"
    assert made.num_seeds == 2
    recipe = RecordGroup("nested/mine/molecules", group("mine", "igsd").records)
    assert compare_groups("mine", [recipe]).lines[0].cell("nested") == "55.0 ± 5.0"
