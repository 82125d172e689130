"""``score_cell``: what a table says of one method on one data set, from the records of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from igsd.config import load_recipe, recipe_names
from igsd.evaluation.result import ProtocolResult
from igsd.experiments import ALGORITHM
from igsd.experiments.records import Identity, scored_of
from igsd.experiments.rows import Row

FULL_SEEDS = 5
"""Fewer seeds than this are noted in the cell."""

NOT_RUN = "-"

Record = dict[str, Any]


def score_cell(records: Sequence[Record], method: str, protocol: str) -> str:
    """Return mean and standard deviation over seeds in per cent, e.g. ``90.2 ± 0.7 (3 seeds)``.

    ``records`` are the runs of one recipe on one data set, one for each seed. ``-`` without a run
    of the method, ``failed`` where no seed ended well. In brackets: fewer than five seeds, failed
    seeds, settings that are not those of the shipped recipe, and ``stale`` for records of another
    version of the algorithm. The mean never mixes versions: stale ones count only alone.
    """
    current = [record for record in records if record["algorithm"] == ALGORITHM]
    used = current or records
    good = [record for record in used if record["status"] == "ok"]
    results = method_results(good, method, protocol)
    failed = len(used) - len(good)
    if not results and not failed:
        return NOT_RUN
    notes = [] if current else ["stale"]
    if current and len(current) < len(records):
        notes.append(f"{len(records) - len(current)} more stale")
    if _has_other_settings(used):
        notes.append("other settings")
    if not results:
        return _with_notes("failed", notes)
    if len(results) < FULL_SEEDS:
        notes.append(f"{len(results)} seed" + ("s" if len(results) > 1 else ""))
    if failed:
        notes.append(f"{failed} failed")
    row = Row(method, protocol, tuple(results))
    std = row.std_over_seeds
    return _with_notes(
        mean_and_std(100 * (row.mean or 0), None if std is None else 100 * std), notes
    )


def mean_and_std(mean: float, std: float | None) -> str:
    """Return both with one decimal; the values are per cent already. One seed has no deviation."""
    return f"{mean:.1f}" if std is None else f"{mean:.1f} ± {std:.1f}"


def method_results(records: Sequence[Record], method: str, protocol: str) -> list[ProtocolResult]:
    """Return the results of one method under one protocol, in the order of the records."""
    return [
        result
        for record in records
        for name, result in scored_of(record)
        if name == method and result.protocol == protocol
    ]


def _with_notes(text: str, notes: list[str]) -> str:
    return f"{text} ({', '.join(notes)})" if notes else text


def _has_other_settings(records: Sequence[Record]) -> bool:
    """Say whether a record differs from its recipe as shipped, or from the first in its data.

    ``--set`` changes a run without changing its recipe's name, and recipes change with time.
    """
    first = records[0]
    if first["recipe"] not in recipe_names():
        return False
    recipe = load_recipe(first["recipe"])
    return any(
        Identity(
            recipe.updated({"seed": record["seed"]}),
            first["data"]["checksum"],
            first["protocol"],
            record["algorithm"],
        ).differences(record)
        for record in records
    )
