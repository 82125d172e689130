"""Modules and packages of a user's own, written to a folder that Python finds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from igsd.baselines import own as methods
from igsd.settings import own

Write = Callable[..., Path]


def forget() -> None:
    """Forget what was found under names, as a new process would."""
    methods.adapted.cache_clear()
    own.offered.cache_clear()


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return a function that writes a module into the working folder, ``tmp_path``.

    ``offers``: entry points by group, each a text ``NAME = PLACE``, as an installed package's.
    """
    before, modules = list(sys.path), set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IGSD_OWN_PARTS", "")  # what --set allows is forgotten afterwards

    def write(name: str, text: str, offers: dict[str, str] | None = None) -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        sys.modules.pop(name, None)
        if offers:
            info = tmp_path / f"{name}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            groups = [f"[igsd.{kind}]\n{entry}\n" for kind, entry in offers.items()]
            (info / "entry_points.txt").write_text("\n".join(groups))
            sys.path.append(str(tmp_path))
        forget()
        return path

    yield write
    sys.path[:] = before
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]
    forget()
