"""``asset``: the style sheets and the script that pages and plots carry in themselves."""

from __future__ import annotations

from importlib import resources

from igsd.report.page.html import Html


def asset(*names: str) -> Html:
    """Return files of our own, one after the other; they need no escaping.

    ``colours.css`` and ``series.css`` hold for the page and for plots, ``style.css`` for the page,
    ``plot.css`` for plots in files of their own.
    """
    folder = resources.files("igsd.report.page")
    return Html("".join((folder / name).read_text(encoding="utf-8") for name in names))
