"""``tag``: HTML in which text is always escaped and no link leaves the page."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_EMPTY = frozenset({"br", "hr", "input", "meta"})
_LINKS = frozenset({"action", "formaction", "href", "src", "xlink:href"})
_LONG = 200


class Html(str):
    """Text that is HTML already. Only the functions of this file should make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; children that are not ``Html`` are escaped, None is left out.

    ``class_`` and ``for_`` are written without the underscore, other underscores as hyphens. An
    attribute that is None or False is left out, one that is True has no value.
    Raises ``ValueError`` for a link that leads anywhere but to a place in the page.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    head = name + "".join(_attribute(*item) for item in attributes.items())
    if name in _EMPTY:
        return Html(f"<{head}>")
    return Html(f"<{head}>{joined(*children)}</{name}>")


def joined(*children: Any) -> Html:
    """Return the children one after the other, each escaped unless it is ``Html``."""
    there = [child for child in children if child is not None]
    return Html("".join(c if isinstance(c, Html) else escape(str(c), quote=False) for c in there))


def json_block(value: Any, name: str) -> Html:
    """Return data for the page's script; nothing in it can end the element it stands in."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Html(f'<script type="application/json" id="{escape(name)}">{safe}</script>')


def scroll_box(content: Html, about: str) -> Html:
    """Return a box that scrolls sideways; the keyboard reaches it, and ``about`` describes it."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=about)


def scroll_table(header: Sequence[Any], lines: Sequence[Sequence[Any]], about: str) -> Html:
    """Return a plain table with a header in a box that scrolls; the first column is flush left."""

    def row(kind: str, cells: Sequence[Any], **attributes: str) -> Html:
        sides = ["left", *[None] * (len(cells) - 1)]
        pairs = zip(cells, sides, strict=True)
        return tag("tr", *(tag(kind, cell, **attributes, class_=side) for cell, side in pairs))

    head, body = row("th", header, scope="col"), [row("td", line) for line in lines]
    return scroll_box(tag("table", tag("thead", head), tag("tbody", *body)), about)


def fact_list(facts: Mapping[str, Any]) -> Html:
    """Return names and values as a list of descriptions."""
    entries = [tag("div", tag("dt", key), tag("dd", text_of(v))) for key, v in facts.items()]
    return tag("dl", *entries, class_="facts")


def flat(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Return nested values as texts by dotted name; lists are joined, long texts cut.

    >>> flat({"commit": {"id": "abc", "dirty": False}, "targets": ["mu", "gap"]})
    {'commit.id': 'abc', 'commit.dirty': 'no', 'targets': 'mu, gap'}
    """
    found: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = text_of(value)
    return found


def text_of(value: Any) -> str:
    """Return a value of a record as a short text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        value = ", ".join(text_of(entry) for entry in value)
    text = str(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    key = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {key}"
    if key in _LINKS and not str(value).startswith("#"):
        raise ValueError(f"A link of the page must begin with '#'. Got {value!r}.")
    return f' {key}="{escape(str(value))}"'
