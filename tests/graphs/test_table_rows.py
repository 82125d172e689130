from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.table_rows import is_table, names_rows, rows_of, table_ids
from igsd.graphs.text_table import read_text_table
from tests.small_graphs import make_graphs

GRAPHS = replace(make_graphs(2), lines=np.array([2, 4]))


def write(path: Path, header: str) -> str:
    path.write_text(f"{header}\nCC,a,1\nXX,b,2\nCO,c,3\n")
    return str(path)


@pytest.mark.parametrize(
    "column", ["", "ID", "No.", "# row", "mol_id", "Compound Name", "ChEMBL-ID"]
)
def test_columns_that_name_rows(column: str) -> None:
    assert names_rows(column)


@pytest.mark.parametrize("column", ["smiles", "y", "idea", "acid", "target_id", "class name"])
def test_columns_that_do_not(column: str) -> None:
    assert not names_rows(column)


def test_the_ids_of_graphs(tmp_path: Path) -> None:
    data = write(tmp_path / "m.csv", "smiles,mol_id,id")
    assert table_ids(GRAPHS, data) == ["a", "c"]
    assert table_ids(GRAPHS, write(tmp_path / "n.csv", "smiles,No.,name")) == ["1", "3"]
    assert rows_of(GRAPHS, read_text_table(Path(data))) == [0, 2]


def test_where_there_are_none(tmp_path: Path) -> None:
    assert table_ids(GRAPHS, write(tmp_path / "m.csv", "smiles,kind,y")) is None
    assert table_ids(GRAPHS, write(tmp_path / "n.csv", "smiles,,y")) is None
    assert table_ids(GRAPHS, write(tmp_path / "twice.csv", "smiles,id,id")) is None
    assert table_ids(GRAPHS, "MUTAG") is None
    GRAPHS.save(tmp_path / "saved.csv")
    assert not is_table(str(tmp_path / "saved.csv"))


def test_graphs_without_lines(tmp_path: Path) -> None:
    table = read_text_table(Path(write(tmp_path / "m.csv", "smiles,id,y")))
    with pytest.raises(DataError, match="on which line"):
        rows_of(make_graphs(2), table)
