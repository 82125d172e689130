from __future__ import annotations

from igsd.experiments.published import PublishedRow
from igsd.report.score_tables import group_runs, main_table, twins_table
from tests.report.record_files import make_record

SCORES = {"igsd": 0.9, "untrained": 0.8, "histogram": 0.7, "majority": 0.6}
RECORDS = [
    make_record(data, recipe, 0, SCORES)
    for data, recipe in [("MUTAG", "molecules"), ("COLLAB", "social"), ("B3DB", "molecules")]
]


def cells(table: str) -> dict[str, list[str]]:
    """Return the lines of a Markdown table by their first cell."""
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    return {first.strip(): [cell.strip() for cell in rest] for first, *rest in lines}


def test_columns_and_rows_have_a_fixed_order() -> None:
    published = [PublishedRow("as published", "a book", {"PTC": (61.4, 1.7)})]
    table = cells(main_table(group_runs(RECORDS), "nested", published))
    columns = ["MUTAG", "PTC", "NCI1", "IMDB-BINARY", "IMDB-MULTI", "COLLAB", "B3DB"]
    assert table.pop("method") == columns
    assert table.pop("---") == ["---:"] * 7
    assert list(table) == [
        "IGSD (ours)",
        "untrained encoder",
        "histogram",
        "majority",
        "IGSD, recipe paper",
        "as published",
    ]
    assert table["IGSD (ours)"] == ["90.0 (1 seed)", *"----", *["90.0 (1 seed)"] * 2]
    assert table["untrained encoder"][5] == "80.0 (1 seed)"
    assert table["IGSD, recipe paper"] == ["-"] * 7
    assert table["as published"] == ["-", "61.4 ± 1.7", *"-----"]


def test_another_recipe_never_stands_in_for_ours() -> None:
    records = [
        make_record("MUTAG", "social", 0, {"igsd": 1.0, "untrained": 1.0}),
        make_record("MUTAG", "paper", 0, {"igsd": 0.5, "untrained": 0.4}),
        make_record("COLLAB", "social", 0, {"igsd": 0.7}),
    ]
    table = cells(main_table(group_runs(records), "nested", []))
    assert table["IGSD (ours)"] == [*"-----", "70.0 (1 seed)"]
    assert table["untrained encoder"] == ["-"] * 6
    assert table["IGSD, recipe social"] == ["100.0 (1 seed)", *"-----"]
    assert table["IGSD, recipe paper"][0] == "50.0 (1 seed)"


def test_a_bar_in_a_name_makes_no_column() -> None:
    table = main_table(group_runs([make_record("a|b", "social", 0, SCORES)]), "nested", [])
    assert "| a\\|b |" in table.splitlines()[0]


def test_twins_have_a_table_where_they_were_removed() -> None:
    twins = {"igsd, twins removed": 0.6, "untrained, twins removed": 0.5}
    records = [*RECORDS, make_record("IMDB-BINARY", "social", 0, SCORES | twins)]
    assert twins_table(group_runs(records), "nested").splitlines() == [
        "| twins of test graphs removed from training | IMDB-BINARY |",
        "| --- | ---: |",
        "| IGSD (ours) | 60.0 (1 seed) |",
        "| untrained encoder | 50.0 (1 seed) |",
    ]
    assert twins_table(group_runs(RECORDS), "nested") == ""
