from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning, StorageError
from igsd.files.locks import owned
from igsd.graphs import importing
from igsd.graphs.graphset import GraphSet
from igsd.graphs.importing import import_tables, is_long, parts_folder
from igsd.graphs.readers.table import read_smiles_table
from igsd.workers.pools import ALONE, Workers
from tests.workers.children import DaskProcesses

pytest.importorskip("rdkit")

SMILES = ["CCO", "c1ccccc1", "CC(=O)[O-]", "not one", "C[C@H](N)C(=O)O", "OCC", "[Na+].[Cl-]", "CI"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PART", 3)


def cells(row: int) -> str:
    return f"{row / 2 if row != 4 else 'NA'},{('a', 'b', '', '?')[row % 4]},t{row}"


CSV = "id,smiles,value,label,text\n" + "".join(
    f"m{row},{smiles},{cells(row)}\n" for row, smiles in enumerate(SMILES)
)
TABLES = {
    "m.csv": CSV.encode(),
    "m.csv.gz": gzip.compress(CSV.encode()),
    "m.tsv": CSV.replace(",", "\t").encode("utf-16"),
    "latin.csv": CSV.replace("t3", "é").encode("latin-1"),
    "semi.csv": CSV.replace(",", ";").replace(".5", ",5").encode(),
    "plain.smi": "\n".join(s for s in SMILES if s != "not one").encode(),
    "named.smi": "\n".join(f"{s}  name {s}" for s in SMILES if s != "not one").encode(),
    "quoted.csv": b'smiles,y\n"CCO","1"\n\n"CCN",2\n"CCC","a\nb"\nCCCC,1\n',
    "minus.csv": b"smiles,y\n" + b"".join(b"%sC,%d\n" % (b"C" * n, n % 4 - 1) for n in range(9)),
}


@pytest.mark.filterwarnings("ignore::igsd.errors.IGSDWarning")
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("level", ["", "neutral"])
def test_the_file_is_that_of_the_whole_table(tmp_path: Path, name: str, level: str) -> None:
    source = tmp_path / name
    source.write_bytes(TABLES[name])
    expected = read_smiles_table(source, standardise=level)
    expected.save(tmp_path / "whole")
    seen: list[int] = []
    made = import_tables(
        [str(source)], tmp_path / "parts", standardise=level, begin=lambda total: seen.append
    )
    found = GraphSet.load(tmp_path / "parts")
    assert (found == expected, made.graphs, found.name) == (True, len(expected), expected.name)
    if name != "latin.csv":  # whose note names the first byte
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sum(seen) == len(expected) + sum("left out" in note for note in expected.notes)
    assert not parts_folder(tmp_path / "parts").exists()


@pytest.mark.filterwarnings("ignore::igsd.errors.IGSDWarning")
def test_parquet_and_named_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    source = tmp_path / "m.parquet"
    columns = {"smiles": SMILES, "n": [1.5, None, 2, 3, 4, 5, 6, 7], "k": [*"abababab"]}
    pa.parquet.write_table(pa.table(columns), source, row_group_size=2)
    kwargs = {"label_column": "k", "target_columns": ["n"]}
    expected = read_smiles_table(source, None, "k", ["n"])
    import_tables([str(source)], tmp_path / "parts", **kwargs)
    found = GraphSet.load(tmp_path / "parts")
    assert found == expected
    np.testing.assert_array_equal(found.targets, expected.targets)


def test_several_files_are_one_set(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("smiles,y\nCCO,1\nbad,0\nCCC,0\n")
    sources = [str(tmp_path / f"{name}.csv") for name in "ab"]
    with pytest.warns(IGSDWarning, match=r"2 of 6 rows are not molecules .* \(b.csv\)"):
        made = import_tables(sources, tmp_path / "all.graphs")
    found = GraphSet.load(tmp_path / "all.graphs")
    assert (made.graphs, found.name, found.class_names) == (4, "all", (0, 1))
    assert found.lines is not None
    assert found.lines.tolist() == [2, 4, 2, 4]
    assert "lines are counted in each of the 2 files" in found.notes
    (tmp_path / "c.csv").write_text("smiles,z\nCCO,1\n")
    with pytest.raises(DataError, match=r"same columns.*c\.csv are smiles, z"):
        import_tables([*sources, str(tmp_path / "c.csv")], tmp_path / "x")


def test_an_interrupted_import_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "m.csv", tmp_path / "out"
    source.write_text("smiles\n" + "".join(f"{'C' * n}O\n" for n in range(1, 12)))
    written: list[str] = []

    def write(path: Path, *others: object) -> None:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path.name)
        real(path, *others)  # type: ignore[arg-type]

    real = importing.write_part
    monkeypatch.setattr(importing, "write_part", write)
    with pytest.raises(KeyboardInterrupt):
        import_tables([str(source)], target)
    assert not target.exists()
    folder = parts_folder(target)

    def full(*others: object) -> None:
        raise StorageError("The disk is full.") from OSError()

    # The error said that nothing was changed, so that its reader might choose another folder.
    monkeypatch.setattr(importing, "write_part", full)
    with pytest.raises(StorageError, match=r"keeps 2 parts of the import: the same command"):
        import_tables([str(source)], target)
    monkeypatch.setattr(importing, "write_part", write)
    assert len(list(folder.iterdir())) == 2
    (folder / "part-000002").write_bytes(b"damaged")
    written.append("again")
    import_tables([str(source)], target)
    assert written[3:] == ["part-000002", "part-000003", "part-000004"]
    assert len(GraphSet.load(target)) == 11


def test_a_changed_table_is_read_again(tmp_path: Path) -> None:
    source, target = tmp_path / "m.csv", tmp_path / "out"
    source.write_text("smiles\nCCO\nCCC\n")
    part = next(importing.LongTable.open([str(source)]).parts(3))
    reading = importing.Reading("smiles", None, (), "", "m")
    importing.write_part(parts_folder(target) / "part-000001", part, reading)
    source.write_text("smiles\nCCO\nCCN\n")
    import_tables([str(source)], target)
    assert GraphSet.load(target).graph_names == ("CCO", "CCN")


@pytest.mark.slow
def test_two_processes_write_the_same_file(tmp_path: Path) -> None:
    source = tmp_path / "m.csv"
    source.write_text("smiles\n" + "".join(f"{'C' * n}O\n" for n in range(1, 30)))
    import_tables([str(source)], tmp_path / "one")
    import_tables([str(source)], tmp_path / "two", workers=Workers(2))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


LONG = "smiles,n\n" + "".join(f"CCO,{n * 7919 % 100_003}\n" for n in range(20_000))
WRONG = {
    "empty.csv": (b"", "no rows"),
    "head.csv": (b"smiles,y\n", "no rows"),
    "wide.csv": (b"smiles\nCCO\nCCO,1\n", "line 3: 1 columns expected, found 2"),
    "bytes.csv": (b"smiles\nCCO\n\x01\n", "line 3: the file is not text"),
    "none.csv": (b"smiles\nbad\nworse\n", "2 of the 2 strings"),
    "two.csv": (b"smiles,smiles_2\nCCO,CCO\nCCO,CCN\n", "several columns of SMILES"),
    "other.csv": (b"a,b\n1,2\n", "no column called smiles"),
    "cut.csv.gz": (gzip.compress(CSV.encode())[:60], "cannot be read as a table"),
    "cut later.csv.gz": (gzip.compress(LONG.encode(), 1)[:-40], "cannot be read as a table"),
    "quote.csv": (
        b'smiles,y\nCCO,1\nCCN,"2\nC,1\n',
        "as a table: line 3 to 4: unexpected end of data",
    ),
    "cell.csv": (
        b"smiles,y\nCCO,1\nCCN,%s\n" % (b"x" * 200_000),
        "as a table: line 3: field larger than field limit",
    ),
    "inf.csv": (b"smiles,n\nCCO,1\nCCN,inf\n", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables(tmp_path: Path, name: str) -> None:
    content, message = WRONG[name]
    (tmp_path / name).write_bytes(content)
    source = [str(tmp_path / name)]
    if not message:
        with pytest.raises(DataError, match="line 3: the target column 'n'"):
            import_tables(source, tmp_path / "x", target_columns=["n"])
        return
    with pytest.raises(DataError, match=message) as found:
        import_tables(source, tmp_path / "x")
    assert not (tmp_path / "x").exists()
    if "cannot be read" in message or "larger" in message:
        with pytest.raises(DataError) as whole:
            read_smiles_table(source[0])
        assert str(found.value) == str(whole.value)
    assert not parts_folder(tmp_path / "x").exists()


def test_many_rows_that_are_not_molecules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_MOST_NOTES", 6)
    (tmp_path / "m.csv").write_text("smiles\n" + "CCO\nbad\n" * 9)
    with pytest.warns(IGSDWarning, match="9 of 18 rows are not molecules .* and 4 more"):
        made = import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    assert made.graphs == 9
    assert made.notes[6] == "and 3 more rows like these"


def test_which_tables_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    one = [str(tmp_path / "m.csv")]
    assert not is_long(one, ALONE)
    assert is_long(one, Workers(2))
    assert is_long(one, Workers(1, "tcp://10.0.0.1:8786"))
    assert is_long(one * 2, ALONE)
    monkeypatch.setattr(importing, "LONG", 5)
    assert is_long(one, ALONE)


def test_what_is_not_a_part_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    folder = parts_folder(tmp_path / "x")
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(StorageError, match=r"holds something else: thesis\.txt\. Move it"):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    assert (folder / "thesis.txt").read_text() == "precious"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to("elsewhere")
    with pytest.raises(StorageError, match="there is a link or a file"):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    (tmp_path / "elsewhere" / "thesis.txt").unlink()
    (tmp_path / "elsewhere").rmdir()
    folder.unlink()
    (folder / "part-000001").mkdir(parents=True)
    with pytest.raises(StorageError, match="something else: part-000001"):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "x")


def test_a_file_that_appears_beside_the_parts_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    note = parts_folder(tmp_path / "x") / "note.txt"

    def write(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        note.write_text("mine")

    real = importing.write_part
    monkeypatch.setattr(importing, "write_part", write)
    import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    assert [path.name for path in note.parent.iterdir()] == ["note.txt"]


def test_tables_among_the_parts_are_refused(tmp_path: Path) -> None:
    folder = parts_folder(tmp_path / "x")
    folder.mkdir()
    (folder / "a.csv").write_text("smiles\nCCO\n")
    (tmp_path / "link.csv").symlink_to(folder / "a.csv")
    for source in (folder / "a.csv", tmp_path / "link.csv"):
        with pytest.raises(StorageError, match=r"csv is in .*x\.parts, the folder for the parts"):
            import_tables([str(source)], tmp_path / "x")
    assert (folder / "a.csv").exists()


def test_one_import_at_a_time_writes_a_file(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    with (
        owned(parts_folder(tmp_path / "x")),
        pytest.raises(StorageError, match=r"x\.parts is in use: process \d+ is writing there"),
    ):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    assert not parts_folder(tmp_path / "x").exists()


def test_parts_of_another_import_are_not_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    real = importing.write_part

    def write(path: Path, table: importing.TextTable, reading: importing.Reading) -> None:
        real(path, replace(table, rows=[["CCN"]]), reading)

    monkeypatch.setattr(importing, "write_part", write)
    with pytest.raises(StorageError, match="part-000001 is a part of another import"):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "x")
    assert not (tmp_path / "x").exists()


CHANGES = {
    "appended": b"smiles,n\nCCO,1\nCCN,2\nCCC,3\nCCCC,4\nCCF,5\n",
    "other header": b"n,smiles\nCCO,1\nCCN,2\nCCC,3\nCCCC,4\n",
    "wider": b"smiles,n\nCCO,1\nCCN,2\nCCC,,\nCCCC,4\n",
    "fewer rows": b"smiles,n\nCCO,1\nCCN,2\nCCCCCCCCC,4\n",
    "not UTF-8": b"smiles,n\nCCO,1\nCCN,2\nCCC,\xff\nCCCC,4\n",
    "not text": b"smiles,n\nCCO,1\nCCN,2\nCCC,\x01\nCCCC,4\n",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("keeps_time", [False, True])
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, change: str, keeps_time: bool
) -> None:
    source = tmp_path / "c1.csv"
    source.write_bytes(b"smiles,n\nCCO,1\nCCN,2\nCCC,3\nCCCC,4\n")
    before = source.stat()

    def begin(total: int) -> object:
        source.write_bytes(CHANGES[change])
        if keeps_time:
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        return lambda count: None

    message = r"c1\.csv changed while it was read"
    if keeps_time and change == "not text":  # of the same size: the change cannot be told
        message = "line 4: the file is not text"
    with pytest.raises(DataError, match=message):
        import_tables([str(source)], tmp_path / "x", begin=begin)  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


def test_a_file_that_changes_between_two_parts(tmp_path: Path) -> None:
    source = tmp_path / "c1.csv"
    source.write_text("smiles\n" + "".join(f"{'C' * n}O\n" for n in range(1, 12)))

    def advance(count: int) -> None:
        source.write_text("smiles\n" + "".join(f"{'C' * n}N\n" for n in range(1, 12)))

    with pytest.raises(DataError, match="changed while it was read"):
        import_tables([str(source)], tmp_path / "x", begin=lambda total: advance)


def test_a_column_with_an_infinite_number_is_no_target(tmp_path: Path) -> None:
    """It was left out of the targets without a word."""
    (tmp_path / "m.csv").write_text("smiles,a,b,c\nCCO,1,inf,x\nCC,2,3,inf\nC,,-inf,y\n")
    note = "column 'b' not used as a target: it holds inf"
    imported = import_tables([str(tmp_path / "m.csv")], tmp_path / "m.graphs")
    with pytest.warns(IGSDWarning, match=note):
        graphs = read_smiles_table(tmp_path / "m.csv")
    assert graphs.target_names == GraphSet.load(tmp_path / "m.graphs").target_names == ("a",)
    assert graphs.notes == imported.notes == (note,)


def test_repeats_in_several_files_name_the_file(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("smiles\nCCO\nCC\n")
    sources = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    with pytest.warns(IGSDWarning, match=r"lines 2 of a\.csv and 2 of b\.csv, 3 of a\.csv"):
        import_tables(sources, tmp_path / "m.graphs")


@pytest.mark.slow
def test_a_cluster_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: DaskProcesses
) -> None:
    monkeypatch.setattr(importing, "PART", 4)
    source = tmp_path / "m.csv"
    source.write_text("smiles,y\n" + "".join(f"{'C' * n}O,{n}\n" for n in range(1, 30)))
    import_tables([str(source)], tmp_path / "here")
    told: list[int] = []

    def kill_one(total: int) -> Any:
        return lambda count: (told.append(count), cluster.workers[0].kill())

    workers = Workers(1, cluster.address)
    import_tables([str(source)], tmp_path / "there", workers=workers, begin=kill_one)
    assert sum(told) == 29
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert not parts_folder(tmp_path / "there").exists()


def test_files_beside_shards_are_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--force replaced the folder of shards as a whole, with whatever else lay in it."""
    monkeypatch.setattr("igsd.graphs.joining.SHARD", 2)
    monkeypatch.setattr(importing, "PART", 2)
    source, target = tmp_path / "table.csv", tmp_path / "set"
    source.write_text("smiles\nCCO\nCCN\nCCC\nCCS\n")
    import_tables([str(source)], target)
    (target / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match=r"also holds notes\.txt"):
        import_tables([str(source)], target)
    assert (target / "notes.txt").read_text() == "mine"
    (target / "notes.txt").unlink()
    assert import_tables([str(source)], target).graphs == 4


def test_equal_numbers_do_not_disagree(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("smiles,logp\nCCO,3.70\nCCO,3.7\nCCN,1\nCCN,1.0\nCCC,2\nCCC,3\n")
    with pytest.warns(IGSDWarning, match=r"disagree in 'logp' \(1\)"):
        import_tables([str(source)], tmp_path / "set")


def test_a_column_is_read_alike_in_parts_and_as_a_whole(tmp_path: Path) -> None:
    """Commas that are not decimal were read as such in tables of more than a megabyte."""
    source = tmp_path / "t.csv"
    rows = [
        f'{"C" * (n % 7 + 1)}O,{("1", """ "0,1" """.strip(), """ "0,1,2" """.strip())[n % 3]}'
        for n in range(30)
    ]
    source.write_text("\n".join(["smiles,label", *rows]))
    read_smiles_table(str(source)).save(tmp_path / "whole.graphs")
    import_tables([str(source)], tmp_path / "parts.graphs")
    whole, parts = (
        GraphSet.load(tmp_path / "whole.graphs"),
        GraphSet.load(tmp_path / "parts.graphs"),
    )
    assert parts.class_names == whole.class_names
    assert len(whole.class_names) == 3
    assert np.array_equal(parts.classes, whole.classes)


def test_classes_of_more_than_64_bits(tmp_path: Path) -> None:
    """The parts of the import could not be read again."""
    source = tmp_path / "t.csv"
    source.write_text(
        "smiles,label\n" + "".join(f"{'C' * n}O,{10**20 + n % 2}\n" for n in range(1, 9))
    )
    import_tables([str(source)], tmp_path / "t.graphs")
    assert GraphSet.load(tmp_path / "t.graphs").class_names == (str(10**20), str(10**20 + 1))
