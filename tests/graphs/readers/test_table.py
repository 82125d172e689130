from __future__ import annotations

import gzip
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.files import bounded
from igsd.files.cache import NOTES, cached_files
from igsd.graphs.readers.long_table import LongTable
from igsd.graphs.readers.table import names_rows, read_smiles_table, rows_of, table_ids
from igsd.graphs.readers.text_table import TextTable, is_table, read_text_table
from tests.small_graphs import make_graphs


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
    assert table_ids(made, [0, 2]) == ("1", "3")  # id, wherever it stands
    assert table_ids(table(tmp_path / "n.csv", "smiles,No.,name"), [0, 2]) == ("1", "3")


def test_where_there_are_none(tmp_path: Path) -> None:
    for header in ("smiles,kind,y", "smiles,,y", "smiles,id,id"):
        assert table_ids(table(tmp_path / "m.csv", header), [0, 2]) is None
    GRAPHS.save(tmp_path / "saved.csv")
    assert not is_table(str(tmp_path / "saved.csv"))


def test_graphs_without_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="do not know their lines"):
        rows_of(make_graphs(2), table(tmp_path / "m.csv", "smiles,id,y"))


@pytest.fixture(autouse=True)
def _needs_rdkit() -> None:
    pytest.importorskip("rdkit", reason="needs the extra igsd[chem]")


TABLE = "id,SMILES,class,mu,note\n1,CCO,1,0.5,a\n2,bad,0,1,b\n3,C,0,,c\n4,CC,,nan,d\n"


def write(path: Path, text: str) -> Path:
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.txt"])
def test_columns_are_found_by_name(tmp_path: Path, name: str) -> None:
    text = TABLE.replace(",", "\t") if "tsv" in name else TABLE
    with pytest.warns(IGSDWarning, match=r"1 of 4 rows of t\..* left out: line 3: 'bad'"):
        graphs = read_smiles_table(write(tmp_path / name, text))
    assert graphs.name == "t"
    assert graphs.lines is not None
    assert graphs.lines.tolist() == [2, 4, 5]
    assert graphs.ids == ("1", "3", "4")
    assert graphs.graph_names == ("CCO", "C", "CC")
    assert graphs.classes is not None
    assert (graphs.classes.tolist(), graphs.class_names) == ([1, 0, -1], (0, 1))
    assert graphs.targets is not None
    np.testing.assert_array_equal(graphs.targets, [[0.5], [np.nan], [np.nan]])
    assert graphs.target_names == ("mu",)
    assert graphs.notes == ("left out, not a molecule: line 3: 'bad': not valid SMILES",)


def test_columns_by_choice(tmp_path: Path) -> None:
    text = "drug,passes,logBB,y\r\nCCO,BBB+,1.5,1\r\n\r\nC,BBB-,,2\r\n"
    table = read_smiles_table(
        write(tmp_path / "t.csv", text), "drug", "passes", ["logBB"], name="b"
    )
    assert table.class_names == ("BBB+", "BBB-")
    assert table.target_names == ("logBB",)
    assert table.name == "b"


# Only a column called inchi used to be found.
def test_inchi_in_a_column_of_any_name(tmp_path: Path) -> None:
    rows = ["1,n/a,,1", "2,InChI=1S/CH4/h1H4,,2", '3,"InChI=1S/C2H6/c1-2/h1-2H3",,3']
    path = write(tmp_path / "t.csv", "\n".join(["id,code,note,value", *rows]))
    with pytest.warns(IGSDWarning, match="1 of 3 rows"):
        assert read_smiles_table(path).graph_names == ("C", "CC")
    assert LongTable.open([str(path)]).guess_smiles() == "code"
    other = write(tmp_path / "u.csv", "a,b\nInChI=1S/CH4/h1H4,InChI=1S/H2O/h1H2\n")
    with pytest.raises(DataError, match="several columns of InChI, which differ: a, b"):
        read_smiles_table(other)


def test_markers_of_missing_values(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "smiles,class,mu\nC,a,-\nCC,?,2\nCO,b,3\n")
    with pytest.warns(IGSDWarning, match=r"in 'class' is taken as missing: '\?' \(1\)"):
        graphs = read_smiles_table(path)
    assert graphs.class_names == ("a", "b")
    np.testing.assert_array_equal(np.asarray(graphs.classes), [0, -1, 1])
    np.testing.assert_array_equal(np.asarray(graphs.targets), [[np.nan], [2], [3]])


def test_minus_one_beside_other_codes_is_no_class(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "smiles,y\nC,0\nCC,-1\nCO,1\nCN,-1\n")
    with pytest.warns(IGSDWarning, match=r"in 'y' are taken as missing: -1 \(2\)"):
        graphs = read_smiles_table(path)
    assert graphs.class_names == (0, 1)
    assert np.asarray(graphs.classes).tolist() == [0, -1, 1, -1]
    with pytest.warns(IGSDWarning, match="is taken as a class"):
        signs = read_smiles_table(write(tmp_path / "s.csv", "smiles,y\nC,1\nCC,-1\n"))
    assert signs.class_names == (-1, 1)


def test_many_rows_left_out_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    # They were once left out without a word, and vectors did not line up with the table.
    text = "smiles\n" + "CCO\n?\n" * 14
    path = write(tmp_path / "t.csv", text)
    with pytest.warns(IGSDWarning) as warned:
        graphs = read_smiles_table(path)
    repeats, left_out = (str(warning.message) for warning in warned)
    assert repeats.startswith("t.csv: 1 molecule occurs more than once by InChIKey, in 14 rows")
    assert left_out.startswith(
        "14 of 28 rows of t.csv are not molecules and were left out: line 3: '?': "
    )
    assert left_out.endswith("line 11: '?': not valid SMILES; and 9 more.")
    with pytest.warns(IGSDWarning) as warned:  # the second time in one line
        read_smiles_table(path)
    (again,) = (str(warning.message) for warning in warned)
    assert again.startswith("14 of 28 rows of t.csv are not molecules and were left out, as before")
    assert again.endswith(": line 3, line 5, line 7, line 9, line 11 and 9 more.")
    assert len(cached_files([NOTES])) == 1
    assert graphs.lines is not None
    assert graphs.lines.tolist() == list(range(2, 30, 2))


def test_a_target_by_choice_is_no_label(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "smiles,y\nCCO,1\nC,0\n")
    graphs = read_smiles_table(path, target_columns=["y"])
    assert (graphs.classes, graphs.target_names) == (None, ("y",))


def test_two_columns_of_one_name_that_nobody_needs(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "smiles,x,x,mu\nCCO,1,2,3\n")
    assert read_smiles_table(path).target_names == ("mu",)


def test_no_labels_at_all(tmp_path: Path) -> None:
    graphs = read_smiles_table(write(tmp_path / "t.csv", "canonical_smiles\nCCO\n"))
    assert graphs.classes is None
    assert graphs.targets is None


def test_a_fractional_y_is_a_target(tmp_path: Path) -> None:
    graphs = read_smiles_table(write(tmp_path / "t.csv", "smiles,y\nCCO,0.5\nC,1\n"))
    assert graphs.classes is None
    assert graphs.target_names == ("y",)


def test_quoted_cells_and_short_rows(tmp_path: Path) -> None:
    text = 'name,smiles,label\n"a, ""b""\nc",CCO,1\nd,C\n'
    table = read_smiles_table(write(tmp_path / "t.csv", text))
    assert table.classes is not None
    assert table.classes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            "drug,label\nCCO,1\n",
            {},
            "no column called smiles .* columns are: drug, label.*--smiles-column NAME",
        ),
        (
            "CCO,1\nCC,0\n",
            {},
            "no header: 'CCO' .* is a molecule.*smiles,label",
        ),
        (TABLE, {"target_columns": ["mu", "mu"]}, "'mu' of .* is named twice"),
        (TABLE, {"label_column": "class", "target_columns": ["class"]}, "'class' .* named twice"),
        ("smiles,smiles\nCCO,C\n", {}, "2 columns called 'smiles'"),
        (TABLE, {"smiles_column": "smile"}, "no column 'smile'.*columns are: id, SMILES, class"),
        (TABLE, {"label_column": "Class"}, "no column 'Class'. Did you mean 'class'"),
        (TABLE, {"target_columns": ["nu"]}, "no column 'nu'"),
        (TABLE, {"target_columns": ["note"]}, "line 2: the target column 'note' .* found 'a'"),
        (TABLE, {"label_column": "mu"}, "line 2: the label column 'mu' must hold text or integers"),
        ("smiles,y\nCCO,inf\n", {"target_columns": ["y"], "label_column": None}, "finite"),
        ("smiles\nbad\nworse\n", {}, "2 of the 2 strings .*\n  line 2: 'bad'"),
        ("smiles,label\nCCO,1,2\n", {}, "line 2: 2 columns expected, found 3"),
        ("smiles\n", {}, "has 1 line;"),
        ("", {}, "has 0 lines"),
        ('smiles,label\n"CCO,1\n', {}, "cannot be read as a table"),
    ],
)
def test_broken_tables(
    tmp_path: Path, text: str, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=f"(?s){message}"):
        read_smiles_table(write(tmp_path / "t.csv", text), **arguments)  # type: ignore[arg-type]


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_smiles_table(tmp_path / "absent.csv")
    whole = gzip.compress(TABLE.encode())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cannot be read"):
        read_smiles_table(tmp_path / "cut.csv.gz")
    (tmp_path / "latin.csv").write_bytes("smiles,name\nC,é\n".encode("latin-1"))
    with pytest.warns(IGSDWarning, match="latin.csv: not UTF-8, read as L"):
        assert read_smiles_table(tmp_path / "latin.csv").ids == ("é",)
    (tmp_path / "p.csv").write_bytes(b"\x80\x04N.")
    with pytest.raises(StorageError, match="is a pickle"):
        read_smiles_table(tmp_path / "p.csv")


def test_a_column_that_nobody_asked_for_is_no_target_where_a_number_is_infinite(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("smiles,ratio,value\nCCO,inf,1\nCC,2,3\n")
    assert read_smiles_table(path).target_names == ("value",)


def test_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "ALWAYS_READ", 100_000)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"smiles,y\n" + b"C,1\n" * 500_000))
    with pytest.raises(DataError, match=r"bomb.csv.gz is refused: its content has .* GiB or more"):
        read_text_table(path)


def test_many_columns_take_time_in_proportion(tmp_path: Path) -> None:
    """100,000 columns once took time in proportion to their square."""
    names, cells = (",".join(f"{kind}{i}" for i in range(100_000)) for kind in ("x", ""))
    path = write(tmp_path / "wide.csv", f"smiles,{names}\nCC,{cells}\nCCO,{cells}\n")
    start = time.process_time()
    graphs = read_smiles_table(path)
    assert time.process_time() - start < 10
    assert graphs.targets is not None
    assert graphs.targets.shape == (2, 100_000)
    with pytest.raises(DataError, match=r"no column 'y'.* and 99971 more") as error:
        read_text_table(path).column("y")
    assert len(str(error.value)) < 1000


def test_many_columns_and_short_rows(tmp_path: Path) -> None:
    """Empty cells are not stored: 100,000 names and 100,000 rows would be 10 billion."""
    path = write(tmp_path / "t.csv", "smiles" + ",x" * 100_000 + "\n" + "C\n" * 100_000)
    with pytest.raises(DataError, match=r"100001 columns .* 100000 rows have 1.0 cells on average"):
        read_text_table(path)


@pytest.mark.parametrize("start", ["", '"'])
def test_a_line_of_ten_million_letters(tmp_path: Path, start: str) -> None:
    path = write(tmp_path / "t.csv", f"smiles,y\nCC,1\n{start}{'C' * 10**7},2\n")
    with pytest.raises(DataError, match="cannot be read as a table") as error:
        read_smiles_table(path)
    assert len(str(error.value)) < 1000
