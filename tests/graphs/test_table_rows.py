from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.table_rows import is_table, names_rows, rows_of, table_ids
from igsd.graphs.text_table import TextTable, read_text_table
from tests.small_graphs import make_graphs

GRAPHS = replace(make_graphs(2), lines=np.array([2, 4]))


def table(path: Path, header: str) -> TextTable:
    path.write_text(f"{header}\nCC,a,1\nXX,b,2\nCO,c,3\n")
    return read_text_table(path)


@pytest.mark.parametrize(
    "column", ["", "ID", "No.", "# row", "mol_id", "Compound Name", "ChEMBL-ID"]
)
def test_columns_that_name_rows(column: str) -> None:
    assert names_rows(column)


@pytest.mark.parametrize("column", ["smiles", "y", "idea", "acid", "target_id", "class name"])
def test_columns_that_do_not(column: str) -> None:
    assert not names_rows(column)


def test_the_ids_of_graphs(tmp_path: Path) -> None:
    made = table(tmp_path / "m.csv", "smiles,mol_id,id")
    assert rows_of(GRAPHS, made) == [0, 2]
    assert table_ids(made, [0, 2]) == ("a", "c")
    assert table_ids(table(tmp_path / "n.csv", "smiles,No.,name"), [0, 2]) == ("1", "3")


def test_where_there_are_none(tmp_path: Path) -> None:
    for header in ("smiles,kind,y", "smiles,,y", "smiles,id,id"):
        assert table_ids(table(tmp_path / "m.csv", header), [0, 2]) is None
    GRAPHS.save(tmp_path / "saved.csv")
    assert not is_table(str(tmp_path / "saved.csv"))


def test_graphs_without_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="on which line"):
        rows_of(make_graphs(2), table(tmp_path / "m.csv", "smiles,id,y"))
