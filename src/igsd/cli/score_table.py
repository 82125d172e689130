"""How ``igsd evaluate`` shows its result: a table for people, JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from igsd.wording import counted

if TYPE_CHECKING:
    from igsd.experiments.scoring import Scored, Scoring
    from igsd.graphs.graphset import GraphSet


def report_scores(
    graphs: GraphSet,
    scoring: Scoring,
    per_seed: list[list[Scored]],
    about: dict[str, Any],
    *,
    as_json: bool,
) -> dict[str, Any]:
    """Print the table, or its JSON, and return it as plain values.

    ``per_seed`` are the results of each seed, ``about`` goes into the JSON as it is.
    """
    import json

    from igsd.experiments.records import data_summary
    from igsd.experiments.rows import make_rows, rows_to_dict
    from igsd.experiments.scoring import TWINS_REMOVED
    from igsd.report.table import print_scores

    rows = make_rows(per_seed, scoring.protocol)
    beside = make_rows(per_seed, "nested") if scoring.protocol == "paper" else []
    table = {"data": data_summary(graphs), "settings": scoring.settings(), **about}
    table |= rows_to_dict(rows, beside)
    if as_json:
        print(json.dumps(table, indent=2, allow_nan=False))
        return table
    title = f"{graphs.name}, protocol {scoring.protocol}, {counted(len(per_seed), 'seed')}"
    print_scores(rows, beside, title)
    # The rows with twins removed say so by their names.
    plain = [row for row in rows if not row.method.endswith(TWINS_REMOVED)]
    for note in sorted({note for row in plain for r in row.results for note in r.notes}):
        print(f"note: {note}")
    return table
