from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IGSD_CACHE_LIMIT", "1 MB")
    views, sets = f"views/{'a' * 40}.safetensors", ("TINY-download.graphs", "mine.graphs")
    for name in (views, *(f"datasets/{file}" for file in sets)):
        path = tmp_path / "cache" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1500)
    return tmp_path / "cache"


def test_show(igsd: Run, folder: Path) -> None:
    code, out, _ = igsd("cache", "show")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert out.splitlines()[0] == f"folder  {folder}"
    assert lines[1] == ["limit", "1", "MB"]
    assert [line[:4] for line in lines[4:10]] == [
        ["datasets", "1", "1.5", "KB"],
        ["views", "1", "1.5", "KB"],
        ["vectors", "0", "0", "B"],
        ["corpus", "0", "0", "B"],
        ["encoders", "0", "0", "B"],
        ["notes", "0", "0", "B"],
    ]
    assert lines[10] == ["all", "2", "3", "KB"]


def test_clear_by_kind_then_all(igsd: Run, folder: Path) -> None:
    assert igsd("cache", "clear", "views")[:2] == (0, "removed 1 file of views, 1.5 KB\n")
    assert igsd("cache", "clear")[:2] == (0, "removed 1 file of datasets, 1.5 KB\n")
    assert igsd("cache", "clear")[:2] == (0, f"nothing to remove in {folder}\n")
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["mine.graphs"]


def test_what_is_wrong_is_named(igsd: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = igsd("cache", "clear", "view")
    assert (code, "no kind of files 'view'. Did you mean 'views'?" in err) == (2, True)
    monkeypatch.setenv("IGSD_CACHE_LIMIT", "much")
    code, _, err = igsd("cache", "show")
    assert (code, "IGSD_CACHE_LIMIT must be a number of bytes" in err) == (2, True)
