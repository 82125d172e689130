"""``scroll_table``: a plain table that scrolls inside its own box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from igsd.report.page.html import Html, tag


def scroll_table(header: Sequence[Any], lines: Sequence[Sequence[Any]], about: str) -> Html:
    """Return a table with a header; the first column is flush left."""
    heads = [tag("th", name, scope="col", class_=_side(i)) for i, name in enumerate(header)]
    rows = [
        tag("tr", *(tag("td", cell, class_=_side(i)) for i, cell in enumerate(line)))
        for line in lines
    ]
    return scroll_box(tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows)), about)


def scroll_box(content: Html, about: str) -> Html:
    """Return a box that scrolls sideways; the keyboard reaches it, and it says what it holds."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=about)


def _side(place: int) -> str | None:
    return "left" if place == 0 else None
