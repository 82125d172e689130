from __future__ import annotations

import re

from igsd.report.comparison_plot import comparison_svg
from igsd.report.page.inline_svg import inline_svg
from tests.report.test_comparison import made


def test_shapes_and_letters_are_kept_and_styles_are_attributes() -> None:
    text = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="evil()">
      <metadata>when</metadata><script>evil()</script><style>* {}</style><g id="axes_1">
      <path id="p1" d="M0 0" style="fill: none; stroke: #123456; cursor: help" onclick="evil()"/>
      <text x="1" style="font-size: 10px; font-family: 'Mine'">a &lt; b</text></g></svg>"""
    assert inline_svg(text, "about", "one") == (
        '<svg viewBox="0 0 9 9" class="picture" role="img" aria-label="about"><g>'
        '<path d="M0 0" id="one-p1" fill="none" stroke="#123456"></path>'
        '<text x="1" font-size="10px">a &lt; b</text></g></svg>'
    )


def test_a_picture_of_matplotlib_refers_to_its_own_shapes() -> None:
    drawn = inline_svg(comparison_svg(made()), "about", "one")
    there = set(re.findall(r' id="([^"]+)"', drawn))
    used = set(re.findall(r'href="#([^"]+)"', drawn)) | set(re.findall(r"url\(#([^)]+)\)", drawn))
    assert used
    assert used <= there
    assert all(name.startswith("one-") for name in there)
    assert "style" not in drawn
    assert ">wl</text>" in drawn
    assert drawn == inline_svg(comparison_svg(made()), "about", "one")
