from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet

from igsd.experiments.predictions import Columns, given_columns, write_columns
from tests.small_graphs import make_graphs

COLUMNS: Columns = {"graph": [0, 1], "class": ["a,b", "c"], "p": [1 / 3, 1.0], "given": [None, "c"]}


def test_quotes_stand_only_where_they_are_needed(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.csv", COLUMNS)
    expected = 'graph,class,p,given\n0,"a,b",0.333333333,\n1,c,1,c\n'
    assert (tmp_path / "p.csv").read_text() == expected


def test_parquet(tmp_path: Path) -> None:
    write_columns(tmp_path / "p.parquet", COLUMNS)
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pydict() == COLUMNS


def test_what_the_data_says_itself() -> None:
    graphs = replace(
        make_graphs(3, classes=True),
        targets=np.array([[0.5, 1.5], [np.nan, 2.5], [3.5, np.nan]]),
        target_names=("logP", "logS"),
    )
    one = {"names": ["logP"], "task": "numbers"}
    assert given_columns(one, graphs, "X") == {"given": [0.5, None, 3.5]}
    both = {"names": ["logP", "logS"], "task": "numbers"}
    assert given_columns(both, graphs, "X")["given_logS"] == [1.5, 2.5, None]
    classes = {"names": ["class"], "task": "classes"}
    assert given_columns(classes, graphs, "X") == {"given": ["-1", "1", "-1"]}
    assert given_columns(one, make_graphs(3), "X") == {}
    assert given_columns({}, graphs, "X") == {}
