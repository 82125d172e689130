"""``inline_svg``: a picture of Matplotlib as a part of the page."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from igsd.report.page.html import Html, joined, tag

_ELEMENTS = frozenset({"clipPath", "defs", "g", "path", "rect", "svg", "text", "tspan", "use"})
_ATTRIBUTES = ("x", "y", "width", "height", "d", "transform", "viewBox")
_STYLES = re.compile("(fill|stroke|opacity)(-[a-z]+)?|font-size|text-anchor")


def inline_svg(text: str, about: str, name: str) -> Html:
    """Return an SVG element with the shapes and letters of a picture, and nothing else of it.

    ``about`` is what a reader who cannot see it is told; ``name`` comes before the identifiers of
    its shapes, so that pictures of one page keep to their own. Styles become attributes: the page
    forbids others than those of its own sheet.
    """
    root = ElementTree.fromstring(text)
    parts = [_element(child, name) for child in root]
    box = root.get("viewBox")
    return tag("svg", *parts, viewBox=box, class_="picture", role="img", aria_label=about)


def _element(element: ElementTree.Element, name: str) -> Html | None:
    kind = element.tag.split("}")[-1]
    if kind not in _ELEMENTS:
        return None
    children = [_element(child, name) for child in element]
    if kind in ("g", "defs") and not any(children):
        return None
    letters = element.text if kind in ("text", "tspan") and element.text else ""
    return tag(kind, joined(letters.strip(), *children), **_attributes(element, kind, name))


def _attributes(element: ElementTree.Element, kind: str, name: str) -> dict[str, Any]:
    """Return the attributes that an element keeps; groups are not referred to and lose theirs."""
    given = {key.split("}")[-1]: value for key, value in element.attrib.items()}
    kept: dict[str, Any] = {key: given[key] for key in _ATTRIBUTES if key in given}
    if "id" in given and kind != "g":
        kept["id"] = f"{name}-{given['id']}"
    if kind == "use":
        kept["href"] = f"#{name}-{given['href'].removeprefix('#')}"
    if clip := re.fullmatch(r"url\(#([\w-]+)\)", given.get("clip-path", "")):
        kept["clip-path"] = f"url(#{name}-{clip[1]})"
    pairs = (part.split(":", 1) for part in given.get("style", "").split(";") if ":" in part)
    styles = {key.strip(): value.strip() for key, value in pairs}
    return kept | {key: value for key, value in styles.items() if _STYLES.fullmatch(key)}
