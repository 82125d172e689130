from __future__ import annotations

import json
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from igsd.report.page.html import (
    Html,
    fact_list,
    joined,
    json_block,
    scroll_table,
    tag,
    text_of,
)


def test_elements_and_attributes() -> None:
    assert tag("p", "a", tag("b", 1), None, class_="x") == '<p class="x">a<b>1</b></p>'
    assert tag("input", type="number", disabled=True, min=None) == '<input type="number" disabled>'
    assert tag("path", d="M0 0") == '<path d="M0 0"></path>'
    assert tag("meta", name="a", http_equiv="b") == '<meta name="a" http-equiv="b">'


@given(st.text(alphabet="<>&\"'ab\n"))
def test_text_comes_back_as_text(text: str) -> None:
    made = tag("p", text, title=text)
    inner = made.removeprefix("<p").removesuffix("</p>")
    title, _, body = inner.removeprefix(' title="').partition('">')
    assert unescape(title) == text
    assert unescape(body) == text
    assert "<" not in title + body


def test_html_is_not_escaped_twice_and_formatting_makes_it_text_again() -> None:
    bold = tag("b", "&")
    assert joined(bold) == "<b>&amp;</b>"
    assert isinstance(bold, Html)
    assert joined(f"{bold}") == "&lt;b&gt;&amp;amp;&lt;/b&gt;"


@pytest.mark.parametrize("link", ["http" + "://a.b/c", "//a.b", "javascript:x()", "data:x", "a"])
@pytest.mark.parametrize("key", ["href", "src"])
def test_links_stay_in_the_page(link: str, key: str) -> None:
    with pytest.raises(ValueError, match="must begin with '#'"):
        tag("a", "x", **{key: link})


@given(st.text())
def test_data_cannot_end_its_element(text: str) -> None:
    block = json_block({"a": text}, "name")
    body = block.split(">", 1)[1].removesuffix("</script>")
    assert "<" not in body
    assert json.loads(body) == {"a": text}


def test_tables_scroll_in_a_box_that_can_be_reached() -> None:
    made = scroll_table(["a", "b"], [["<x>", 1]], "About <it>")
    assert 'class="scroll" tabindex="0" role="region" aria-label="About &lt;it&gt;"' in made
    assert '<td class="left">&lt;x&gt;</td><td>1</td>' in made


def test_facts_are_short_and_escaped() -> None:
    values = [None, True, False, 0.1, [1, None], "x" * 300]
    assert [text_of(value) for value in values[:5]] == ["-", "yes", "no", "0.1", "1, -"]
    assert text_of(values[5]) == "x" * 199 + "…"
    assert fact_list({"<a>": "<b>"}) == (
        '<dl class="facts"><div><dt>&lt;a&gt;</dt><dd>&lt;b&gt;</dd></div></dl>'
    )
