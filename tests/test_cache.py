from __future__ import annotations

from pathlib import Path

import pytest

from igsd.cache import cache_dir


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
    monkeypatch.setattr("igsd.cache.sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path))
    assert cache_dir() == tmp_path / inner / "igsd"
