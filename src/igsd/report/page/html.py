"""``tag``: HTML in which text is always escaped and no link leaves the page."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_EMPTY = frozenset({"br", "hr", "input", "meta"})
_LINKS = frozenset({"action", "formaction", "href", "src", "xlink:href"})


class Html(str):
    """Text that is HTML already. ``tag``, ``joined`` and ``json_block`` alone should make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; children that are no ``Html`` are escaped, None ones left out.

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
    return Html("".join(_child(child) for child in children if child is not None))


def json_block(value: Any, name: str) -> Html:
    """Return data for the page's script; nothing in it can end the element it stands in."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Html(f'<script type="application/json" id="{escape(name)}">{safe}</script>')


def _child(child: Any) -> str:
    return str(child) if isinstance(child, Html) else escape(str(child), quote=False)


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    key = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {key}"
    if key in _LINKS and not str(value).startswith("#"):
        raise ValueError(f"A link of the page must begin with '#'. Got {value!r}.")
    return f' {key}="{escape(str(value))}"'
