"""``record_section``: all that the records of one run say, where a cell's link leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from igsd.experiments.records import Record
from igsd.report.page.curves import all_charts
from igsd.report.page.facts import fact_list, flat, shared_and_own, text_of
from igsd.report.page.html import Html, joined, tag
from igsd.report.page.record_groups import RecordGroup, anchor
from igsd.report.page.scroll import scroll_table
from igsd.wording import counted

_CURVES = ("pretraining", "history", "pseudo_labels")
_APART = ("kind", "rows", "config", "notes", "error", "seed", "status", *_CURVES)


def record_section(group: RecordGroup) -> Html:
    """Return the section of a group, closed until it is asked for."""
    seeds = counted(len(group.records), "seed")
    bad = [r for r in group.records if r["status"] != "ok"]
    state = "" if not bad else f", {len(bad)} without a result"
    state += ", stale" if group.is_stale else ""
    title = tag("summary", tag("span", group.place, class_="place"), f" {seeds}{state}")
    about = [flat({k: v for k, v in r.items() if k not in _APART}) for r in group.records]
    shared, own = shared_and_own(about)
    settings, varied = shared_and_own([flat(r["config"]) for r in group.records])
    body = [
        _seed_table(group, about, own),
        *_errors_and_notes(group.records),
        _fold_table(group),
        all_charts(*(_by_seed(group, key) for key in _CURVES), level="h4"),
        tag("h4", "The same in all"),
        fact_list(shared),
        tag("h4", "Settings"),
        fact_list(settings | {name: _each(group.records, name) for name in varied}),
    ]
    return tag("details", title, *body, id=anchor(group.place), class_="record")


def _by_seed(group: RecordGroup, key: str) -> dict[str, Any]:
    """Return what the records have under a key, by the seed; those without it are left out."""
    return {f"seed {r['seed']}": r[key] for r in group.records if r.get(key)}


def _each(records: Sequence[Record], name: str) -> str:
    """Return the values of a setting that differs, seed by seed."""
    return ", ".join(flat(record["config"]).get(name, "-") for record in records)


def _seed_table(group: RecordGroup, about: Sequence[dict[str, str]], own: list[str]) -> Html:
    """Return a line for each seed with how it ended and what only it has."""
    header = ["seed", "status", *own]
    lines = [
        [text_of(record["seed"]), _ended(record), *(facts.get(name, "-") for name in own)]
        for record, facts in zip(group.records, about, strict=True)
    ]
    return scroll_table(header, lines, f"Runs of {group.place}")


def _ended(record: Record) -> str:
    word = record.get("word")
    return str(record["status"]) if word is None else f"{record['status']}: {word}"


def _errors_and_notes(records: Sequence[Record]) -> list[Html]:
    """Return the sentences of runs that failed, and what runs have to say, each once."""
    errors = [f"seed {r['seed']}: {r['error']}" for r in records if r.get("error")]
    notes = list(dict.fromkeys(note for r in records for note in r.get("notes") or ()))
    parts = [tag("p", text, class_="error") for text in errors]
    return parts + [tag("p", f"Note: {text}") for text in notes]


def _fold_table(group: RecordGroup) -> Html | None:
    """Return mean and folds of every row, seed by seed; errors where a row has no accuracies."""
    lines: dict[str, list[list[str]]] = {}
    for record in group.records:
        for row in record["rows"]:
            name = row["method"]
            if row["protocol"] != group.protocol:
                name += f", {row['protocol']}"
            lines.setdefault(name, []).append([name, str(record["seed"]), *_figures(row)])
    if not lines:
        return None
    header = ["row", "seed", "mean", "std", "folds"]
    flat_lines = [line for found in lines.values() for line in found]
    return joined(tag("h4", "Figures"), scroll_table(header, flat_lines, "Figures fold by fold"))


def _figures(row: dict[str, Any]) -> list[str]:
    if "accuracies" in row:
        folds = " ".join(f"{100 * value:.1f}" for value in row["accuracies"])
        return [f"{100 * row['mean']:.2f} %", f"{100 * row['std']:.2f}", folds]
    error = row.get("mae") or {}
    if isinstance(error, float):
        return [f"error {error:.4g}", "", ""]
    return ["", "", ", ".join(f"{key} {value:.4g}" for key, value in error.items())]
