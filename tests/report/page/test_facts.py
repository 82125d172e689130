from __future__ import annotations

from igsd.report.page.facts import fact_list, shared_and_own, text_of


def test_what_is_shared_and_what_is_not() -> None:
    shared, own = shared_and_own([{"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}])
    assert shared == {"a": "1"}
    assert own == ["b", "c"]


def test_texts() -> None:
    values = [None, True, False, 0.1, [1, None], "x" * 300]
    assert [text_of(value) for value in values[:5]] == ["-", "yes", "no", "0.1", "1, -"]
    assert text_of(values[5]) == "x" * 199 + "…"


def test_facts_are_escaped() -> None:
    assert fact_list({"<a>": "<b>"}) == (
        '<dl class="facts"><div><dt>&lt;a&gt;</dt><dd>&lt;b&gt;</dd></div></dl>'
    )
