from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, StorageError
from igsd.graphs.readers.qm9 import GEOMETRY, PARTS, is_qm9, qm9_digest, read_qm9_columns
from tests.graphs.qm9_writer import ETHYNE, MOLECULES, WATER, write_package, write_table


def test_the_package_by_hand(tmp_path: Path) -> None:
    columns = read_qm9_columns(write_package(tmp_path))
    assert columns.gdb_index.tolist() == [3, 4, 6]
    assert columns.smiles == ["O", "C#C", "C=O"]
    assert columns.counts.tolist() == [3, 4, 4]
    assert columns.z.tolist() == [8, 1, 1, 6, 6, 1, 1, 6, 8, 1, 1]
    np.testing.assert_array_equal(columns.positions[:3], np.array(WATER.positions, np.float32))
    assert columns.properties[1].tolist() == [float(text) for text in ETHYNE.numbers()]


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    package = read_qm9_columns(write_package(tmp_path / "data"))
    table = read_qm9_columns(write_table(tmp_path))
    assert package.smiles == table.smiles
    for name in ("gdb_index", "counts", "z", "positions", "properties"):
        np.testing.assert_array_equal(getattr(package, name), getattr(table, name))


def test_sources_are_told_apart(tmp_path: Path) -> None:
    package, table = write_package(tmp_path / "data"), write_table(tmp_path)
    assert is_qm9(package)
    assert is_qm9(table)
    assert not is_qm9(tmp_path)
    before = qm9_digest(package)
    assert before == qm9_digest(package) != qm9_digest(table)
    with open(package / PARTS[2], "a") as file:
        file.write("\n")
    assert qm9_digest(package) != before


@pytest.mark.parametrize("name", [PARTS[1], GEOMETRY])
def test_missing_file(tmp_path: Path, name: str) -> None:
    source = write_package(tmp_path) if name == PARTS[1] else write_table(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=rf"QM9 needs {name} in .* is missing.*igsd\[qm9\]"):
        read_qm9_columns(source)


def test_damaged_files(tmp_path: Path) -> None:
    package = write_package(tmp_path)
    part = package / PARTS[0]
    good = part.read_text()
    part.write_text(good.replace("'O','H','H'", "'O','H'"))
    with pytest.raises(DataError, match=r"qm9_part1.csv is damaged: its atoms"):
        read_qm9_columns(package)
    part.write_text(good.replace("'O','H','H'", "'X','H','H'"))
    with pytest.raises(DataError, match=r"qm9_part1.csv is damaged"):
        read_qm9_columns(package)
    part.write_text(good.replace("SMILES", "SMILE"))
    with pytest.raises(DataError, match=r"qm9_part1.csv is not the table of QM9"):
        read_qm9_columns(package)
    part.write_text(good.replace(",3.75,", ",nan,"))
    with pytest.raises(DataError, match=r"qm9_part1.csv lacks a property of molecule 0"):
        read_qm9_columns(package)
    part.write_text(good.replace(",3.75,", ",many,"))
    with pytest.raises(DataError, match=r"qm9_part1.csv has a property that is not a number"):
        read_qm9_columns(package)


def test_damaged_geometry(tmp_path: Path) -> None:
    table = write_table(tmp_path)
    geometry = tmp_path / GEOMETRY
    arrays = dict(np.load(geometry, allow_pickle=False))
    np.savez(geometry, **arrays | {"pos": arrays["pos"][:-1]})
    with pytest.raises(DataError, match="different lengths"):
        read_qm9_columns(table)
    np.savez(geometry, **arrays | {"gdb_index": arrays["gdb_index"][::-1]})
    with pytest.raises(DataError, match=r"does not belong to QM9\.csv\.gz"):
        read_qm9_columns(table)
    geometry.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(DataError, match="is not the geometry of QM9"):
        read_qm9_columns(table)
    geometry.write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(StorageError, match="pickle"):
        read_qm9_columns(table)


def test_order_of_molecules_is_kept(tmp_path: Path) -> None:
    columns = read_qm9_columns(write_package(tmp_path, MOLECULES[::-1]))
    assert columns.gdb_index.tolist() == [6, 4, 3]
