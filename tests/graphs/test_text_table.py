from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import DataError
from igsd.graphs.text_table import read_text_table


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_columns_rows_and_lines(tmp_path: Path, separator: str) -> None:
    text = "a,b\n1, 2\n\n3\n".replace(",", separator)
    (tmp_path / "t.txt").write_text(text)
    table = read_text_table(tmp_path / "t.txt")
    assert table.columns == ["a", "b"]
    assert (table.column("a"), table.column("b")) == (["1", "3"], ["2", ""])
    assert table.lines == [2, 4]


def test_a_column_that_is_not_there_or_twice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,b\n1,2,3\n")
    table = read_text_table(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"no column 'c'\. The columns are: a, b, b\.$"):
        table.column("c")
    with pytest.raises(DataError, match=r"no column 'A'\. Did you mean 'a'\? The columns are: a"):
        table.column("A")
    with pytest.raises(DataError, match="2 columns called 'b'"):
        table.column("b")
