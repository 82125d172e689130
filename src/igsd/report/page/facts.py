"""``shared_and_own``: what all records have in common, and what each has for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from igsd.report.page.html import Html, tag

_LONG = 200


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


def shared_and_own(records: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], list[str]]:
    """Return (texts that are equal in all records, names of those that are not)."""
    names = list(dict.fromkeys(name for record in records for name in record))
    own = [name for name in names if len({record.get(name) for record in records}) > 1]
    return {name: records[0][name] for name in names if name not in own}, own


def fact_list(facts: Mapping[str, Any]) -> Html:
    """Return names and values as a list of descriptions."""
    entries = [tag("div", tag("dt", key), tag("dd", text_of(v))) for key, v in facts.items()]
    return tag("dl", *entries, class_="facts")


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
