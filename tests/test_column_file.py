from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from igsd.column_file import Columns, write_columns

COLUMNS: Columns = {"graph": [0, 1], "class": ["a,b", "c"], "p": [1 / 3, 1.0], "given": [None, "c"]}


def test_quotes_stand_only_where_they_are_needed(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.csv", COLUMNS)
    expected = 'graph,class,p,given\n0,"a,b",0.333333333,\n1,c,1,c\n'
    assert (tmp_path / "p.csv").read_text() == expected


def test_parquet(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.parquet", COLUMNS)
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pydict() == COLUMNS
