from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

from igsd.errors import DataError, StorageError
from igsd.graphs import tu_files
from igsd.graphs.tu_files import find_tu_files
from tests.graphs.tu_writer import write_tu, zip_folder


@pytest.mark.parametrize("inside", ["", "TINY/", "TINY/raw/", "a folder/"])
def test_zip_at_any_depth(tu_folder: Path, tmp_path: Path, inside: str) -> None:
    files = find_tu_files(zip_folder(tu_folder, tmp_path / "some.zip", inside=inside))
    assert files.name == "TINY"
    assert {"A", "graph_indicator", "graph_labels"} <= set(files.parts)
    assert files.read("graph_labels") == b"-1\n1\n"
    assert files.read("absent") is None


def test_folder_around_the_folder_and_hidden_files(tu_folder: Path) -> None:
    (tu_folder / "._TINY_A.txt").write_text("junk of a file manager")
    (tu_folder / "TINY_A.txt~").write_text("backup of an editor")
    (tu_folder.parent / "__MACOSX").mkdir()
    (tu_folder.parent / "__MACOSX" / "TINY_A.txt").write_text("junk")
    assert find_tu_files(tu_folder.parent).name == "TINY"
    assert find_tu_files(tu_folder).read("graph_labels") == b"-1\n1\n"


@pytest.mark.parametrize(
    "member",
    [
        "../TINY_x.txt",
        "/etc/TINY_x.txt",
        "a/../../x",
        "..",
        "C:\\x.txt",
        "..\\x.txt",
        "\\x",
        "a/..",
    ],
)
def test_zip_that_climbs_out_is_refused_as_a_whole(
    tu_folder: Path, tmp_path: Path, member: str
) -> None:
    path = zip_folder(tu_folder, tmp_path / "bad.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, "x")
    with pytest.raises(DataError, match="refused as a whole"):
        find_tu_files(path)


def test_names_with_dots_are_fine(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "fine.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes..txt", "x")
        archive.writestr("a/..b/c", "x")
    assert find_tu_files(path).name == "TINY"


def test_zip_bomb(tu_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zip_folder(tu_folder, tmp_path / "big.zip")
    monkeypatch.setattr(tu_files, "MAX_UNPACKED", 50)
    with pytest.raises(DataError, match=r"declares .* GiB unpacked"):
        find_tu_files(path)


def test_truncated_zip(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "cut.zip")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a zip file, or it was cut short"):
        find_tu_files(path)


def test_damaged_member(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "damaged.zip")
    content = bytearray(path.read_bytes())
    content[45:60] = bytes(15)
    path.write_bytes(content)
    files = find_tu_files(path)
    with pytest.raises(DataError, match=r"TINY_A\.txt cannot be read"):
        files.read("A")


def test_encrypted_member(tu_folder: Path, tmp_path: Path) -> None:
    path = zip_folder(tu_folder, tmp_path / "secret.zip")
    content = path.read_bytes()
    place = content.index(b"PK\x01\x02") + 8
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    with pytest.raises(DataError, match=r"cannot be unpacked: .*encrypted"):
        find_tu_files(path).read("A")


def test_things_that_hold_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        find_tu_files(tmp_path / "absent")
    with pytest.raises(DataError, match=r"ends in _A\.txt was expected, found nothing"):
        find_tu_files(tmp_path)
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(DataError, match="not a zip file"):
        find_tu_files(tmp_path / "text.zip")
    (tmp_path / "pickle.zip").write_bytes(pickle.dumps([1]))
    with pytest.raises(StorageError, match="is a pickle"):
        find_tu_files(tmp_path / "pickle.zip")


def test_two_data_sets_in_one_folder(tu_folder: Path) -> None:
    write_tu(tu_folder.parent / "OTHER", A="1, 2\n", graph_indicator="1\n1\n")
    with pytest.raises(DataError, match="holds 2 data sets"):
        find_tu_files(tu_folder.parent)
