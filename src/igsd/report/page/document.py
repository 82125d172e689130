"""``make_page``: the whole page from a folder of records and run folders."""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from igsd.report.page.html import Html, tag
from igsd.report.page.records import Entry, record_sections
from igsd.report.page.run import read_run, run_section


def make_page(
    records: str | Path | None,
    runs: Sequence[str | Path] = (),
    map_method: str = "pca",
) -> str:
    """Return one self-contained HTML page; the same ``records`` and ``runs`` give the same page.

    Either may be missing. Raises ``StorageError`` for a folder that is not one of records or of a
    run, ``ConfigError`` for a map that cannot be made.
    """
    title, entries, sections = "igsd: runs", list[Entry](), list[Html]()
    for number, path in enumerate(runs, start=1):
        run, name = read_run(Path(path)), f"run-{number}"
        entries.append((name, f"Run {run.path.name}", run.data))
        sections.append(run_section(run, name, map_method))
    if records is not None:
        title, more_entries, more_sections = record_sections(Path(records))
        entries, sections = entries + more_entries, sections + more_sections
    return _document(title, entries, sections)


def asset(name: str) -> Html:
    """Return a style sheet or script of this folder; it needs no escaping."""
    return Html((resources.files("igsd.report.page") / name).read_text(encoding="utf-8"))


def _document(title: str, entries: Sequence[Entry], sections: Sequence[Html]) -> str:
    style, script = asset("style.css"), asset("script.js")
    # Nothing can be loaded, and no other script runs, whatever a label contains.
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    items = [
        tag("li", tag("a", text, href=f"#{name}"), tag("span", f" {much}", class_="much"))
        for name, text, much in entries
    ]
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
        tag("header", tag("h1", title), tag("nav", tag("ol", *items), aria_label="Contents")),
        tag("main", *sections, id="content"),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
