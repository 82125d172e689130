"""Every format of a table of molecules, as a chemist would save it."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError, IGSDWarning
from igsd.files import bounded
from igsd.graphs.importing import import_tables
from igsd.graphs.open import open_data
from igsd.graphs.readers import cells, text_table
from igsd.graphs.readers.text_table import is_table, read_text_table

pytest.importorskip("rdkit")

BLOCK = """\
{title}
     RDKit          2D

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.2990    0.7500    0.0000 C   0  0
    2.5981   -0.0000    0.0000 {atom}   0  0
  1  2  1  0
  2  3  {order}  0
M  END
"""


def record(title: str, atom: str = "O", order: int = 1, **properties: str) -> str:
    shown = "".join(f">  <{key}>\n{value}\n\n" for key, value in properties.items())
    return BLOCK.format(title=title, atom=atom, order=order) + shown + "$$$$\n"


@pytest.mark.parametrize("name", ["t.sdf", "t.sdf.gz"])
def test_sdf(tmp_path: Path, name: str) -> None:
    text = record("one", active="1", logP="0.5") + record("two", "N", active="0", note="a\nb")
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    graphs = open_data(tmp_path / name)
    assert graphs.graph_names == ("CCO", "CCN")
    assert graphs.ids == ("one", "two")
    assert graphs.lines is not None
    assert graphs.lines.tolist() == [1, 18]
    assert graphs.target_names == ("active", "logP")
    assert read_text_table(tmp_path / name).column("note") == ["", "a b"]


def test_an_sdf_with_broken_records(tmp_path: Path) -> None:
    broken = record("cut").replace("M  END", "") + record("five", "F", 2)
    broken += record("odd").replace("  3  2  0", " 30  2  0")
    (tmp_path / "t.sdf").write_text(record("one") + broken + record("two", "N"))
    with pytest.warns(IGSDWarning, match="3 of 5 rows of t.sdf are not molecules") as warned:
        graphs = open_data(tmp_path / "t.sdf")
    assert graphs.ids == ("one", "two")
    text = str(warned[0].message)
    assert "line 12: 'cut': a broken record: it has no line 'M  END'" in text
    assert "'five': Explicit valence for atom # 2 F" in text
    assert "'odd': a broken record: its atoms or bonds cannot be read" in text
    with pytest.raises(DataError, match="has no records"):
        open_data(written(tmp_path / "empty.sdf", "\n\n"))


def test_a_mol_file_and_properties_that_are_called_smiles(tmp_path: Path) -> None:
    block = record("one").partition("$$$$")[0]
    assert open_data(written(tmp_path / "one.mol", block)).graph_names == ("CCO",)
    text = record("one", smiles="CCC", name="x")
    graphs = open_data(written(tmp_path / "t.sdf", text))
    assert graphs.graph_names == ("CCO",)  # the structure, not the property
    assert read_text_table(tmp_path / "t.sdf").columns == ["structure", "title", "smiles", "name"]


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_smiles_lines(tmp_path: Path) -> None:
    text = "# drugs\nCCO ethyl alcohol\nN->[Fe]\tcomplex\n\nCC |$;R$| ext\n"
    graphs = open_data(written(tmp_path / "t.smi", text))
    assert graphs.graph_names == ("CCO", "N->[Fe]", "CC |$;R$|")
    assert graphs.ids == ("ethyl alcohol", "complex", "ext")
    assert np.asarray(graphs.lines).tolist() == [2, 3, 5]
    plain = open_data(written(tmp_path / "u.smiles", "CCO\nCC\n"))
    assert plain.ids is None
    table = open_data(written(tmp_path / "v.smi", "SMILES\tid\ty\nCCO\ta\t1\nC\tb\t0\n"))
    assert (table.ids, table.class_names) == (("a", "b"), (0, 1))


@pytest.mark.parametrize(
    ("separator", "word"), [(";", "semicolons"), ("|", "bars"), (" ", "spaces"), ("\t", "")]
)
def test_separators_are_found_and_said(tmp_path: Path, separator: str, word: str) -> None:
    text = "smiles,id,y\nCCO,a,1\nCC,b,0\n".replace(",", separator)
    path = written(tmp_path / "t.txt", text)
    assert read_text_table(path).columns == ["smiles", "id", "y"]
    notes = (f"cells are separated by {word}",) if word else ()
    assert read_text_table(path).notes == notes


def test_a_first_line_for_excel(tmp_path: Path) -> None:
    text = "sep=;\nsmiles;id;y\nCCO;a;1\nCC;b;0\n"
    table = read_text_table(written(tmp_path / "t.csv", text))
    assert (table.columns, table.lines) == (["smiles", "id", "y"], [3, 4])
    import_tables([str(tmp_path / "t.csv")], tmp_path / "t.graphs")
    assert open_data(tmp_path / "t.graphs").ids == ("a", "b")


def test_a_name_with_a_space_is_not_a_separator(tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path / "t.csv", "canonical smiles\nCCO\nCC\n"))
    assert table.columns == ["canonical smiles"]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252"])
def test_encodings(tmp_path: Path, codec: str) -> None:
    table = read_text_table(written(tmp_path / "t.csv", "smiles,name\nCCO,Säure\n", codec))
    assert table.column("name") == ["Säure"]
    said = " ".join(table.notes)
    assert ("UTF-16" in said, "Latin-1" in said) == ("16" in codec, codec == "cp1252")


def test_decimal_commas(tmp_path: Path) -> None:
    text = "smiles;logP;dose;text\nCCO;1,5;1,234;a,b\nCC;-2;5,678;c\nC;;;\n"
    path = written(tmp_path / "t.csv", text)
    table = read_text_table(path)
    assert table.column("logP") == ["1.5", "-2", ""]
    assert table.column("dose")[0] == "1,234"
    assert any("decimal commas in 'logP' are read as points" in note for note in table.notes)
    assert any("'dose' may be decimal commas or thousands" in note for note in table.notes)
    with pytest.warns(IGSDWarning):
        assert open_data(path).target_names == ("logP",)


def test_decimal_commas_beside_bounds_and_markers(tmp_path: Path) -> None:
    """Such columns became classes, and ids such as 1,2 numbers."""
    text = "smiles;id;ic50\nCCO;1,2;<2,5\nCC;1,3;null\nC;2,1;1.234,5\nN;2,2;7\n"
    table = read_text_table(written(tmp_path / "t.csv", text))
    assert table.column("ic50") == ["<2.5", "null", "1234.5", "7"]
    assert table.column("id") == ["1,2", "1,3", "2,1", "2,2"]


def test_two_columns_of_a_frame_with_one_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["C", 1, 2]], columns=["smiles", "a", "a"])
    with pytest.raises(DataError, match="Several columns of the DataFrame are called 'a'"):
        open_data(frame)


def test_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    columns = {"mol_id": ["a", "b"], "smiles": ["CCO", "C"], "v": [1.5, None], "n": [3, 4]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    graphs = open_data(tmp_path / "t.parquet")
    assert (graphs.ids, graphs.target_names) == (("a", "b"), ("v", "n"))
    np.testing.assert_array_equal(np.asarray(graphs.targets), [[1.5, 3], [np.nan, 4]])
    assert np.asarray(graphs.lines).tolist() == [1, 2]
    (tmp_path / "u.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(DataError, match="cannot be read as a Parquet file"):
        open_data(tmp_path / "u.parquet")


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "drugs"
    for row in (["smiles", "id", "active", "logP"], ["CCO", "a", 1, 0.5], [], ["C", "b", 0, None]):
        book.active.append(row)
    book.create_sheet("nothing")
    book.save(tmp_path / "t.xlsx")
    graphs = open_data(tmp_path / "t.xlsx")
    assert (graphs.ids, graphs.target_names) == (("a", "b"), ("active", "logP"))
    assert np.asarray(graphs.lines).tolist() == [2, 4]
    book.create_sheet("more").append(["smiles"])
    book["more"].append(["CC"])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"several sheets: 'drugs', 'more'. Name one: .*xlsx:drugs"):
        open_data(tmp_path / "t.xlsx")
    assert open_data(f"{tmp_path}/t.xlsx:more").graph_names == ("CC",)
    assert is_table(f"{tmp_path}/t.xlsx:more")
    with pytest.raises(DataError, match=r"no sheet 'mor'\. Did you mean 'more'"):
        open_data(f"{tmp_path}/t.xlsx:mor")
    (tmp_path / "u.xlsx").write_text("no zip")
    with pytest.raises(DataError, match="cannot be read as a table"):
        open_data(tmp_path / "u.xlsx")


def test_formulas_without_a_value_are_named(tmp_path: Path) -> None:
    """They were read as empty cells, and nothing said so."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "drugs"
    for row in (["smiles", "a", "b"], ["CCO", 1, "=B2*2"], ["CC", 0, "=B3*2"], ["C", None, 3]):
        book.active.append(row)
    path = tmp_path / "t.xlsx"
    book.save(path)
    table = read_text_table(path)
    assert [row[2] for row in table.rows] == ["", "", "3"]
    (note,) = table.notes
    assert note.startswith("2 formulas in the sheet 'drugs' without a computed value (cell C2, C3)")
    assert "Excel or LibreOffice" in note
    with pytest.warns(IGSDWarning, match="2 formulas in the sheet 'drugs'"):
        open_data(path)
    assert "2 formulas" in import_tables([str(path)], tmp_path / "t.graphs").notes[0]


@pytest.mark.parametrize(
    ("stored", "calculation", "expected"),
    [
        (b"<v>7</v>", b"", ["7", ""]),
        (b"<v>7</v>", b'<calcPr fullCalcOnLoad="1"/>', ["7", ""]),
        (b"<v>0</v>", b"", ["0", ""]),
        # XlsxWriter stores 0 for every formula, and that Excel must compute them.
        (b"<v>0</v>", b'<calcPr fullCalcOnLoad="1"/>', ["", "1 formula"]),
        (b"<v></v>", b"", ["", "1 formula"]),
        (b"", b"", ["", "1 formula"]),
    ],
)
def test_values_that_are_stored_with_formulas(
    tmp_path: Path, stored: bytes, calculation: bytes, expected: list[str]
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["smiles", "a"], ["CCO", "=3+4"]):
        book.active.append(row)
    book.save(tmp_path / "written.xlsx")
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(tmp_path / "written.xlsx") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = re.sub(rb"<v ?/>|<v></v>", stored, old.read(name))
            new.writestr(name, re.sub(rb"<calcPr[^>]*/>", calculation, content))
    table = read_text_table(path)
    assert [table.rows[0][1], " ".join(table.notes)[:9]] == expected


def test_excel_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r'pip install "igsd\[excel\]"'):
        open_data(written(tmp_path / "t.xlsx", "x"))
    with pytest.raises(DataError, match=r"Save the sheet as \.xlsx or \.csv"):
        open_data(written(tmp_path / "t.xls", "x"))


def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"smiles": ["CCO", "?", "C"], "v": [1.0, 2.0, None]}, index=[7, 8, 9])
    with pytest.warns(IGSDWarning, match="1 of 3 rows of the DataFrame .*: row 1: "):
        graphs = open_data(frame)
    assert graphs.ids == ("7", "9")
    assert np.asarray(graphs.lines).tolist() == [0, 2]
    assert graphs.target_names == ("v",)
    both = pd.DataFrame({"smiles": ["CCO"], "product_smiles": ["CC"]})
    with pytest.raises(DataError, match="several columns of SMILES, which differ"):
        open_data(both)
    assert open_data(both, smiles_column="product_smiles").graph_names == ("CC",)


def test_molecules_of_rdkit() -> None:
    from rdkit import Chem

    molecules = [Chem.MolFromSmiles("OCC"), Chem.AddHs(Chem.MolFromSmiles("C"))]
    molecules[1].SetProp("_Name", "methane")
    graphs = open_data(molecules)
    assert graphs.graph_names == ("CCO", "C") or graphs.node_counts().tolist() == [3, 1]
    assert graphs.ids == ("", "methane")
    with pytest.raises(DataError, match="found a single RDKit molecule"):
        open_data(molecules[0])


def stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(text_table, "_kept", {})
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


@pytest.mark.parametrize("text", ["CCO one\nCC two\n", "id,smiles\none,CCO\ntwo,CC\n"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin(monkeypatch, text)
    assert open_data("-").ids == ("one", "two")
    assert open_data("-").ids == ("one", "two")  # kept, as it can be read only once


# Every line of a block used to be refused as a bad SMILES.
@pytest.mark.parametrize("end", ["$$$$\n", ""])
def test_an_sdf_file_on_standard_input(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    from rdkit import Chem

    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")).replace("\n", "ethanol\n", 1)
    stdin(monkeypatch, block.replace("\n", "\r\n") + end)
    graphs = open_data("-")
    assert (graphs.graph_names, graphs.ids) == (("CCO",), ("ethanol",))


def test_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "")
    with pytest.raises(DataError, match="Standard input is empty"):
        open_data("-")
    stdin(monkeypatch, "C\n" * 3000)
    monkeypatch.setattr(bounded, "ALWAYS_READ", 1000)
    monkeypatch.setattr(bounded, "MAX_BYTES", 2000)
    with pytest.raises(DataError, match="standard input is refused"):
        open_data("-")


def test_cells_of_any_type() -> None:
    values: list[Any] = [None, float("nan"), 2.0, 2.5, True, " x "]
    assert [cells.cell_text(v) for v in values] == ["", "", "2", "2.5", "True", "x"]


def test_sdf_records_without_a_line_between_them(tmp_path: Path) -> None:
    """The second molecule was lost without a word."""
    text = record("one") + record("two").replace("$$$$\n", "") + record("three")
    (tmp_path / "m.sdf").write_text(text)
    with pytest.warns(IGSDWarning, match="'two': a broken record: it has several structures"):
        graphs = open_data(tmp_path / "m.sdf")
    assert graphs.ids == ("one",)


def test_a_single_zero_does_not_make_a_text_utf16(tmp_path: Path) -> None:
    """It was read as UTF-16, which was then called damaged."""
    text = "id,smiles\n" + "".join(f"m{i},{'C' * (i + 1)}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(text.replace("m3", "m\0003"))
    with pytest.raises(DataError, match=r"t\.csv, line 5: .*0x00"):
        open_data(tmp_path / "t.csv")


def test_a_huge_cell_is_named_by_its_line(tmp_path: Path) -> None:
    text = 'smiles,note\nCCO,"two\nlines"\n\nCC,' + "x" * 200_000 + "\nC,1\n"
    with pytest.raises(DataError, match=r"t\.csv cannot be read as a table: line 5: field larger"):
        open_data(written(tmp_path / "t.csv", text))


@pytest.mark.parametrize("first", ["\n", "  \n\n"])
def test_empty_lines_above_the_names_of_the_columns(tmp_path: Path, first: str) -> None:
    """They ended in an IndexError."""
    graphs = open_data(written(tmp_path / "t.csv", f"{first}smiles,a\nCCO,1\nCC,2\n"))
    assert graphs.graph_names == ("CCO", "CC")


def test_a_value_of_an_sdf_that_looks_like_a_property(tmp_path: Path) -> None:
    """The value became a property called 50, and the property itself was empty."""
    (tmp_path / "t.sdf").write_text(record("one", ic50=">10 <50>") + record("two", ic50="7"))
    table = read_text_table(str(tmp_path / "t.sdf"))
    assert table.columns == ["smiles", "name", "ic50"]
    assert table.column("ic50") == [">10 <50>", "7"]


def test_a_workbook_with_an_empty_chart_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["smiles"])
    book.active.append(["CCO"])
    book.create_chartsheet("chart")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="cannot be read as an Excel file"):
        open_data(tmp_path / "t.xlsx")


def test_a_date_of_a_parquet_file_that_python_does_not_have(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    dates = pa.array([10**8, 1], pa.int32()).cast(pa.date32())
    parquet.write_table(pa.table({"smiles": ["CCO", "CCN"], "d": dates}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="cannot be read as a Parquet file: date value out of"):
        open_data(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="cannot be read as a Parquet file: date value out of"):
        import_tables([str(tmp_path / "t.parquet")], tmp_path / "t.graphs")


def test_numbers_of_numpy_in_a_column_of_objects() -> None:
    """Their text was np.float64(1.5), so the column was no longer one of numbers."""
    pandas = pytest.importorskip("pandas")
    values = np.array([np.float64(1.5), None, np.float64(2.25), 3], dtype=object)
    graphs = open_data(pandas.DataFrame({"smiles": ["CCO", "CCN", "CC", "CO"], "v": values}))
    assert graphs.targets is not None
    assert graphs.targets[:, 0].tolist()[2:] == [2.25, 3.0]
