"""``make_page``: the whole page from a folder of records and run folders."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from igsd.report.page.assets import asset
from igsd.report.page.html import Html, tag
from igsd.report.page.record_sections import Entry, record_sections
from igsd.report.page.run import run_section
from igsd.report.page.run_data import read_run


def make_page(
    records: str | os.PathLike[str] | None,
    runs: Sequence[str | os.PathLike[str]] = (),
    map_method: str = "pca",
) -> str:
    """Return one self-contained HTML page: the same for the same records and runs.

    ``records``: a folder of records, None for a page of runs alone. ``runs``: run folders.
    Raises ``StorageError`` for a folder that is none of these, ``ConfigError`` for a map that
    cannot be made.
    """
    entries: list[Entry] = []
    sections: list[Html] = []
    for number, path in enumerate(runs, start=1):
        run, name = read_run(Path(path)), f"run-{number}"
        entries.append((name, f"Run {run.path.name}", run.data))
        sections.append(run_section(run, name, map_method))
    title = "igsd: runs"
    if records is not None:
        title, found_entries, found_sections = record_sections(Path(records))
        entries += found_entries
        sections += found_sections
    return _document(title, entries, sections)


def _document(title: str, entries: Sequence[Entry], sections: Sequence[Html]) -> str:
    style = asset("colours.css", "series.css", "style.css")
    script = asset("script.js")
    # Nothing can be loaded, and no script runs but this one, whatever a label holds.
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("header", tag("h1", title), _contents(entries)),
        tag("main", *sections, id="content"),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _contents(entries: Sequence[Entry]) -> Html:
    items = [
        tag("li", tag("a", title, href=f"#{name}"), tag("span", f" {much}", class_="much"))
        for name, title, much in entries
    ]
    return tag("nav", tag("ol", *items), aria_label="Contents")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
