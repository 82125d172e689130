"""The cache: where it is, what it keeps, and that nothing depends on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from igsd.errors import ConfigError, StorageError
from igsd.files.atomic import write_text
from igsd.files.cache import (
    KINDS,
    cache_dir,
    cache_limit,
    cached_files,
    make_room,
    mark_used,
    recall,
    remove,
    store,
)


def test_the_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "here"))
    assert cache_dir() == tmp_path / "here"
    assert not cache_dir().exists()


@pytest.mark.parametrize(
    ("platform", "variable", "inner"),
    [
        ("linux", "XDG_CACHE_HOME", ""),
        ("linux", None, ".cache"),
        ("darwin", None, "Library/Caches"),
        ("win32", "LOCALAPPDATA", ""),
        ("win32", None, "AppData/Local"),
    ],
)
def test_each_system_has_its_folder(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    variable: str | None,
    inner: str,
) -> None:
    for name in ("IGSD_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("igsd.files.cache.sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path))
    assert cache_dir() == tmp_path / inner / "igsd"


def test_without_a_home_nothing_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("IGSD_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    with pytest.warns(UserWarning, match="could not be cached.*Set IGSD_CACHE"):
        store(cache_dir() / "views" / "x", "It", lambda path: write_text(path, "x"))


@pytest.mark.parametrize("text", ["much", "-1", "10 GX", "1e400", "nan", "10 I", "GB", "1 2"])
def test_a_limit_is_a_size(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_CACHE_LIMIT", text)
    with pytest.raises(ConfigError, match=r"IGSD_CACHE_LIMIT must be a number of bytes.*Got"):
        cache_limit()
    with pytest.raises(ConfigError, match="IGSD_CACHE_LIMIT"):
        recall(Path("x"), "It", Path.read_text)


def test_the_limit_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IGSD_CACHE_LIMIT", raising=False)
    assert cache_limit() == 10**10
    monkeypatch.setenv("IGSD_CACHE_LIMIT", "2.5 gib")
    assert cache_limit() == 2.5 * 2**30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path))
    monkeypatch.delenv("IGSD_CACHE_LIMIT", raising=False)
    return tmp_path


def put(path: Path, used: float, size: int = 100) -> Path:
    """Write a file that was last used ``used`` days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = path.stat().st_mtime - 86_400 * used
    os.utime(path, (then, then))
    return path


def view(folder: Path, letter: str) -> Path:
    return folder / "views" / f"{letter * 40}.safetensors"


def test_what_was_not_used_longest_goes_first(folder: Path) -> None:
    a, b, c = (put(view(folder, letter), used) for letter, used in (("a", 3), ("b", 2), ("c", 1)))
    mark_used(a)
    make_room(250)
    assert [path.exists() for path in (a, b, c)] == [True, False, True]
    make_room(0)
    assert cached_files() == []


def test_reading_is_using_and_writing_makes_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = put(view(folder, "a"), 3), put(view(folder, "b"), 2)
    before = a.stat().st_mtime_ns
    assert recall(a, "It", lambda path: path.read_text()) == "x" * 100
    assert a.stat().st_mtime_ns == before
    monkeypatch.setenv("IGSD_CACHE_LIMIT", "250")
    new = view(folder, "c")
    store(new, "It", lambda path: write_text(path, "y" * 100))
    assert [path.exists() for path in (a, b, new)] == [True, False, True]
    assert recall(b, "It", lambda path: path.read_text()) is None


def test_downloads_are_removed_last(folder: Path) -> None:
    download = put(folder / "datasets" / "ENZYMES-download.graphs", 9)
    parsed = put(folder / "datasets" / f"MUTAG-r4-{'0' * 20}.graphs", 1)
    make_room(100)
    assert download.exists()
    assert not parsed.exists()


def test_a_corpus_stays_for_a_day(folder: Path) -> None:
    part = put(folder / "corpus" / "ab" / f"{'ab' * 20}.safetensors", 0)
    old = put(folder / "corpus" / f"joined-{'c' * 40}" / "corpus.json", 2).parent
    put(old / "col.npy", 2)
    left = put(folder / "corpus" / "join-x1_y" / "joined" / "col.npy", 2).parents[1]
    make_room(1)
    assert part.exists()
    assert not old.exists()
    assert not left.exists()


def test_encoders_are_counted_and_stay_for_a_day(folder: Path) -> None:
    """They were neither listed nor ever removed."""
    new, old = (
        put(folder / "encoders" / f"{c * 40}.safetensors", d) for c, d in (("a", 0), ("b", 2))
    )
    assert {file.kind for file in cached_files()} == {"encoders"}
    make_room(1)
    assert (new.exists(), old.exists()) == (True, False)


def test_only_what_igsd_named_is_counted_and_removed(folder: Path) -> None:
    mine = [
        put(folder / "notes.txt", 9),
        put(folder / "views" / "notes.safetensors", 9),
        put(folder / "views" / "deep" / f"{'a' * 40}.safetensors", 9),
        put(folder / "datasets" / "notes.txt", 9),
        put(folder / "datasets" / "mine.graphs", 9),
        put(folder / "corpus" / "zz" / "notes.safetensors", 9),
        put(folder / "corpus" / f"joined-{'c' * 40}" / "notes.txt", 9),
        put(folder / "benchmarks" / "a.safetensors", 9),
    ]
    put(view(folder, "a"), 9)
    put(folder / "corpus" / f"joined-{'c' * 40}" / "corpus.json", 9)
    assert {file.kind for file in cached_files()} == {"views", "corpus"}
    make_room(0)
    assert all(path.exists() for path in mine)
    assert not view(folder, "a").exists()


def test_temporary_files_of_killed_processes_go(folder: Path) -> None:
    left = put(folder / "views" / f".{'a' * 40}.safetensors.abcdefgh~", 0)
    store(view(folder, "b"), "It", lambda path: write_text(path, "y"))
    assert not left.exists()


def test_a_file_that_vanishes_is_made_again_without_a_word(
    folder: Path, recwarn: pytest.WarningsRecorder
) -> None:
    path = put(view(folder, "a"), 1)

    def vanishes(path: Path) -> str:
        path.unlink()
        return path.read_text()

    assert recall(path, "It", vanishes) is None
    for file in cached_files():
        remove(file)
        remove(file)
    assert list(recwarn) == []


def test_a_file_that_cannot_be_used_causes_a_warning(folder: Path) -> None:
    def refuses(path: Path) -> str:
        raise StorageError("It is damaged.")

    with pytest.warns(UserWarning, match="My view cannot be used and is made again. It is dam"):
        assert recall(put(view(folder, "a"), 1), "My view", refuses) is None


def test_an_unknown_kind_is_named(folder: Path) -> None:
    assert cached_files(KINDS) == []
    with pytest.raises(ConfigError, match=r"no kind of files 'view'.*'views'"):
        cached_files(["view"])
