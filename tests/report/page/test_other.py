from __future__ import annotations

from igsd.report.page.other import other_section
from tests.report.page.test_method_lines import group


def test_a_set_of_the_user_is_listed_with_all_its_methods() -> None:
    made = other_section([group("mine<", "wl"), group("mine<", "igsd")], {"nested/mine</igsd"})
    assert made is not None
    assert "mine&lt;, protocol nested" in made
    assert 'href="#records/nested/mine&lt;/wl"' in made
    assert 'href="#records/nested/mine&lt;/igsd"' in made


def test_sets_of_the_paper_only_where_no_table_has_them() -> None:
    runs = [group("MUTAG", "igsd"), group("MUTAG", "own")]
    made = other_section(runs, {"nested/MUTAG/igsd"})
    assert made is not None
    assert "nested/MUTAG/own" in made
    assert "nested/MUTAG/igsd" not in made
    assert other_section(runs, {"nested/MUTAG/igsd", "nested/MUTAG/own"}) is None
